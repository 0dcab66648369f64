// The audit log: entries by filter, as a file, and whether its chain of hashes is whole.
import { html, useState } from "../../parts/html.js";
import { download } from "../../api.js";
import { me, route, setQuery } from "../../state.js";
import { AdminScreen, forAdmins } from "../../parts/admin/tabs.js";
import { checkChain } from "../../parts/admin/chain.js";
import { Paging, pageHere } from "../../parts/admin/paging.js";
import { useData, useTask } from "../../parts/data.js";
import { Field, Form } from "../../parts/form.js";
import { counted, moment, number } from "../../parts/format.js";
import { Empty, Loaded, Problem } from "../../parts/problem.js";
import { Table } from "../../parts/table.js";

const PAGE = 50;
const FILTERS = [
  { name: "action", label: "Action", placeholder: "workbook.uploaded", maxlength: 100 }, { name: "resource_type", label: "Kind of record", placeholder: "workbook", maxlength: 100 },
  { name: "start_date", label: "From", type: "date" }, { name: "end_date", label: "To", type: "date" },
];

function Audit() {
  if (me.value.tenant.tier !== "enterprise") {
    return html`<${AdminScreen} title="Audit log"><${Empty} title="Enterprise tier required">
      <p>The audit log is kept for every organisation, with a chain of hashes that shows whether an entry was changed or left out. Reading and exporting it is part of the enterprise tier; ${me.value.tenant.name} is on ${me.value.tenant.tier}. Ask whoever runs this service.</p>
      <p><a href="#/admin/activity">Activity shows what happened</a></p><//><//>`;
  }
  return html`<${AdminScreen} title="Audit log"><${Chain} /><${Entries} /><//>`;
}

function chosen() {
  return Object.fromEntries(["user_id", ...FILTERS.map(({ name }) => name)].map((name) => [name, route.value.query.get(name)]));
}

function Entries() {
  const filter = chosen();
  const list = useData("admin/audit-logs", { ...filter, page: pageHere(), page_size: PAGE });
  const save = useTask((format) => download("admin/audit-logs/export", { query: { ...filter, format } }));
  const people = useData("admin/users", { page_size: 100 });
  const user = filter.user_id && (people.data?.items.find(({ id }) => id === filter.user_id)?.email ?? filter.user_id);
  const find = (fields) => setQuery({ ...fields, page: null }, { replace: false });
  return html`<div class="filters"><${Form} key=${JSON.stringify(filter)} task=${{ busy: false, error: list.error }} action="Filter" onSubmit=${find}>
      ${FILTERS.map(({ name, ...rest }) => html`<${Field} key=${name} name=${name} value=${filter[name] ?? ""} error=${list.error} ...${rest} />`)}
      ${user && html`<button type="button" class="pill" aria-pressed="true" onClick=${() => setQuery({ user_id: null, page: null })}>By ${user} ✕</button>`}<//>
      ${[["csv", "Save as CSV"], ["jsonl", "Save as JSON lines"]].map(([format, text]) => html`<button key=${format} disabled=${save.busy} onClick=${() => save.run(format)}>${text}</button>`)}</div>
    <${Problem} error=${save.error} />
    <${Loaded} from=${list}>${({ items, total }) => (total === 0
      ? html`<${Empty} title="No entry fits"><p>Take a part of the filter away.</p><//>`
      : html`<p class="muted">${counted(total, "entry", "entries")}</p><${Table} caption="Audit log" rows=${items} columns=${COLUMNS} /><${Paging} total=${total} size=${PAGE} />`)}<//>`;
}

const COLUMNS = [
  { key: "sequence", label: "No.", number: true, className: "narrow-off", show: (entry) => number(entry.sequence) },
  { key: "timestamp", label: "When", className: "moment", show: (entry) => moment(entry.timestamp) },
  { key: "user_email", label: "Who", className: "wraps", show: (entry) => (entry.user_id
    ? html`<button class="plain" onClick=${() => setQuery({ user_id: entry.user_id, page: null }, { replace: false })}>${entry.user_email}</button>${entry.api_key_id && " by key"}` : "Cushion") },
  { key: "action", label: "Action" },
  { key: "resource_name", label: "Record", className: "wraps", value: (entry) => entry.resource_name ?? entry.resource_id ?? "" },
  { key: "ip_address", label: "Address", className: "narrow-off" },
  { key: "details", label: "Details", sortable: false, className: "wraps", value: (entry) => JSON.stringify(entry.details), show: (entry) => html`<details><summary>Show</summary><pre>${JSON.stringify({ ...entry.details, request_id: entry.request_id, user_agent: entry.user_agent, hash: entry.hash }, null, 1)}</pre></details>` },
];

/** The verdict on the whole chain, worked out here from the exported entries: no word of the service is taken for it. */
function Chain() {
  const [verdict, setVerdict] = useState(null);
  const task = useTask(async () => setVerdict(await checkChain()));
  return html`<div class=${`banner ${verdict ? (verdict.fault ? "fail" : "pass") : ""}`} role="status">
    <strong>${verdict ? (verdict.fault ? "The chain is broken" : "The chain is whole") : "Chain of hashes"}</strong>
    <span>${verdictText(verdict)}</span>
    <button disabled=${task.busy} onClick=${task.run}>${task.busy ? "Checking" : verdict ? "Check again" : "Check the chain"}</button>
    <${Problem} error=${task.error} /></div>`;
}

function verdictText(verdict) {
  if (!verdict) return "Each entry carries the hash of the one before it. Your browser works all of them out again.";
  if (verdict.fault) return `Entry ${number(verdict.fault.sequence)}: ${verdict.fault.reason}`;
  const erased = verdict.redacted ? ` ${counted(verdict.redacted, "entry", "entries")} without a person who was erased.` : "";
  return html`${counted(verdict.count, "entry", "entries")}, none changed or left out.${erased} Last hash <code>${verdict.hash.slice(0, 16)}…</code>`;
}

export default forAdmins(Audit);
