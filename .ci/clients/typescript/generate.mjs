// `node generate.mjs DOCUMENT FILE`: the types of an OpenAPI document.
import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { NULL, UNKNOWN, STRING, astToString } from "openapi-typescript";
import ts from "typescript";

const [document, file] = process.argv.slice(2);
const BLOB = ts.factory.createTypeReferenceNode("Blob");
const ANY_OBJECT = ts.factory.createTypeReferenceNode("Record", [STRING, UNKNOWN]);

/** What openapi-typescript has otherwise: files, and objects whose fields are free, for which it permits none. */
function transform(schema) {
  const free = schema.type === "object" && !["properties", "additionalProperties", "enum"].some((told) => told in schema);
  const type = schema.format === "binary" ? BLOB : free ? ANY_OBJECT : undefined;
  return type && schema.nullable ? ts.factory.createUnionTypeNode([type, NULL]) : type;
}

const types = await openapiTS(JSON.parse(await readFile(document, "utf8")), {
  transform,
});
await writeFile(file, astToString(types));
