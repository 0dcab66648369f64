// A trustee's tape against a month: compared, then its issues worked one after the other, by keyboard or many at once.
import { html, useEffect, useRef, useState } from "../parts/html.js";
import { get, patch, post, settled } from "../api.js";
import { can, complain, dismiss, label, notify, route, setQuery } from "../state.js";
import { copy, tsv } from "../parts/clipboard.js";
import { refreshData, useData, useTask } from "../parts/data.js";
import { DealScreen } from "../parts/deal.js";
import { Known, Panel } from "../parts/drill.js";
import { addFiles } from "../parts/drop.js";
import { Field, Select } from "../parts/form.js";
import { counted, day, fieldName, number, pageLine, words, written } from "../parts/format.js";
import { Grid } from "../parts/grid.js";
import { useKeys } from "../parts/keys.js";
import { Empty, Loaded, Problem } from "../parts/problem.js";
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
    if (!tape) return html`<${Empty} title="No tape yet"><p>Add the trustee's tape to compare its loans with ours.</p>${add}<//>`;
    const mine = months.filter((book) => book.status === "ready" && (!tape.deal_id || book.deal_id === tape.deal_id));
    return html`<div class="row"><${Select} label="Tape" name="tape" value=${tape.id} onChange=${(id) => setQuery({ tape: id, issue: null }, { replace: false })}
        options=${items.map((one) => ({ value: one.id, label: `${day(one.statement_date)} ${label(one.trustee_name)}, ${one.file_name}` }))} />${add}
        <small class="muted">${counted(tape.loan_count, "loan")}, ${number(tape.total_par)} par</small></div>
      ${tape.processing_status === "completed" ? html`<${Compared} key=${tape.id} tape=${tape} months=${mine} />`
        : html`<p class="note">${tape.error_message ?? "The tape is being read."} <button onClick=${from.reload}>Look again</button></p>`}`;
  }}<//>`;
}

function Compared({ tape, months }) {
  const apart = (book) => Math.abs(Date.parse(book.as_of ?? book.created_at) - Date.parse(tape.as_of ?? tape.statement_date));
  const [chosen, setChosen] = useState([...months].sort((one, other) => apart(one) - apart(other))[0]?.id);
  const [job, setJob] = useState(null);
  const task = useTask(async () => {
    const { job_id: id } = await post("reconciliation/compare", { tape_id: tape.id, workbook_id: chosen });
    setJob(await settled(`reconciliation/compare/${id}/status`, ({ status }) => status !== "processing", { label: "Comparing" }));
  });
  const allowed = chosen && can("compliance:write");
  useEffect(() => {
    if (route.value.query.get("compare")) {
      setQuery({ compare: null });
      if (allowed) task.run();
    }
  }, []);
  const sum = job?.summary;
  return html`${allowed && html`<div class="row"><${Select} label="Compare with" name="month" value=${chosen} onChange=${setChosen}
      options=${months.map((book) => ({ value: book.id, label: book.as_of ? day(book.as_of) : book.name }))} />
      <button class="primary" disabled=${task.busy} onClick=${task.run}>Compare</button></div>`}
    <${Problem} error=${task.error} />
    ${job && html`<p class="banner" role="status">${job.error_message ?? `${counted(sum.issues_found, "issue")}: ${number(sum.matched)} loans matched, ${number(sum.unmatched_internal)} only ours, ${number(sum.unmatched_trustee)} only on the tape`}</p>
      <${Known} warnings=${job.warnings} />`}
    <${Queue} key=${job?.job_id} tape=${tape} />`;
}

/** What may be said of issues, by status: the key and the button. */
const STATUSES = { open: ["o", "Reopen"], acknowledged: ["a", "Acknowledge"], resolved: ["r", "Resolve"], false_positive: ["f", "False positive"] };
const SEVERITIES = { critical: "fail", error: "fail", warning: "warning", info: "muted" };
const ALL = "all";

