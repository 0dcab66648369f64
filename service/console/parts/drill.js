// What is behind a test's figure: how it is worked out, its parts, its months, the cells that it came from.
import { html, useEffect, useMemo, useRef } from "./html.js";
import { download } from "../api.js";
import { can, href, label, labelled, route, setQuery } from "../state.js";
import { Chart } from "./chart.js";
import { useData, useTask } from "./data.js";
import { Status } from "./figures.js";
import { counted, figure, limit, number, pageLine, withoutPages, words } from "./format.js";
import { useKeys } from "./keys.js";
import { Limit } from "./limit.js";
import { Loaded, Problem } from "./problem.js";
import { Table } from "./table.js";

const PAGE = 50; // parts at a time
const AVERAGE = ["weight", "value", "units"];
const OTHERWISE = ["rating", "price"];
const SOURCES = {
  request: "for this run alone", workbook: "for this file", deal: "for this deal", definition: "by the definition",
  sheet: "by the file's own trigger", tenant: "for all deals", suite: "by the suite",
};

export const SUITES = [
  { value: "deal", label: "Deal's tests" }, { value: "enhanced", label: "Enhanced tests" }, { value: "standard", label: "Standard tests" },
];

/**
 * The test of the address among all, and the ways to another: {row, open(test), close(), next(step)}, with their keys.
 * `shown` is for the table, which says in what order its rows are.
 */
export function useChosen(all) {
  const shown = useRef([]);
  const id = route.value.query.get("test");
  const row = all.find(({ test_id: one }) => one === id);
  const open = (test) => setQuery({ test: test?.test_id, edit: null, part: null }, { replace: row !== undefined && test !== null });
  const close = () => open(null);
  const next = (step) => {
    const rows = shown.current;
    if (rows.length) open(rows[Math.max(0, Math.min(rows.length - 1, rows.indexOf(row) + step))]);
  };
  useKeys([
    { key: "j", what: "Next test", run: () => next(1) }, { key: "k", what: "Previous test", run: () => next(-1) },
    ...(row ? [{ key: "Escape", what: "Close the test", run: () => (route.value.query.get("edit") ? setQuery({ edit: null }) : close()) }] : []),
  ]);
  return { row, open, close, next, shown };
}

/** What to know before relying on figures or loans: the warnings of a run or of a file. */
export function Known({ warnings, of = "figures" }) {
  return warnings.length > 0 && html`<details class="note"><summary>${counted(warnings.length, "thing")} to know before relying on these ${of}</summary>
    <ul>${warnings.map(({ message }) => html`<li>${labelled(message)}</li>`)}</ul></details>`;
}

/** A panel beside the tests, over the page where it is narrow. */
export function Panel({ title, close, next, children }) {
  const heading = useRef(null);
  useEffect(() => {
    const before = document.activeElement;
    const panel = heading.current.parentElement;
    return () => panel.contains(document.activeElement) && before?.isConnected && before.focus(); // else somebody types elsewhere by now
  }, []);
  useEffect(() => {
    heading.current.focus({ preventScroll: true });
    document.querySelector("tr.selected")?.scrollIntoView({ block: "nearest" });
  }, [title]);
  return html`<aside class="drill" aria-label=${title}>
    <div class="drill-keys"><button class="plain" onClick=${close}>Close (Esc)</button>
      ${next && html`<span><button class="plain" onClick=${() => next(-1)}>Previous (k)</button> <button class="plain" onClick=${() => next(1)}>Next (j)</button></span>`}</div>
    <h2 tabindex="-1" ref=${heading}>${title}</h2>
    ${children}
  </aside>`;
}

