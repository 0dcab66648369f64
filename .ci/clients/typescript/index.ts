/** A typed client of Cushion's API: openapi-fetch over the types of its OpenAPI document. */
import createClient, { type Client, type ClientOptions } from "openapi-fetch";
import type { components, paths } from "./schema.js";

export type { components, operations, paths } from "./schema.js";
/** The records of the API by name, such as `Schemas["Workbook"]`. */
export type Schemas = components["schemas"];
export type CushionClient = Client<paths>;

export interface CushionOptions extends ClientOptions {
  /** Where the service is, such as https://cushion.example.com */
  baseUrl: string;
  /** A user's access token, or a function that is asked before each request. */
  token?: string | (() => string | Promise<string>);
  /** An API key in place of a token. */
  apiKey?: string;
}

/** A client with a method for each HTTP method: `await client.GET("/api/v1/workbooks")` is `{ data, error, response }`. */
export function createCushionClient({ token, apiKey, ...options }: CushionOptions): CushionClient {
  const client = createClient<paths>({
    // As the document has it: a list in the query is one value with commas.
    querySerializer: { array: { style: "form", explode: false } },
    bodySerializer: serialised,
    ...options,
  });
  client.use({
    async onRequest({ request }) {
      if (token !== undefined) {
        request.headers.set("Authorization", `Bearer ${typeof token === "string" ? token : await token()}`);
      }
      if (apiKey !== undefined) {
        request.headers.set("X-API-Key", apiKey);
      }
      return request;
    },
  });
  return client;
}

/** A body with a file as a multipart form, one whose headers say so as a plain form, any other as JSON. */
function serialised(body: unknown, headers?: Headers): BodyInit {
  if (body instanceof FormData || body instanceof URLSearchParams) {
    return body;
  }
  const fields = Object.entries(body ?? {}).flatMap(([name, value]) => [value].flat().map((one) => [name, one] as const));
  const given = fields.filter(([, value]) => value !== undefined && value !== null);
  if (given.some(([, value]) => value instanceof Blob)) {
    const form = new FormData();
    given.forEach(([name, value]) => (value instanceof Blob ? form.append(name, value) : form.append(name, String(value))));
    return form;
  }
  if (headers?.get("Content-Type") === "application/x-www-form-urlencoded") {
    return new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  }
  return JSON.stringify(body);
}