function Queue({ tape }) {
  const { query } = route.value;
  const [status, severity, search, id] = [query.get("status") ?? "open", query.get("severity") ?? undefined, query.get("search"), query.get("issue")];
  const { total: known, by_status: counts } = useData("reconciliation/issues/summary", { tape_id: tape.id }).data ?? {};
  const queue = useQueue({ tape_id: tape.id, status, severity }, (items) => search || (id && !items.some((one) => one.id === id)));
  const shown = search ? queue.items.filter((one) => fits(one, search.toLowerCase())) : queue.items;
  const count = search ? shown.length : queue.total;
  const at = shown.findIndex((one) => one.id === id);
  const open = (index) => setQuery({ issue: shown[Math.max(0, Math.min(shown.length - 1, index))]?.id });
  const choose = (changes) => setQuery({ issue: null, ...changes });
  const [picked, setPicked] = useState(new Set());
  const clear = () => setPicked(new Set());
  useEffect(clear, [status, severity, search]);
  const has = (one) => picked.has(ALL) || picked.has(one.id);
  const pick = (one) => setPicked((before) => new Set(before.has(one) ? [...before].filter((other) => other !== one) : [...before, one].filter((other) => other !== ALL)));
  const all = () => setPicked(new Set(search ? shown.map((one) => one.id) : [ALL]));
  const act = (name) => () => {
    const issues = picked.has(ALL) ? null : picked.size ? shown.filter(has) : shown.filter((_, index) => index === at);
    if (issues?.length === 0) return;
    const rest = shown.filter((one) => issues && !issues.includes(one));
    queue.review(name, issues);
    clear();
    choose({ issue: id && rest[Math.min(at, rest.length - 1)]?.id });
  };
  const writes = can("compliance:write");
  const actions = Object.entries(writes ? STATUSES : {}).filter(([name]) => name !== status).map(([name, [key, what]]) => ({ key, what, run: act(name) }));
  useKeys([
    { key: "j", what: "Next issue", run: () => open(at + 1) }, { key: "k", what: "Previous issue", run: () => open(at - 1) },
    { key: "/", what: "Search", run: () => document.querySelector("[name=search]").focus() }, { key: "Escape", what: "Close the issue", run: () => { clear(); choose(); } },
    ...(writes ? [...actions, { key: "x", what: "Select the issue", run: () => at >= 0 && pick(id) }, { key: "X", what: "Select all", run: all }, { key: "u", what: "Undo", run: queue.undo }] : []),
  ]);
  const buttons = actions.map(({ key, what, run }) => html`<button key=${key} onClick=${run}>${what} (${key})</button>`);
  const chosen = picked.has(ALL) ? count : picked.size;
  const taking = useTask(() => copyAll({ tape_id: tape.id, status, severity }, search));
  const [title, text] = search || severity ? ["No issue fits", "Search for less, or choose every severity."] : known === 0 ? ["No issues", "Compare the tape with a month: what differs comes here."]
    : [status === "open" ? "All issues are worked" : "No issue is so", `${counted(known, "issue")} in all`];
  return html`<div class="months" role="group" aria-label="Status">${Object.keys(STATUSES).map((name) => html`<button key=${name} class="pill" aria-pressed=${String(name === status)} onClick=${() => choose({ status: name })}>${words(name)} ${number(counts?.[name])}</button>`)}</div>
    <div class="row"><${Select} label="Severity" name="severity" value=${severity ?? ""} options=${[{ value: "", label: "Every severity" }, ...Object.keys(SEVERITIES).map((value) => ({ value, label: words(value) }))]} onChange=${(value) => choose({ severity: value })} />
      <${Field} label="Search (/)" name="search" type="search" value=${search ?? ""} onInput=${(event) => choose({ search: event.target.value })} onKeyDown=${(event) => event.key === "Enter" && event.target.blur()} />
      ${writes && count > 0 && (chosen ? html`<strong>${number(chosen)} selected</strong>${buttons}` : html`<button onClick=${all}>Select all ${number(count)} (X)</button>`)}
      ${count > 0 && html`<button disabled=${taking.busy} onClick=${taking.run} title="Copy the issues (TSV)">Copy</button>`}</div>
    <${Problem} error=${taking.error} /><${Problem} error=${queue.error} retry=${queue.again} />
    ${count > 0 ? html`<${Grid} caption="Issues" columns=${columnsOf(shown, open, writes && { has, pick })} count=${count} current=${at} cell=${(index, key) => shown[index]?.[key]} need=${(_, last) => queue.see(last)} />`
      : count === 0 && html`<${Empty} title=${title}><p>${text}</p><//>`}
    ${at >= 0 && html`<${Issue} issue=${shown[at]} trustee=${label(tape.trustee_name)} buttons=${buttons} close=${() => choose()} next=${(step) => open(at + step)} />`}`;
}

const nameOf = (issue) => issue.borrower_name ?? issue.primary_identifier ?? "Loan";
const what = (issue) => (issue.issue_type === "value_mismatch" ? fieldName(issue.field_name) : words(issue.issue_type.replace("internal", "ours")));
const fits = (issue, text) => [nameOf(issue), issue.primary_identifier, what(issue), issue.trustee_value, issue.internal_value].join(" ").toLowerCase().includes(text);

function columnsOf(shown, open, picked) {
  const value = { width: 160, number: true, show: (text, at) => read(text, shown[at]) };
  return [
    picked && { key: "id", label: html`<span class="off-screen">Selected</span>`, width: 40, show: (id, at) => html`<input type="checkbox" aria-label=${`Select ${nameOf(shown[at])}`} checked=${picked.has(shown[at])} onChange=${() => picked.pick(id)} />` },
    { key: "severity", label: "Severity", width: 100, show: (name) => html`<span class=${`status ${SEVERITIES[name]}`}>${name}</span>` },
    { key: "borrower_name", label: "Loan", width: 300, show: (_, at) => html`<button class="cell" onClick=${() => open(at)}>${nameOf(shown[at])}</button>` },
    { key: "field_name", label: "What differs", width: 150, show: (_, at) => what(shown[at]) },
    { key: "internal_value", label: "Ours", ...value }, { key: "trustee_value", label: "Tape", ...value }, { key: "primary_identifier", label: "Identifier" },
  ].filter(Boolean);
}

/** An issue's values are texts; identifiers stay so. */
const valued = (text, { category }) => (text && category !== "identity" && !Number.isNaN(Number(text)) ? Number(text) : text);
const read = (text, issue) => written(valued(text, issue));

function Issue({ issue, trustee, buttons, close, next }) {
  const [id, setId] = useState(null);
  useEffect(() => {
    const timer = setTimeout(() => setId(issue.id), 150); // while a key is down nothing is read
    return () => clearTimeout(timer);
  }, [issue.id]);
  const from = useData(id === issue.id ? `reconciliation/issues/${id}/rows` : null);
  const place = (row, note) => (row ? [row.sheet, `row ${row.row}`, pageLine(row.page, row.line)].filter(Boolean).join(", ") : note);
  return html`<${Panel} title=${nameOf(issue)} close=${close} next=${next}>
    <p>${words(issue.severity)}, ${what(issue)}: ours <strong>${read(issue.internal_value, issue)}</strong>, ${trustee} <strong>${read(issue.trustee_value, issue)}</strong></p>
    <div class="row">${buttons}</div>
    ${issue.reviewed_by && html`<p class="muted">${words(issue.status)} by ${issue.reviewed_by} ${issue.resolution_notes}</p>`}
    <${Loaded} from=${from}>${({ workbook, tape, workbook_note: ours, tape_note: theirs }) => html`<${Table} caption="Both rows" rows=${paired(workbook, tape, issue.field_name)} keyOf=${(row) => row.key} selected=${(row) => row.differs} columns=${[
      { key: "name", label: "Column" }, { key: "ours", label: "Ours", show: (row) => written(row.ours) },
      { key: "theirs", label: trustee, show: (row) => html`${row.differs && html`<span class="warning">≠<span class="off-screen"> differs </span></span> `}${written(row.theirs)}` }]} />
      <p class="muted">Ours: ${place(workbook, ours)}. ${trustee}: ${place(tape, theirs)}</p>`}<//><//>`;
}

