// The audit log: entries by filter, as a file, and whether its chain of hashes is whole.
import { html, useState } from "../html.js";
import { download, lines, Refusal } from "../../api.js";
import { me, route, setQuery } from "../../state.js";
import { useTask } from "../data.js";
import { Field, Form } from "../form.js";
import { counted, moment, number } from "../format.js";
import { Empty, Problem } from "../problem.js";
import { List } from "./list.js";

const FILTERS = {
  action: { label: "Action", placeholder: "workbook.uploaded" }, resource_type: { label: "Kind of record", placeholder: "workbook" },
  start_date: { label: "From", type: "date" }, end_date: { label: "To", type: "date" },
};
const START = "0".repeat(64); // the hash before the first entry
const HASHED = ["tenant_id", "sequence", "id", "timestamp", "user_id", "user_email", "api_key_id", "action", "resource_type", "resource_id", "resource_name", "ip_address", "user_agent", "request_id", "details"];

export function Audit() {
  const { tier, name } = me.value.tenant;
  return tier === "enterprise" ? html`<${Chain} /><${Entries} />` : html`<${Empty} title="Enterprise tier required">
    <p>The audit log is kept for every organisation. Reading, exporting and checking it is part of the enterprise tier; ${name} is on ${tier}. Ask whoever runs this service.</p>
    <p><a href="#/admin/activity">Activity shows what happened</a></p><//>`;
}

function Entries() {
  const filter = Object.fromEntries(["user_id", ...Object.keys(FILTERS)].map((name) => [name, route.value.query.get(name)]));
  const save = useTask((format) => download("admin/audit-logs/export", { query: { ...filter, format } }));
  const find = (fields) => setQuery({ ...fields, page: null }, { replace: false });
  const columns = [
    { key: "sequence", label: "No.", number: true, className: "narrow-off", show: (entry) => number(entry.sequence) },
    { key: "timestamp", label: "When", className: "moment", show: (entry) => moment(entry.timestamp) },
    { key: "user_email", label: "Who", className: "wraps", show: ({ user_id: id, user_email: email, api_key_id: key }) => (id ? html`<button class="plain" onClick=${() => find({ user_id: id })}>${email}</button>${key && " by key"}` : "Cushion") },
    { key: "action", label: "Action" },
    { key: "resource_name", label: "Record", className: "wraps", value: (entry) => entry.resource_name ?? entry.resource_id ?? "" },
    { key: "ip_address", label: "Address", className: "narrow-off" },
    { key: "details", label: "Details", className: "wraps", value: ({ details, request_id, user_agent, hash }) => JSON.stringify({ ...details, request_id, user_agent, hash }, null, 1), show: (entry) => html`<details><summary>Show</summary><pre>${columns.at(-1).value(entry)}</pre></details>` },
  ];
  return html`<div class="filters"><${Form} key=${JSON.stringify(filter)} task=${{}} action="Filter" onSubmit=${find}>
      ${Object.entries(FILTERS).map(([name, field]) => html`<${Field} key=${name} name=${name} value=${filter[name]} maxlength="100" ...${field} />`)}
      ${filter.user_id && html`<button type="button" class="pill" aria-pressed="true" onClick=${() => find({ user_id: null })}>One person's ✕</button>`}<//>
      ${[["csv", "Save as CSV"], ["jsonl", "Save as JSON lines"]].map(([format, text]) => html`<button key=${format} disabled=${save.busy} onClick=${() => save.run(format)}>${text}</button>`)}</div>
    <${Problem} error=${save.error} />
    <${List} caption="Audit log" path="admin/audit-logs" query=${filter} columns=${columns} empty=${html`<${Empty} title="No entry fits"><p>Take a part of the filter away.</p><//>`} />`;
}

/** The verdict on the whole chain, worked out here from the exported entries. */
function Chain() {
  const [verdict, setVerdict] = useState(null);
  const task = useTask(async () => setVerdict(await checkChain()));
  const [kind, title, text] = !verdict ? ["", "Chain of hashes", "Each entry carries the hash of the one before it. Your browser works all of them out again."]
    : verdict.fault ? ["fail", "The chain is broken", verdict.fault] : ["pass", "The chain is whole", `${counted(verdict.count, "entry", "entries")}, none changed or left out. Last hash ${verdict.hash.slice(0, 16)}…`];
  return html`<div class=${`banner ${kind}`} role="status"><strong>${title}</strong><span>${text}</span>
    <button disabled=${task.busy} onClick=${task.run}>${task.busy ? "Checking" : "Check the chain"}</button><${Problem} error=${task.error} /></div>`;
}

/** The rules of `cushion audit`: {count, hash} of a whole chain, {fault} of a broken one. */
async function checkChain() {
  if (!crypto.subtle) throw new Refusal(0, { detail: "A browser checks hashes over https only. Save the log as JSON lines and run `cushion audit FILE`." });
  const changed = new Map(); // entries that do not give their hash, with the one that they give: an erasure names it later
  let last = { sequence: 0, hash: START };
  for await (const line of lines("admin/audit-logs/export", { format: "jsonl" })) {
    const entry = record(line);
    if (entry.sequence !== last.sequence + 1 || entry.previous_hash !== last.hash || entry.tenant_id !== (last.tenant_id ?? entry.tenant_id)) {
      return { fault: `Entry ${number(entry.sequence)} does not follow the one before it` };
    }
    const hash = await hashOf(entry);
    if (hash !== entry.hash) changed.set(entry.sequence, hash);
    else if (entry.action === "user.redacted") {
      for (const [sequence, other] of JSON.parse(entry.details).entries) if (changed.get(sequence) === other) changed.delete(sequence);
    }
    last = entry;
  }
  const [first] = changed.keys();
  return first ? { fault: `Entry ${number(first)} is not the one that was hashed` } : { count: last.sequence, hash: last.hash };
}

/** An entry with its details as the text that is hashed; quotation marks inside of texts are escaped, so both marks are unique. */
function record(line) {
  const begin = line.indexOf(',"details":') + 11;
  return { ...JSON.parse(line), details: line.slice(begin, line.lastIndexOf(',"previous_hash":')) };
}

async function hashOf(entry) {
  const encode = (text) => new TextEncoder().encode(text);
  const fields = HASHED.map((name) => (entry[name] === null ? null : encode(String(entry[name]))));
  const pieces = [Uint8Array.from(entry.previous_hash.match(/../g), (pair) => parseInt(pair, 16)), ...fields.flatMap((field) => (field ? [`${field.length}:`, field] : ["-"]))];
  const digest = await crypto.subtle.digest("SHA-256", await new Blob(pieces).arrayBuffer());
  return Array.from(new Uint8Array(digest), (octet) => octet.toString(16).padStart(2, "0")).join("");
}
