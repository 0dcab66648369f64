// What was read of a workbook, in words: the counts, corrections and what they change, what is wrong in rows, pages.
import { html } from "./html.js";
import { can, href, labelled, setQuery } from "../state.js";
import { columnsOf } from "./picture.js";
import { isLeftOut } from "./draft.js";
import { Known } from "./drill.js";
import { counted, day, figure, number, words } from "./format.js";
import { Status } from "./figures.js";
import { Problem } from "./problem.js";
import { Table } from "./table.js";

/** Where the loans are, how many columns feed fields, and what is missing. */
export function Summary({ read: { detection, warnings }, named, deal, month, saved }) {
  if (detection.sheet === null) return html`<p class="banner fail" role="status"><strong>No loans were found.</strong> ${labelled(detection.message)}</p>`;
  const kinds = [...columnsOf(detection, detection.sheet).values()].map(({ kind }) => kind);
  const count = (kind) => kinds.filter((one) => one === kind).length;
  const missing = detection.missing_required;
  return html`<p class=${`banner ${missing.length ? "fail" : count("ambiguous") ? "warning" : "pass"}`} role="status"><strong>${counted(detection.loan_count, "loan")}</strong><span>on ${detection.sheet}, rows ${number(detection.first_row)}–${number(detection.last_row)}</span>
      <span class="legend fed">${counted(count("fed") + count("ambiguous"), "column")} read</span>${count("ambiguous") > 0 && html`<span class="legend ambiguous">? ${number(count("ambiguous"))} uncertain</span>`}<span class="legend none">${number(count("none") + count("out"))} unused</span>
      ${missing.length > 0 && html`<strong class="fail">Missing: ${missing.map(named).join(", ")}</strong>`}
      ${saved && can("compliance:write") && html`<a href=${href("deals", deal.id, "compliance", { workbook: month.id, run: "now" })}>Run the tests by the new mapping</a>`}</p>
    <${Known} warnings=${warnings} />`;
}

/** Of a sheet what it is; of the loans' sheet the rows that are no loans, and the fields that no column feeds. */
export function About({ detection, sheet, named }) {
  const about = detection.sheets.find(({ name }) => name === sheet);
  const out = detection.left_out.map(({ reason, count, rows }) => `${number(count)} ${words(reason).toLowerCase()} (row ${rows.map((row) => number(row)).join(", ")}${rows.length < count ? " …" : ""})`);
  return html`<p class="muted">${about && `${words(labelled(about.kind_reason))}.`}${about && about.state !== "visible" && " The sheet is hidden."}
    ${sheet === detection.sheet && out.length > 0 && html` <span>Rows that are no loans: ${out.join("; ")}.</span>`}
    ${sheet === detection.sheet && detection.missing_optional.length > 0 && html` <span>No column for ${detection.missing_optional.map(named).join(", ")}.</span>`}</p>`;
}

/** Corrections that are not saved, and the results that they change. */
export function Corrections({ fixes, trial, named, fix, task, may, months }) {
  const list = Object.entries(fixes);
  if (list.length === 0) return null;
  return html`<section class="card corrections" aria-label="Corrections"><h2>${counted(list.length, "correction")}, not saved</h2>
    <ul>${list.map(([header, target]) => html`<li key=${header}><strong>${header}</strong> → ${isLeftOut(target) ? "left out" : named(target)} ${may && html`<button class="plain" aria-label=${`Take back ${header}`} onClick=${() => fix(header, null)}>Take back</button>`}</li>`)}</ul>
    <div aria-live="polite" aria-busy=${String(trial.busy)}>${trial.error && html`<${Problem} error=${trial.error} />`}${!trial.error && html`<${Changes} trial=${trial} />`}</div>
    ${may && html`<p class="muted">Saved as the deal's mapping it reads ${counted(months.length, "month")}: ${months.map(({ as_of: asOf, name }) => (asOf ? day(asOf) : name)).join(", ")}; and those to come. Runs that stand keep their figures.</p>
      <${Problem} error=${task.error} /><p class="row"><button class="primary" disabled=${task.busy || trial.busy || trial.error !== null} onClick=${task.run}>Save as the deal's mapping</button><button onClick=${() => setQuery({ fix: null })}>Discard</button></p>`}</section>`;
}

