// Every test of a month: status, figure, limit, cushion and trend; what is behind each opens beside it.
import { html, useEffect, useRef } from "../parts/html.js";
import { download, post, settled } from "../api.js";
import { can, labelled, notify, route, setQuery, setWork } from "../state.js";
import { Against } from "../parts/against.js";
import { refreshData, useData, useTask } from "../parts/data.js";
import { DealScreen } from "../parts/deal.js";
import { Drill, Known, SUITES, useChosen } from "../parts/drill.js";
import { addFiles } from "../parts/drop.js";
import { Sparkline, Status } from "../parts/figures.js";
import { Select } from "../parts/form.js";
import { counted, day, figure, limit, moment, words } from "../parts/format.js";
import { useKeys } from "../parts/keys.js";
import { Empty, Loaded, Problem } from "../parts/problem.js";
import { Table } from "../parts/table.js";

const ORDERS = [{ value: "", label: "Thinnest cushion first" }, { value: "suite", label: "Order of the suite" }];
const TREND_DAYS = 200; // before the month: six months and some
const TREND_MONTHS = 6;
const SHOWS = {
  fail: ({ status }) => status === "fail", warning: ({ status }) => status === "warning", pass: ({ status }) => status === "pass",
  doubtful: ({ doubtful }) => doubtful, skipped: ({ reason }) => reason !== undefined,
};

export default function Compliance({ id }) {
  return html`<${DealScreen} id=${id} title="Compliance">${({ deal, months, month }) => (month
    ? html`<${Month} key=${month.id} deal=${deal} month=${month} />` : html`<${NoMonth} deal=${deal} months=${months} />`)}<//>`;
}

function NoMonth({ deal, months }) {
  return html`<${Empty} title=${months.length ? "The file is being read" : "No month yet"}>
    <p>${months.length ? "The tests can run as soon as it is ready." : "Drop the trustee's report or a holdings file here to run the tests."}</p>
    ${can("workbooks:write") && html`<button class="primary" onClick=${() => addFiles(null, { deal: deal.id })}>Add a file</button>`}<//>`;
}