/** Cells of both rows beside each other by the field that they feed, that of the issue first. */
function paired(ours, theirs, field) {
  const pairs = new Map();
  for (const [side, row] of Object.entries({ ours, theirs })) {
    for (const cell of row?.cells ?? []) {
      const key = cell.field ?? side + cell.column;
      pairs.set(key, { key, name: cell.header ?? cell.column, ...pairs.get(key), [side]: cell.value });
    }
  }
  const known = (value) => (value ?? "") !== "";
  const rows = [...pairs.values()].map((row) => ({ ...row, differs: known(row.ours) && known(row.theirs) && (row.key === field || !alike(row)) }));
  return rows.sort((one, two) => (two.key === field) - (one.key === field));
}

/** Whether two cells say the same; rates may be percent on one side and basis points on the other. */
function alike({ key, ours, theirs }) {
  const [one, two] = [ours, theirs].map((value) => Number(value) || (/date/.test(key) && Date.parse(`${value} UTC`)) || String(value || "").trim().toLowerCase());
  return one === two || [one / two, two / one].some((share) => Math.abs(share - 100) < 1e-9);
}

const PATH = "reconciliation/issues";
const PAGE = 200;
const COPIED_PAGES = 10; // at most
const AHEAD = 50; // rows below those in sight that are read
const PAUSE_MS = 400; // the counts are read once after many keys