/** The panel of one result; `changed()` runs the tests again after its limit was set. */
export function Drill({ row, run, deal, changed, close, next }) {
  const { details, doubt = [], published } = row;
  return html`<${Panel} title=${labelled(row.test_name)} close=${close} next=${next}>
    ${row.status && html`<p class=${`figure ${row.status}`}>${figure(row.current_value, row.unit, row.decimals)}</p>
    <p><${Status} status=${row.status} doubtful=${row.doubtful} /> ${standing(row)}</p>`}
    ${row.reason && html`<p>No result: ${labelled(row.reason)}</p>`}
    ${doubt.length > 0 && html`<div class="note"><strong>${row.doubtful ? "The status may be wrong" : "To know"}</strong>
      <ul>${doubt.map(({ message, places }) => html`<li>${labelled(message)} <${Cells} cells=${places} run=${run} deal=${deal} /></li>`)}</ul></div>`}
    ${published && html`<${Published} ...${{ published, row, run, deal }} />`}
    <h3>How it is worked out</h3>
    ${details && html`<p><code>${labelled(details.formula)}</code></p>`}
    <${Fraction} breakdown=${details?.breakdown} />
    ${details?.cell_refs.length > 0 && html`<p>from <${Cells} cells=${details.cell_refs} run=${run} deal=${deal} /></p>`}
    ${row.status && html`<p>Limit ${limit(row)}, set ${SOURCES[row.threshold_source] ?? "before this was recorded"}</p>`}
    ${row.status && can("compliance:write") && html`<${Limit} key=${row.test_id} ...${{ row, run, deal, changed }} />`}
    <h3>Through the months</h3>
    <${Months} row=${row} deal=${deal} />
    ${row.status && html`<${Parts} key=${row.test_id} row=${row} run=${run} deal=${deal} />`}
  <//>`;
}

/** How far a figure is from its limit. The result's own message says it in other numbers; it stays where it says more: of how much par it is. */
function standing({ cushion, threshold_type: direction, status, unit, decimals, message, details }) {
  if (cushion === null || message.includes("(covers ")) return labelled(message);
  const size = figure(Math.abs(cushion), unit, decimals);
  if (direction === "exact") return cushion < 0 ? `${size} from the level that is required` : "At the level that is required";
  const level = status === "warning" ? details?.breakdown?.warning_threshold ?? null : null;
  return cushion < 0 ? `${size} beyond the limit` : `${size} of cushion to the limit${level === null ? "" : `, the warning level is ${figure(level, unit, decimals)}`}`;
}

function Published({ published, row, run, deal }) {
  const verdict = published.agrees === null ? "" : published.agrees ? "it agrees" : `ours differs by ${figure(published.difference, row.unit, row.decimals, { sign: true })}`;
  return html`<p>The trustee prints <strong>${figure(published.value, row.unit, row.decimals)}</strong>${published.status && `, ${published.status}`}
    ${verdict && html`: <span class=${published.agrees ? "pass" : "warning"}>${verdict}</span>`} <${Cells} cells=${[published.place]} run=${run} deal=${deal} /></p>`;
}

function Fraction({ breakdown = {} }) {
  const { numerator, denominator, agencies } = breakdown;
  const amount = (value) => number(value, Math.abs(value) < 1000 ? 2 : 0);
  return html`${typeof numerator === "number" && html`<p>${amount(numerator)} ${typeof denominator === "number" && `/ ${amount(denominator)}`}</p>`}
    ${agencies && html`<p>${Object.entries(agencies).map(([name, share]) => `${label(name)} ${number(share, 2)} %`).join(", ")}</p>`}`;
}

/** The sheet's picture, at a cell; page and line behind it are for people. */
function cellOf(place, run, deal) {
  return href("deals", deal.id, "mapping", { workbook: run.workbook_id, cell: withoutPages(place) });
}

function Cells({ cells = [], run, deal }) {
  return cells.map((cell) => html`<a class="cell-link" href=${cellOf(cell, run, deal)}><code>${cell}</code></a> `);
}

function Months({ row, deal }) {
  const history = useData(`deals/${deal.id}/history`, { test_id: row.test_id });
  const test = history.data?.series[0];
  const { days, series } = useMemo(() => linesOf(test?.points ?? []), [test]);
  return html`<${Loaded} from=${history}>${() => days.length === 0 ? html`<p class="muted">No month was run yet.</p>`
    : html`<${Chart} label=${`${labelled(row.test_name)} by month`} days=${days} series=${series} format=${(value) => figure(value, test.unit, test.decimals)} />`}<//>`;
}

