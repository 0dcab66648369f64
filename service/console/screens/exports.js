// Exports and reports: make one, watch it, save it; verify a file that came back.
import { html, useState } from "../parts/html.js";
import { download, post, remove, settled } from "../api.js";
import { can, href, label, notify, route, setQuery } from "../state.js";
import { forgetData, useData, useTask } from "../parts/data.js";
import { confirmed, Dialog } from "../parts/dialog.js";
import { addFiles } from "../parts/drop.js";
import { Form, Select } from "../parts/form.js";
import { bytes, moment, words } from "../parts/format.js";
import { Empty, Loaded, Problem } from "../parts/problem.js";
import { Table } from "../parts/table.js";
import { Verdict } from "../parts/verdict.js";

const LIMIT = 20;
const FORMATS = ["xlsx", "csv", "json", "pdf"].map((value) => ({ value, label: value.toUpperCase() }));
const DOCUMENTS = ["pdf", "xlsx"].map((value) => ({ value, label: value.toUpperCase() }));
const TABS = { exports: Exports, reports: Reports, verify: Verify };
const ENDED = ["completed", "failed", "cancelled"];

export default function ExportsAndReports() {
  const tab = TABS[route.value.query.get("tab")] ? route.value.query.get("tab") : "exports";
  return html`<h1>Exports and reports</h1>
    <nav class="tabs" aria-label="Kind">${Object.keys(TABS).map((name) => html`<a key=${name} href=${href("exports", { tab: name })} aria-current=${name === tab ? "page" : undefined}>${words(name)}</a>`)}</nav>
    <${TABS[tab]} key=${tab} />`;
}

/** A list of files that are made: its rows, the way to make one, and what is done with each. */
function Made({ path, name, columns, form, empty }) {
  const skip = Number(route.value.query.get("skip")) || 0;
  const list = useData(path, { limit: LIMIT, skip });
  const [open, setOpen] = useState(false);
  const save = useTask((row) => download(`${path}/${row.id}/download`));
  const drop = async (row) => {
    if (!(await confirmed(`Delete this ${name}?`, "Its file is deleted with it.", "Delete"))) return;
    await remove(`${path}/${row.id}`).catch((error) => notify("bad", error.message, { requestId: error.requestId }));
    list.reload();
  };
  const actions = { key: "act", label: "", sortable: false, spoken: "Actions", show: (row) => html`<span class="actions">
    ${row.status === "completed" && html`<button onClick=${() => save.run(row)}>Download</button>`}
    ${can("reports:generate") && path === "reports" && html`<button class="plain" onClick=${() => drop(row)}>Delete</button>`}
    ${can("reports:generate") && path === "exports" && !ENDED.includes(row.status) && html`<button class="plain" onClick=${() => drop(row)}>Cancel</button>`}</span>` };
  const making = async (task) => {
    setOpen(false);
    const record = await task;
    list.reload();
    const end = await settled(`${path}/${record.id}`, ({ status }) => ENDED.includes(status), { label: `Making the ${name}` });
    forgetData(path);
    list.reload();
    if (end.status === "completed") notify("good", `The ${name} is ready`, { action: { label: "Download", run: () => save.run(end) } });
    else notify("bad", `The ${name} could not be made: ${end.error_details ?? end.status}`);
  };
  return html`
    <p class="row">${can("reports:generate") && html`<button class="primary" onClick=${() => setOpen(true)}>Make ${/^[aeiou]/.test(name) ? "an" : "a"} ${name}</button>`}</p>
    <${Problem} error=${save.error} />
    <${Loaded} from=${list}>${({ items, total }) => (total === 0 ? html`<${Empty} title=${`No ${name} yet`}><p>${empty}</p><//>` : html`
      <${Table} caption=${words(path)} rows=${items} columns=${[...columns, { key: "file_size_bytes", label: "Size", number: true, show: (row) => bytes(row.file_size_bytes) }, { key: "created_at", label: "Made", show: (row) => moment(row.created_at) }, { key: "created_by", label: "By", className: "narrow-off" }, actions]} />
      <${Pages} skip=${skip} total=${total} />`)}<//>
    ${open && html`<${form} close=${() => setOpen(false)} making=${making} />`}`;
}

function Pages({ skip, total }) {
  if (total <= LIMIT) return null;
  const to = (next) => setQuery({ skip: next || null }, { replace: false });
  return html`<p class="row"><button disabled=${skip === 0} onClick=${() => to(skip - LIMIT)}>Newer</button>
    <span>${skip + 1} to ${Math.min(total, skip + LIMIT)} of ${total}</span>
    <button disabled=${skip + LIMIT >= total} onClick=${() => to(skip + LIMIT)}>Older</button></p>`;
}

