// A trustee's tape against a month: compared, then its issues worked one after the other, by keyboard or many at once.
import { html, useEffect, useRef, useState } from "../parts/html.js";
import { download, post, settled } from "../api.js";
import { can, label, labelled, route, setQuery } from "../state.js";
import { useData, useTask } from "../parts/data.js";
import { DealScreen } from "../parts/deal.js";
import { Known, Panel } from "../parts/drill.js";
import { addFiles } from "../parts/drop.js";
import { Select } from "../parts/form.js";
import { counted, day, moment, number, words } from "../parts/format.js";
import { Grid } from "../parts/grid.js";
import { useKeys } from "../parts/keys.js";
import { Empty, Loaded, Problem } from "../parts/problem.js";
import { useQueue } from "../parts/queue.js";
import { Table } from "../parts/table.js";

export default function Reconciliation({ id }) {
  const books = useData(id ? null : "workbooks", { page_size: 100 });
  return id ? html`<${DealScreen} id=${id} title="Reconciliation" months=${false}>${({ months }) => html`<${Tapes} deal=${id} months=${months} />`}<//>`
    : html`<section aria-label="Reconciliation"><h1>Reconciliation</h1><${Loaded} from=${books}>${({ items }) => html`<${Tapes} months=${items} />`}<//></section>`;
}

function Tapes({ deal, months }) {
  const from = useData("reconciliation/tapes", { deal_id: deal, page_size: 100 });
  const add = can("workbooks:write") && html`<button onClick=${() => addFiles(null, { deal, kind: "tape" })}>Add a tape</button>`;
  return html`<${Loaded} from=${from}>${({ items }) => {
    const tape = items.find(({ id }) => id === route.value.query.get("tape")) ?? items[0];
    return tape ? html`<div class="row"><${Select} label="Tape" name="tape" value=${tape.id} onChange=${(id) => setQuery({ tape: id, issue: null }, { replace: false })}
        options=${items.map((one) => ({ value: one.id, label: `${day(one.statement_date)} ${label(one.trustee_name)}, ${one.file_name}` }))} />${add}</div>
      <${Tape} key=${tape.id} ...${{ tape, months, reload: from.reload }} />`
      : html`<${Empty} title="No tape yet"><p>Add the trustee's tape to compare its loans with ours.</p>${add}<//>`;
  }}<//>`;
}

function Tape({ tape, months, reload }) {
  const state = tape.processing_status;
  useEffect(() => {
    if (state === "processing") settled(`reconciliation/tapes/${tape.id}`, ({ processing_status: now }) => now !== state, { label: `Reading ${tape.file_name}` }).then(reload, reload);
  }, [state]);
  const [turn, setTurn] = useState(0);
  const mine = months.filter(({ deal_id: deal, status }) => status === "ready" && (!tape.deal_id || deal === tape.deal_id));
  return html`<p class="muted">${counted(tape.loan_count, "loan")}, ${number(tape.total_par)} par <button class="plain" onClick=${() => download(`reconciliation/tapes/${tape.id}/file`)}>Download the tape</button></p>
    ${state === "failed" && html`<p class="note">The tape could not be read: ${tape.error_message}</p>`}
    ${state === "completed" && html`<${Compare} ...${{ tape, months: mine, done: () => setTurn(turn + 1) }} /><${Queue} key=${turn} tape=${tape} />`}`;
}