function Month({ deal, month }) {
  const { query } = route.value;
  const suite = query.get("suite");
  const asked = query.get("run");
  const runs = useData("compliance/history", { workbook_id: month.id, test_suite: suite, status: "completed", page_size: 20 });
  const newest = runs.data?.items.find(({ partial }) => !partial);
  const shown = asked && asked !== "now" ? asked : newest?.id;
  const run = useData(shown ? `compliance/results/${encodeURIComponent(shown)}` : null);
  const last = useRef(null); // stays in sight until the next run is there
  if (run.data) last.current = run.data;
  const name = suite ?? last.current?.test_suite ?? (deal.definition_version > 0 ? "deal" : "enhanced");
  const task = useTask(() => running(deal, month, name));
  useEffect(() => {
    if (asked === "now" && can("compliance:write")) task.run();
    else if (asked === "now") setQuery({ run: null });
  }, [asked]);
  const again = can("compliance:write") && html`<button class=${run.data ? "" : "primary"} disabled=${task.busy} onClick=${task.run}>${task.busy ? "Running" : run.data ? "Run again" : "Run the tests"}</button>`;
  return html`<div class="row">
      <${Select} label="Tests" name="suite" value=${name} options=${SUITES} onChange=${(value) => setQuery({ suite: value, run: null, test: null })} />
      ${run.data && html`<${Choices} run=${run.data} />`}<span class="actions">${again}${run.data && html`<${Pdf} run=${run.data} />`}</span>
    </div>
    <${Problem} error=${task.error} retry=${task.run} />
    ${runs.data && !shown ? !task.busy && asked !== "now" && html`<${Empty} title="Not run yet"><p>Run the tests to see every figure with its cushion.</p><//>`
      : html`<${Loaded} from=${runs.error ? runs : { ...run, data: run.data ?? (last.current?.test_suite === name ? last.current : undefined) }}>${(data) => html`<${Tests} run=${data} deal=${deal} changed=${() => running(deal, month, data.test_suite)} />`}<//>`}`;
}

/** Run a suite and read what it changes. */
async function running(deal, month, suite) {
  setWork("run", { label: "Running the tests", share: null });
  try {
    await post("compliance/run", { workbook_id: month.id, test_suite: suite });
    refreshData("compliance/history", `deals/${deal.id}`, "console/overview");
  } finally {
    setWork("run", null);
    setQuery({ run: null });
  }
}

function Choices({ run }) {
  const { query } = route.value;
  const categories = [...new Set(run.results.map(({ category }) => category))];
  const choose = (name) => (value) => setQuery({ [name]: value });
  return html`<${Select} label="Category" name="category" value=${query.get("category") ?? ""} onChange=${choose("category")}
      options=${[{ value: "", label: "All" }, ...categories.map((value) => ({ value, label: words(value) }))]} />
    <${Select} label="Order" name="order" value=${query.get("order") ?? ""} options=${ORDERS} onChange=${choose("order")} />`;
}

function Pdf({ run }) {
  const task = useTask(async () => {
    const { id } = await post("reports/generate", { report_type: "compliance", workbook_id: run.workbook_id, run_id: run.id });
    const report = await settled(`reports/${id}`, ({ status }) => status === "completed" || status === "failed", { label: "Making the PDF" });
    if (report.status === "failed") notify("bad", report.error_details);
    else await download(`reports/${id}/download`);
  });
  return can("reports:generate") && can("reports:read") && html`<button disabled=${task.busy} onClick=${task.run}>PDF</button><${Problem} error=${task.error} />`;
}

function Tests({ run, deal, changed }) {
  const { query } = route.value;
  const history = useData(`deals/${deal.id}/history`, { start_date: before(run.as_of), end_date: run.as_of });
  const trends = new Map((history.data?.series ?? []).map((series) => [series.test_id, series.points.slice(-TREND_MONTHS)]));
  const all = [...run.results, ...run.skipped];
  const rows = filtered(all, query);
  const { row, open, close, next, shown } = useChosen(all);
  useKeys(row && can("compliance:write") ? [{ key: "e", what: "Change the limit", run: () => setQuery({ edit: "limit" }) }] : []);
  return html`<p class="muted">As of ${day(run.as_of)}, run ${moment(run.executed_at)}${run.partial && ", some tests only"}</p>
    <${Counts} run=${run} />
    <${Known} warnings=${run.warnings} />
    ${rows.length ? html`<${Table} caption="Tests" columns=${columnsOf(run, trends, row !== undefined)} rows=${rows} keyOf=${(one) => one.test_id} open=${open} shown=${shown} selected=${(one) => one === row} />`
      : html`<${Empty} title="No test is so"><button onClick=${() => setQuery({ category: null, status: null })}>Show all tests</button><//>`}
    ${row && html`<${Drill} ...${{ row, run, deal, changed, close, next }} />`}`;
}

function before(text) {
  return new Date(Date.parse(text) - TREND_DAYS * 86_400_000).toISOString().slice(0, 10);
}

function filtered(rows, query) {
  const [category, status] = [query.get("category"), query.get("status")];
  const shown = rows.filter((row) => (!category || row.category === category) && (!status || SHOWS[status]?.(row)));
  return query.get("order") === "suite" ? shown : shown.sort((one, other) => thinness(one) - thinness(other));
}

/** Cushion in percent of the limit; what has none of its limit comes by its sign, what has no result last. */
function thinness({ cushion_pct: share, cushion, reason }) {
  if (reason !== undefined) return Number.MAX_VALUE;
  return share ?? (cushion < 0 ? -Number.MAX_VALUE : Number.MAX_VALUE / 2);
}

/** How many pass, warn, fail: each a filter. */
function Counts({ run }) {
  const { passed, failed, warnings, skipped, doubtful, total } = run.summary;
  const worst = failed ? "fail" : warnings ? "warning" : "pass";
  const chosen = route.value.query.get("status");
  const counts = [["pass", passed, "pass"], ["warning", warnings, "warn"], ["fail", failed, "fail"], ["doubtful", doubtful, "doubtful"], ["skipped", skipped, "without a result"]];
  return html`<div class=${`banner counts ${worst}`} role="group" aria-label="Tests by status">
    <strong class=${worst}>${failed ? `${failed} of ${counted(total, "test")} ${failed === 1 && total !== 1 ? "fails" : "fail"}` : warnings ? `No test fails, ${warnings} warn` : "All tests pass"}</strong>
    ${counts.filter(([name, count]) => count > 0 || name === "skipped").map(([name, count, text]) => html`<button class=${`plain ${name}`} disabled=${count === 0} aria-pressed=${String(chosen === name)} onClick=${() => setQuery({ status: chosen === name ? null : name })}>${count} ${text}</button>`)}
  </div>`;
}

function columnsOf(run, trends, narrow) {
  const isPublished = [...run.results, ...run.skipped].some(({ published }) => published);
  const form = (row, value, options) => figure(value, row.unit, row.decimals, options);
  const columns = [
    { key: "test_name", label: "Test", value: ({ test_name: name }) => labelled(name) },
    { key: "status", label: "Status", className: "short-status", value: ({ status }) => status ?? "no result", show: (row) => html`<${Status} status=${row.status ?? "no result"} doubtful=${row.doubtful} />` },
    { key: "current_value", label: "Now", number: true, show: (row) => (row.reason === undefined ? form(row, row.current_value) : html`<small class="muted reason">${labelled(row.reason)}</small>`) },
    isPublished && { key: "published", label: "Trustee", number: true, value: ({ published }) => published?.value, show: (row) => html`<${Beside} row=${row} />` },
    { key: "threshold_value", label: "Limit", number: true, className: "muted narrow-off", show: (row) => (row.status ? limit(row) : "–") },
    { key: "cushion", label: "Cushion", number: true, show: (row) => html`<span class=${row.status ?? ""}>${form(row, row.cushion, { sign: true })}</span>` },
    !narrow && { key: "against", label: "Against the limit", sortable: false, copied: false, className: "narrow-off", show: (row) => row.status && html`<${Against} row=${row} />` },
    { key: "trend", label: "6 months", sortable: false, copied: false, className: "narrow-off", show: (row) => html`<${Trend} row=${row} points=${trends.get(row.test_id)} />` },
  ];
  return columns.filter(Boolean);
}

/** The trustee's figure, and whether ours agrees. */
function Beside({ row: { published, unit, decimals } }) {
  if (!published) return "–";
  const mark = { true: ["pass", "✓", "agrees"], false: ["warning", "≠", "differs"] }[published.agrees];
  return html`${figure(published.value, unit, decimals)}${mark && html` <span class=${mark[0]}><span aria-hidden="true">${mark[1]}</span><span class="off-screen">${mark[2]}</span></span>`}`;
}

function Trend({ row, points = [] }) {
  const text = points.length ? `From ${figure(points[0].value, row.unit, row.decimals)} to ${figure(points.at(-1).value, row.unit, row.decimals)}` : "";
  return html`<${Sparkline} values=${points.map(({ value }) => value)} limits=${points.map(({ threshold }) => threshold)} label=${text} />`;
}