const STATE = { key: "status", label: "State", show: (row) => html`<span title=${row.error_details ?? ""} class=${row.status === "failed" ? "fail" : row.status === "completed" ? "pass" : "muted"}>${row.progress && !ENDED.includes(row.status) ? `${row.status}, ${row.progress.percent} %` : row.status}</span>` };

function Exports() {
  const books = useBooks();
  const columns = [
    { key: "workbook_id", label: "Workbook", value: (row) => books.name(row.workbook_id) },
    { key: "format", label: "Format", value: (row) => row.format.toUpperCase() }, STATE,
  ];
  return html`<${Made} path="exports" name="export" columns=${columns} form=${ExportForm} empty="An export is a workbook as a file, with a record of where each figure comes from. It can be verified later." />`;
}

function Reports() {
  const columns = [
    { key: "filename", label: "File" }, { key: "report_type", label: "About", value: (row) => words(row.report_type) }, STATE,
  ];
  return html`<${Made} path="reports" name="report" columns=${columns} form=${ReportForm} empty="A report shows a compliance run or a comparison with a tape as a document." />`;
}

function useBooks() {
  const list = useData("workbooks", { page_size: 100 });
  const books = (list.data?.items ?? []).filter(({ status }) => status === "ready");
  const named = new Map((list.data?.items ?? []).map((book) => [book.id, book.name]));
  return { from: list, options: books.map(({ id, name }) => ({ value: id, label: name })), name: (id) => named.get(id) ?? "a workbook" };
}

function ExportForm({ close, making }) {
  const books = useBooks();
  const [chosen, setChosen] = useState({ format: "xlsx", sealed: false });
  const set = (name) => (value) => setChosen({ ...chosen, [name]: value });
  const task = useTask(async () => {
    const options = { xlsx_sealed_pdf: chosen.format === "xlsx" && chosen.sealed };
    const body = { workbook_id: chosen.workbook ?? books.options[0]?.value, format: chosen.format, options };
    await making(post("exports", body));
  });
  return html`<${Dialog} title="Make an export" close=${close}><${Loaded} from=${books.from}>${() => html`
    <${Form} task=${task} action="Make it" onSubmit=${task.run} cancel=${close}>
      <${Select} label="Workbook" name="workbook_id" value=${chosen.workbook} options=${books.options} onChange=${set("workbook")} error=${task.error} />
      <${Select} label="Format" name="format" value=${chosen.format} options=${FORMATS} onChange=${set("format")} error=${task.error} />
      ${chosen.format === "xlsx" && html`<label class="check"><input type="checkbox" checked=${chosen.sealed} onChange=${(event) => set("sealed")(event.target.checked)} /> A signed PDF of the same sheets beside it</label>`}
    <//>`}<//><//>`;
}

function ReportForm({ close, making }) {
  const books = useBooks();
  const tapes = useData("reconciliation/tapes", { page_size: 100 });
  const [chosen, setChosen] = useState({ type: "compliance", format: "pdf" });
  const set = (name) => (value) => setChosen({ ...chosen, [name]: value });
  const compared = (tapes.data?.items ?? []).map((tape) => ({ value: tape.id ?? tape.tape_id, label: `${label(tape.trustee_name)}, ${tape.statement_date}` }));
  const about = chosen.type === "compliance"
    ? { workbook_id: chosen.workbook ?? books.options[0]?.value } : { tape_id: chosen.tape ?? compared[0]?.value };
  const task = useTask(() => making(post("reports/generate", { report_type: chosen.type, format: chosen.format, ...about })));
  return html`<${Dialog} title="Make a report" close=${close}><${Loaded} from=${books.from}>${() => html`
    <${Form} task=${task} action="Make it" onSubmit=${task.run} cancel=${close}>
      <${Select} label="About" name="report_type" value=${chosen.type} options=${[{ value: "compliance", label: "The newest compliance run of a workbook" }, { value: "reconciliation", label: "The newest comparison of a tape" }]} onChange=${set("type")} />
      ${chosen.type === "compliance"
        ? html`<${Select} label="Workbook" name="workbook_id" value=${chosen.workbook} options=${books.options} onChange=${set("workbook")} error=${task.error} />`
        : html`<${Select} label="Tape" name="tape_id" value=${chosen.tape} options=${compared} onChange=${set("tape")} error=${task.error} />`}
      <${Select} label="Format" name="format" value=${chosen.format} options=${DOCUMENTS} onChange=${set("format")} />
    <//>`}<//><//>`;
}

function Verify() {
  return html`<p>Drop an exported workbook (.xlsx) anywhere on this page: is it as it was exported, and which cells were changed?</p>
    <p><button class="primary" onClick=${() => addFiles(null, { kind: "verify" })}>Choose a file</button></p><${Verdict} />`;
}