/** How many results corrections change; nothing before that is known. */
export function effectOf(data) {
  const count = data?.changes?.length;
  return count === undefined ? null : count === 0 ? "No result changes." : `${counted(count, "result")} change${count === 1 ? "s" : ""}.`;
}

function Changes({ trial: { data, busy } }) {
  if (data === null) return html`<p class="waiting">${busy ? "Reading the file by the correction" : ""}</p>`;
  const { changes } = data;
  if (changes === null) return null;
  const shown = (row, one) => (one ? html`${figure(one.value, row.unit, row.decimals)} <${Status} status=${one.status} short=${true} />` : "no figure");
  const columns = [
    { key: "test_name", label: "Test", show: (row) => labelled(row.test_name) },
    { key: "before", label: "Before", number: true, value: (row) => row.before?.value, show: (row) => shown(row, row.before) },
    { key: "after", label: "After", number: true, value: (row) => row.after?.value, show: (row) => shown(row, row.after) },
  ];
  return html`<p class=${busy ? "muted" : ""}>${effectOf(data)}</p>
    ${changes.length > 0 && html`<${Table} caption="Results before and after the corrections" columns=${columns} rows=${changes} keyOf=${({ test_id: id }) => id} />`}`;
}

/** What the mapping's rules say of rows; a row leads to its place in the picture. */
export function Findings({ read: { detection, validation }, named }) {
  if (!validation || validation.errors.length + validation.warnings.length === 0) return null;
  const rows = [...validation.errors.map((one) => ({ ...one, kind: "error" })), ...validation.warnings.map((one) => ({ ...one, kind: "warning" }))].map((one, at) => ({ ...one, at }));
  const letterOf = (field) => detection.columns.find(({ target }) => target === field)?.column ?? "A";
  const go = ({ row, field }) => setQuery({ sheet: detection.sheet, from: null, cell: letterOf(field) + row });
  const columns = [
    { key: "row", label: "Row", number: true, show: (one) => (one.row === null ? "all" : html`<button class="plain" onClick=${() => go(one)}>${number(one.row)}</button>`) },
    { key: "field", label: "Field", value: ({ field }) => named(field) },
    { key: "kind", label: "Kind", show: ({ kind }) => html`<span class=${kind === "error" ? "fail" : "warning"}>${words(kind)}</span>` },
    { key: "message", label: "What is wrong", show: ({ message }) => labelled(message) },
    { key: "value", label: "Value", className: "narrow-off", show: ({ value }) => (value === null ? "–" : String(value)) },
  ];
  const { error_count: errors, warning_count: warnings } = validation;
  return html`<h2 class="apart">${counted(errors, "error")} and ${counted(warnings, "warning")} in rows</h2>
    ${rows.length < errors + warnings && html`<p class="muted">The first ${number(rows.length)} are shown.</p>`}
    <${Table} caption="Errors and warnings of rows" columns=${columns} rows=${rows} keyOf=${({ at }) => at} />`;
}

const PARTS = { joined: "joined to the loans", list: "a list of some loans", added: "more loans", "left out": "left out" };

/** Other sheets: what was taken from each, and where it says something else than the loans' sheet. */
export function Pages({ detection: { pages }, named }) {
  if (pages.length === 0) return null;
  const counts = (by) => Object.entries(by).map(([field, count]) => `${named(field)} (${number(count)})`).join(", ");
  const columns = [
    { key: "sheet", label: "Sheet", show: ({ sheet, title }) => html`<button class="plain" onClick=${() => setQuery({ sheet, from: null, cell: null, col: null }, { replace: false })}>${sheet}</button>${title && html` <small class="muted">${title}</small>`}` },
    { key: "part", label: "What it is", value: ({ part }) => PARTS[part] ?? part, show: ({ part, reason }) => html`${PARTS[part] ?? part}${reason && html`<small class="muted below">${labelled(reason)}</small>`}` },
    { key: "fields", label: "Gives", value: ({ fields, filled }) => [fields.map(named).join(", "), counts(filled)].filter(Boolean).join("; fills ") },
    { key: "conflicts", label: "Says something else", value: ({ conflicts }) => counts(conflicts), show: ({ conflicts }) => html`<span class="warning">${counts(conflicts)}</span>` },
  ];
  return html`<h2 class="apart">Other sheets</h2><${Table} caption="What was taken from other sheets" columns=${columns} rows=${pages.map((one, at) => ({ ...one, at }))} keyOf=${({ at }) => at} />`;
}