function Compare({ tape, months, done }) {
  const date = Date.parse(tape.as_of ?? tape.statement_date);
  const apart = (book) => Math.abs(Date.parse(book.as_of ?? book.created_at) - date);
  const [chosen, setChosen] = useState([...months].sort((one, other) => apart(one) - apart(other))[0]?.id);
  const [job, setJob] = useState(null);
  const task = useTask(async () => {
    const { job_id: id } = await post("reconciliation/compare", { tape_id: tape.id, workbook_id: chosen });
    setJob(await settled(`reconciliation/compare/${id}/status`, ({ status }) => status !== "processing", { label: "Comparing" }));
    done();
  });
  const allowed = can("compliance:write") && chosen;
  useEffect(() => {
    if (!route.value.query.get("compare")) return;
    setQuery({ compare: null });
    if (allowed) task.run();
  }, []);
  const sum = job?.summary;
  return html`${allowed && html`<div class="row"><${Select} label="Compare with" name="month" value=${chosen} onChange=${setChosen}
      options=${months.map((book) => ({ value: book.id, label: book.as_of ? day(book.as_of) : book.name }))} />
      <button class="primary" disabled=${task.busy} onClick=${task.run}>Compare</button></div>`}
    <${Problem} error=${task.error} />
    ${job && html`<p class="banner" role="status">${sum ? html`<strong>${counted(sum.issues_found, "issue")}</strong> <span>${number(sum.matched)} loans matched</span><span>${number(sum.unmatched_internal)} only ours</span><span>${number(sum.unmatched_trustee)} only on the tape</span>` : job.error_message}</p>
      <${Known} warnings=${job.warnings} />`}`;
}

/** What may be said of issues: status, its name, the key, the words of a button and of what was done. */
const STATUSES = [
  ["open", "Open", "o", "Reopen", "opened again"], ["acknowledged", "Acknowledged", "a", "Acknowledge", "acknowledged"],
  ["resolved", "Resolved", "r", "Resolve", "resolved"], ["false_positive", "False positive", "f", "False positive", "marked as false positive"],
];
const SEVERITIES = { critical: ["fail", "■"], error: ["fail", "▲"], warning: ["warning", "▲"], info: ["muted", "○"] };

function Queue({ tape }) {
  const { query } = route.value;
  const [status, severity, search, id] = [query.get("status") ?? "open", query.get("severity"), query.get("search") ?? "", query.get("issue")];
  const [turn, setTurn] = useState(0);
  const summary = useData("reconciliation/issues/summary", { tape_id: tape.id });
  useEffect(() => {
    const timer = turn && setTimeout(summary.reload, 400); // one question for many keys
    return () => clearTimeout(timer);
  }, [turn]);
  const found = ({ borrower_name, primary_identifier, field_name, trustee_value, internal_value }) => [borrower_name, primary_identifier, field_name, trustee_value, internal_value].join(" ").toLowerCase().includes(search.toLowerCase());
  const queue = useQueue({ tape_id: tape.id, status, severity: severity ?? undefined }, { wanted: (items) => search || (id && !items.some((one) => one.id === id)), worked: () => setTurn((one) => one + 1) });
  const shown = search ? queue.items.filter(found) : queue.items;
  const at = shown.findIndex((one) => one.id === id);
  const [picked, setPicked] = useState(new Set());
  const every = picked === "all";
  useEffect(() => setPicked(new Set()), [status, severity, search]);
  const open = (index) => setQuery({ issue: shown[Math.max(0, Math.min(shown.length - 1, index))]?.id });
  const pick = (one) => setPicked((before) => new Set(before.has?.(one) ? [...before].filter((other) => other !== one) : [...(every ? [] : before), one]));
  const writes = can("compliance:write");
  const actions = writes ? STATUSES.filter(([name]) => name !== status).map(([name, , key, what, done]) => ({ key, what, run: () => {
    const issues = every ? null : picked.size ? queue.items.filter((one) => picked.has(one.id)) : shown.slice(at, at + 1 || undefined).slice(0, at < 0 ? 0 : 1);
    if (issues?.length === 0) return;
    const rest = shown.filter((one) => issues && !issues.includes(one));
    queue.review(name, done, issues);
    setPicked(new Set());
    setQuery({ issue: id && rest[Math.min(at, rest.length - 1)]?.id });
  } })) : [];
  const field = useRef(null);
  const all = () => setPicked(search ? new Set(shown.map((one) => one.id)) : "all");
  useKeys([
    { key: "j", what: "Next issue", run: () => open(at + 1) }, { key: "k", what: "Previous issue", run: () => open(at - 1) },
    ...actions, { key: "/", what: "Search", run: () => field.current.querySelector("input").focus() },
    ...(writes ? [{ key: "x", what: "Select the issue", run: () => at >= 0 && pick(id) }, { key: "X", what: "Select all", run: all }, { key: "u", what: "Undo", run: queue.undo }] : []),
    { key: "Escape", what: "Close the issue", run: () => { document.activeElement.blur(); setPicked(new Set()); setQuery({ issue: null }); } },
  ]);
  const buttons = actions.map(({ key, what, run }) => html`<button key=${key} onClick=${run}>${what} (${key})</button>`);
  const count = search ? shown.length : queue.total ?? 0;
  const chosen = every ? count : picked.size;
  return html`<${Filters} ...${{ counts: summary.data, status, severity, search, field }} />
    ${writes && count > 0 && html`<div class="row" role="group" aria-label="Selected issues">${chosen === 0 ? html`<button class="plain" onClick=${all}>Select all ${number(count)} (X)</button>`
      : html`<strong>${number(chosen)} selected</strong>${buttons}<button class="plain" onClick=${() => setPicked(new Set())}>Clear</button>`}</div>`}
    <${Problem} error=${queue.error} retry=${queue.reload} />
    ${queue.total === null ? html`<p class="waiting" role="status">Loading</p>` : count > 0 ? html`<${Grid} caption="Issues" columns=${columnsOf(shown, open, writes && { has: (one) => every || picked.has(one), pick })} count=${count} current=${at}
        cell=${(index, key) => shown[index]?.[key]} need=${queue.see} version=${shown.length} />`
      : html`<${Nothing} ...${{ counts: summary.data, search, severity, status }} />`}
    ${at >= 0 && html`<${Issue} ...${{ issue: shown[at], trustee: label(tape.trustee_name), buttons, close: () => setQuery({ issue: null }), next: (step) => open(at + step) }} />`}`;
}