function linesOf(points) {
  const series = [
    { label: "Figure", kind: "figure", values: points.map(({ value }) => value) },
    { label: "Limit", kind: "limit", values: points.map(({ threshold }) => threshold) },
  ];
  return { days: points.map(({ as_of: at }) => at), series };
}

function Parts({ row, run, deal }) {
  const path = `compliance/results/${run.id}/tests/${row.test_id}/parts`;
  const offset = Number(route.value.query.get("part")) || 0;
  const parts = useData(path, { offset, limit: PAGE });
  const save = useTask(() => download(path, { query: { format: "csv" } }));
  return html`<h3>What is behind it</h3><${Problem} error=${save.error} />
    <${Loaded} from=${parts}>${(data) => data.total === 0 ? html`<p class="muted">${labelled(data.reason ?? "Nothing counts towards it.")}</p>` : html`
      <${Sum} data=${data} /><${Room} room=${data.room} status=${row.status} />
      <${Table} caption=${`What is behind ${labelled(row.test_name)}`} columns=${columnsOf(data, { run, deal })} rows=${data.items} keyOf=${keyOf} />
      <p class="drill-keys"><span>${number(offset + 1)} to ${number(offset + data.items.length)} of ${number(data.total)}
        ${data.total > PAGE && html` <button disabled=${offset === 0} onClick=${() => setQuery({ part: Math.max(0, offset - PAGE) || null })}>Before</button>
        <button disabled=${offset + PAGE >= data.total} onClick=${() => setQuery({ part: offset + PAGE })}>More</button>`}</span>
        <button disabled=${save.busy} onClick=${save.run}>Save all as CSV</button></p>`}<//>`;
}

function keyOf({ kind, name, place, row, amount }) {
  return [kind, name, place, row, amount].join(" ");
}

function Sum({ data }) {
  const loans = data.items.every(({ kind }) => kind === "loan");
  const what = loans ? counted(data.total, "loan") : counted(data.total, "part");
  return html`<p class=${data.adds_up ? "pass" : "warning"}>${data.adds_up
    ? `✓ ${what}: their amounts add up to the numerator, ${number(data.numerator, 0)}`
    : `${what}: their amounts add up to ${number(data.sum, 0)}, the numerator is ${number(data.numerator, 0)}. ${labelled(data.reason ?? "")}`}</p>`;
}

/** For a share: how much to trade until the limit is met. */
function Room({ room, status }) {
  if (!room) return null;
  const verb = status === "fail" ? "must" : "can";
  const rows = [["bought", room.buy], ["sold", room.sell]].filter(([, par]) => par > 0);
  return rows.map(([done, par]) => html`<p><strong>${number(par, 0)}</strong> of par ${verb} be ${done} until the limit is met, at an unchanged denominator.</p>`);
}

/** Few columns have room: of an average weight and value, else rating and price; the rest stands below the name. */
function columnsOf({ columns, items }, { run, deal }) {
  const known = (name) => columns.includes(name) && items.some(({ fields }) => (fields[name] ?? null) !== null);
  const shown = AVERAGE.some(known) ? AVERAGE.filter(known) : OTHERWISE.filter(known);
  const isMixed = items.some(({ kind }) => kind !== items[0].kind);
  const below = ({ kind, fields, page, line }) => [isMixed && kind !== "loan" && kind, fields.facility, pageLine(page, line)].filter(Boolean).join(", ");
  const write = (value) => (typeof value === "number" ? number(value, Math.abs(value) < 1000 ? 2 : 0) : value ?? "–");
  return [
    { key: "name", label: "Name", show: (part) => html`${part.place ? html`<a class="cell-link" href=${cellOf(part.place, run, deal)}>${part.name}</a>` : labelled(part.name)}<small class="muted below">${below(part)}</small>` },
    ...shown.map((name) => ({ key: name, label: words(name), number: items.some(({ fields }) => typeof fields[name] === "number"), value: ({ fields }) => fields[name], show: ({ fields }) => write(fields[name]) })),
    { key: "amount", label: "Amount", number: true, show: ({ amount }) => write(amount) },
  ];
}
