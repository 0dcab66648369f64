// Exports and reports: make one, watch it, save it; verify a file that came back.
import { html, useEffect, useState } from "../parts/html.js";
import { download, post, settled } from "../api.js";
import { can, complain, label, notify } from "../state.js";
import { Act, acts, change, List, Tabs, when } from "../parts/admin/list.js";
import { useBooks } from "../parts/books.js";
import { refreshData, useData, useTask } from "../parts/data.js";
import { Dialog } from "../parts/dialog.js";
import { addFiles, verified } from "../parts/drop.js";
import { Form, Select } from "../parts/form.js";
import { bytes, day, words } from "../parts/format.js";
import { Empty, Loaded } from "../parts/problem.js";
import { Table } from "../parts/table.js";

const KINDS = {
  exports: {
    one: "export", to: "exports", formats: ["xlsx", "csv", "json", "pdf"],
    about: (books) => books,
    body: (about) => ({ workbook_id: about }),
    empty: "An export is a workbook as a file that can be verified.",
  },
  reports: {
    one: "report", to: "reports/generate", formats: ["pdf", "xlsx"],
    about: (books, tapes) => [
      ...books.map((one) => ({ value: one.value, label: `Compliance of ${one.label}` })),
      ...tapes.map((tape) => ({ value: `tape ${tape.id}`, label: `Comparison with ${label(tape.trustee_name)}, ${day(tape.statement_date)}` })),
    ],
    body: (about) => (about.startsWith("tape ") ? { report_type: "reconciliation", tape_id: about.slice(5) } : { report_type: "compliance", workbook_id: about }),
    empty: "A report is a run of a workbook or a comparison with a tape as a document.",
  },
};
const ENDED = ["completed", "failed", "cancelled"];
const VERDICTS = {
  original: ["pass", "As it was exported"], modified: ["fail", "Changed since it was exported"],
  invalid_provenance: ["fail", "Not signed by this service"], unknown: ["warning", "Not an export that is on record here"],
};
const watched = new Set();
const save = (address) => download(`${address}/download`).catch(complain);

export default function ExportsAndReports() {
  return html`<${Tabs} title="Exports and reports" tabs=${{ exports: ["Exports", Made], reports: ["Reports", Made], verify: ["Verify", Verify] }} />`;
}

function Made({ path }) {
  const { one, empty } = KINDS[path];
  const [open, setOpen] = useState(false);
  const books = useBooks();
  const may = can("reports:generate");
  const columns = [
    { key: "name", label: "What", className: "wraps", value: (row) => row.filename ?? books.name(row.workbook_id) },
    { key: "format", label: "Format", value: ({ format }) => format.toUpperCase() },
    { key: "status", label: "Status", show: (row) => html`<${State} key=${row.id} path=${path} row=${row} />` },
    { key: "file_size_bytes", label: "Size", number: true, show: (row) => bytes(row.file_size_bytes), className: "narrow-off" },
    when("created_at", "Made", "narrow-off"),
    acts((row) => html`<${Actions} address=${`${path}/${row.id}`} ...${{ row, one, may }} />`),
  ];
  return html`${may && html`<p><button class="primary" onClick=${() => setOpen(true)}>Make ${named(one)}</button></p>`}
    <${List} caption=${words(path)} path=${path} rows="skip" columns=${columns} empty=${html`<${Empty} title=${`No ${path} yet`}><p>${empty}</p><//>`} />
    ${open && html`<${Make} path=${path} books=${books} close=${() => setOpen(false)} />`}`;
}

const named = (one) => (one === "export" ? "an export" : "a report");

function Actions({ address, row, one, may }) {
  const ended = ENDED.includes(row.status);
  const [label, ask] = ended ? ["Delete", "Its file is deleted with it."] : ["Cancel"];
  return html`${row.status === "completed" && !(Date.parse(row.expires_at) < Date.now()) && html`<button onClick=${() => save(address)}>Download</button>`}
    ${may && !(ended && one === "export") && html`<${Act} label=${label} of=${`the ${one}`} ask=${ask} run=${() => change("DELETE", address, undefined, `The ${one} is gone`)} />`}`;
}

/** A file's state; one that is being made is watched, wherever the person goes meanwhile. */
function State({ path, row }) {
  useEffect(() => {
    if (!ENDED.includes(row.status)) watch(path, row.id);
  }, [row.id]);
  return html`<span class=${{ failed: "fail", completed: "pass" }[row.status] ?? "muted"}>${words(row.status)}</span><small class="block">${row.error_details}</small>`;
}

async function watch(path, id) {
  if (watched.has(id)) return;
  watched.add(id);
  const { one } = KINDS[path];
  const address = `${path}/${id}`;
  try {
    const { status, error_details: why } = await settled(address, (row) => ENDED.includes(row.status), { label: `Making the ${one}` });
    if (why) notify("bad", `The ${one} could not be made: ${why}`);
    else if (status === "completed") notify("good", `The ${one} is ready`, { action: { label: "Download", run: () => save(address) } });
  } catch (error) {
    if (error.status !== 404) complain(error); // 404: it was deleted meanwhile
  }
  refreshData(path);
}

function Make({ path, books, close }) {
  const { one, to, formats, about, body } = KINDS[path];
  const tapes = useData(path === "reports" && can("compliance:read") ? "reconciliation/tapes" : null);
  const task = useTask(async (fields) => {
    await post(to, { ...body(fields.about), format: fields.format, options: { sanitize_pii: "mask" in fields } });
    close();
    refreshData(path);
  });
  const choices = about(books.options, tapes.data?.items ?? []);
  return html`<${Dialog} title=${`Make ${named(one)}`} close=${close}><${Loaded} from=${books}>${() => (choices.length === 0
    ? html`<p>Drop a month of a deal anywhere on the page first.</p>`
    : html`<${Form} task=${task} action="Make it" onSubmit=${task.run} cancel=${close}>
      <${Select} label="Of" name="about" options=${choices} />
      <${Select} label="Format" name="format" options=${formats.map((value) => ({ value, label: value.toUpperCase() }))} />
      <label class="choice"><input type="checkbox" name="mask" defaultChecked /> Mask personal data</label><//>`)}<//><//>`;
}

function Verify() {
  return html`<p>Drop an exported workbook (.xlsx) here: is it as it was exported, and which cells are not?</p>
    <p><button class="primary" onClick=${() => addFiles(null, { kind: "verify" })}>Choose a file</button></p>${verified.value && html`<${Verdict} file=${verified.value} />`}`;
}

function Verdict({ file }) {
  const [mark, title] = VERDICTS[file.status];
  const rows = [...file.findings, ...file.diffs].map((row, at) => ({ ...row, at }));
  return html`<div class=${`banner ${mark}`} role="status"><strong class=${mark}>${title}</strong><span>${file.name}</span><p>${file.reason}</p></div>
    ${rows.length > 0 && html`<${Table} caption=${`What is not as exported${file.diffs_truncated ? ": the first places" : ""}`} rows=${rows} keyOf=${({ at }) => at} columns=${[
      { key: "sheet", label: "Sheet" }, { key: "cell", label: "Cell", value: ({ cell, part }) => cell ?? part ?? "the sheet" },
      { key: "status", label: "What differs", className: "wraps", value: ({ message, status }) => message ?? words(status) },
    ]} />`}`;
}