function Filters({ counts, status, severity, search, field }) {
  const choose = (changes) => setQuery({ ...changes, issue: null });
  return html`<div class="row" ref=${field} role="search">
    <div class="months" role="group" aria-label="Status">${STATUSES.map(([name, text]) => html`<button key=${name} class="pill" aria-pressed=${String(name === status)} onClick=${() => choose({ status: name === "open" ? null : name })}>${text} ${counts && number(counts.by_status[name])}</button>`)}</div>
    <select aria-label="Severity" onChange=${(event) => choose({ severity: event.target.value })}><option value="">Every severity</option>
      ${Object.keys(SEVERITIES).map((name) => html`<option value=${name} selected=${name === severity}>${words(name)}</option>`)}</select>
    <input type="search" aria-label="Search the issues" placeholder="Search (/)" value=${search} onInput=${(event) => choose({ search: event.target.value })} onKeyDown=${(event) => event.key === "Enter" && event.target.blur()} /></div>`;
}

function Nothing({ counts, search, severity, status }) {
  if (search || severity) return html`<${Empty} title="No issue fits"><button onClick=${() => setQuery({ search: null, severity: null })}>Show all</button><//>`;
  if (counts?.total === 0) return html`<${Empty} title="No issues"><p>Compare the tape with a month: what differs comes here.</p><//>`;
  return html`<${Empty} title=${status === "open" ? "All issues are worked" : "No issue is so"}><p>${counts && `${counted(counts.total, "issue")} in all, ${number(counts.by_status.open)} open.`}</p><//>`;
}

function Severity({ of: name }) {
  const [tone, mark] = SEVERITIES[name];
  return html`<span class=${`status ${tone}`}><span aria-hidden="true">${mark}</span> ${name}</span>`;
}

function columnsOf(shown, open, picked) {
  return [
    picked && { key: "id", label: html`<span class="off-screen">Selected</span>`, width: 34, show: (id, at) => html`<input type="checkbox" aria-label=${`Select ${nameOf(shown[at])}`} checked=${picked.has(shown[at])} onClick=${(event) => event.stopPropagation()} onChange=${() => picked.pick(id)} />` },
    { key: "severity", label: "Severity", width: 90, show: (name) => html`<${Severity} of=${name} />` },
    { key: "borrower_name", label: "Loan", width: 250, show: (_, at) => html`<button class="cell" onClick=${() => open(at)}>${nameOf(shown[at])}</button>` },
    { key: "field_name", label: "What differs", width: 170, show: (_, at) => what(shown[at]) },
    { key: "internal_value", label: "Ours", width: 150, show: (value, at) => read(value, shown[at]) },
    { key: "trustee_value", label: "Tape", width: 150, show: (value, at) => read(value, shown[at]) },
    { key: "primary_identifier", label: "Identifier", width: 130 },
  ].filter(Boolean);
}