/** The issues of a query that a search finds, as a table for the clipboard. */
async function copyAll(query, search) {
  const rows = [];
  for (let page = 1, pages = 1; page <= Math.min(pages, COPIED_PAGES); page += 1) {
    const next = await get(PATH, { ...query, page, page_size: PAGE });
    pages = next.total_pages;
    rows.push(...next.items.filter((one) => !search || fits(one, search.toLowerCase())));
    if (page === COPIED_PAGES && pages > page) notify("plain", `The first ${counted(page * PAGE, "issue")} are copied`);
  }
  const cells = (one) => [one.severity, nameOf(one), what(one), valued(one.internal_value, one), valued(one.trustee_value, one), one.primary_identifier];
  await copy(tsv([["Severity", "Loan", "What differs", "Ours", "Tape", "Identifier"], ...rows.map(cells)]), `${counted(rows.length, "issue")} copied`);
}

/** The issues of a query with one status: {items, total, error, see, review, undo, again}; `all(items)`: whether all are wanted. */
function useQueue(query, all) {
  const [state, setState] = useState({ items: [] });
  const [last, see] = useState(0);
  const now = useRef({ turn: 0, changes: Promise.resolve(), reviews: [] }).current;
  const start = (next) => {
    now.turn += 1; // an answer to what was asked before counts for nothing
    setState(next);
  };
  const again = () => start({ items: [] });
  useEffect(again, [JSON.stringify(query)]);
  const read = async (turn) => {
    now.reading = turn;
    const page = Math.floor(state.items.length / PAGE) + 1;
    await now.changes;
    const next = await get(PATH, { ...query, page, page_size: PAGE }).catch((error) => ({ error, items: [] }));
    if (turn !== now.turn) return;
    now.reading = null;
    setState({ ...next, items: [...state.items.slice(0, (page - 1) * PAGE), ...next.items] });
  };
  useEffect(() => {
    const least = all(state.items) ? Infinity : last + AHEAD;
    if (!state.error && now.reading !== now.turn && state.items.length < Math.min(least, state.total ?? 1)) read(now.turn);
  });
  /** One change after the other: what fails is said, and the queue read again. */
  const change = (task) => {
    now.changes = now.changes.then(task).catch((error) => {
      complain(error);
      again();
    });
    clearTimeout(now.timer);
    now.timer = setTimeout(() => now.changes.then(() => refreshData(`${PATH}/summary`)), PAUSE_MS);
  };
  const undo = () => change(async () => {
    const review = now.reviews.pop();
    if (!review) return;
    dismiss(now.notice);
    await patch(PATH, review);
    again();
  });
  /** Set the status of issues, or of all that the query finds (null). */
  const review = (status, issues) => {
    const ids = issues?.map(({ id }) => id);
    const items = state.items.filter((one) => issues && !issues.includes(one));
    start({ items, total: issues && state.total - ids.length });
    change(async () => {
      const { updated, reviewed_at } = await patch(PATH, ids ? { status, ids } : { status, filter: query });
      now.reviews.push({ status: query.status, filter: { tape_id: query.tape_id, reviewed_at } });
      dismiss(now.notice);
      now.notice = notify("good", `${counted(updated, "issue")}: ${words(status)}`, { action: { label: "Undo (u)", run: undo } });
    });
  };
  return { ...state, see, review, undo, again };
}