const nameOf = (issue) => issue.borrower_name ?? issue.primary_identifier ?? "Loan without a name";
const TYPES = { missing_in_internal: "Loan is not ours", missing_in_trustee: "Loan is not on the tape", duplicate_position: "Loan is there twice" };
const what = (issue) => TYPES[issue.issue_type] ?? labelled(words(issue.field_name));

/** A value of an issue, amounts as numbers. */
function read(value, { category, issue_type: type }) {
  return value !== "" && (category === "calculation" || type.startsWith("missing")) && Number.isFinite(Number(value)) ? written(Number(value)) : value || "–";
}

/** A cell's value with the decimals that it has. */
function written(value) {
  return typeof value === "number" ? number(value, Math.min(6, (String(value).split(".")[1] ?? "").length)) : value ?? "–";
}

function Issue({ issue, trustee, buttons, close, next }) {
  const [id, setId] = useState(null);
  useEffect(() => {
    const timer = setTimeout(() => setId(issue.id), 150); // while a key is down nothing is read
    return () => clearTimeout(timer);
  }, [issue.id]);
  const from = useData(id === issue.id ? `reconciliation/issues/${id}/rows` : null);
  return html`<${Panel} title=${nameOf(issue)} close=${close} next=${next}>
    <p><${Severity} of=${issue.severity} /> ${what(issue)}: ours <strong>${read(issue.internal_value, issue)}</strong>, ${trustee} <strong>${read(issue.trustee_value, issue)}</strong></p>
    <div class="row">${buttons}</div>
    ${issue.reviewed_by && html`<p class="muted">${words(issue.status)} by ${issue.reviewed_by}, ${moment(issue.reviewed_at)}. ${issue.resolution_notes}</p>`}
    <${Loaded} from=${from}>${(rows) => html`<${Rows} ...${{ ...rows, trustee, field: issue.field_name }} />`}<//><//>`;
}

function Rows({ workbook, tape, workbook_note, tape_note, trustee, field }) {
  const place = (row, note) => (row ? `${row.sheet} row ${row.row}` : labelled(note));
  return html`<${Table} caption="Both rows" rows=${paired(workbook?.cells ?? [], tape?.cells ?? [], field)} keyOf=${(row) => row.key} selected=${(row) => row.differs} columns=${[
      { key: "name", label: "Column" }, { key: "ours", label: "Ours", show: (row) => written(row.ours) },
      { key: "theirs", label: trustee, show: (row) => html`${row.differs && html`<span class="warning">≠<span class="off-screen"> differs: </span></span> `}${written(row.theirs)}` }]} />
    <p class="muted">Ours: ${place(workbook, workbook_note)}. ${trustee}: ${place(tape, tape_note)}.</p>`;
}

/** Cells of both rows beside each other by the field that they feed, that of the issue first. */
function paired(ours, theirs, field) {
  const other = new Map(theirs.filter((cell) => cell.field).map((cell) => [cell.field, cell]));
  const same = (value) => (value === null || value === "" || Number.isNaN(Number(value)) ? String(value ?? "").trim().toLowerCase() : Number(value));
  const pair = (one, two) => ({
    key: `${one?.column} ${two?.column}`, name: labelled((one ?? two).field ? words((one ?? two).field) : (one ?? two).header ?? (one ?? two).column),
    ours: one?.value, theirs: two?.value, differs: Boolean(one && two) && same(one.value) !== same(two.value), first: (one ?? two).field === field,
  });
  const fed = new Set(ours.map((cell) => cell.field).filter(Boolean));
  return [...ours.map((cell) => pair(cell, other.get(cell.field))), ...theirs.filter((cell) => !fed.has(cell.field)).map((cell) => pair(null, cell))].sort((one, two) => two.first - one.first);
}
