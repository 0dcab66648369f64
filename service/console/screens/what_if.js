// What trades would do: a ticket, kept through a reload, and every test before and after while it is typed.
import { html, useEffect, useState } from "../parts/html.js";
import { patch, post, remove } from "../api.js";
import { can, label, labelled, route, setQuery } from "../state.js";
import { refreshData, useData, useTask } from "../parts/data.js";
import { DealScreen } from "../parts/deal.js";
import { confirmed, Dialog } from "../parts/dialog.js";
import { Known } from "../parts/drill.js";
import { Status } from "../parts/figures.js";
import { Field, faultsOf, Form, Select } from "../parts/form.js";
import { counted, figure, limit, number } from "../parts/format.js";
import { Empty, Loaded, Problem } from "../parts/problem.js";
import { Table } from "../parts/table.js";
import { tradeOf, useTicket, usePreview, Ticket } from "../parts/ticket.js";

export default function WhatIf({ id }) {
  return html`<${DealScreen} id=${id} title="What-if">${({ month }) => (month
    ? html`<${Desk} key=${month.id} month=${month.id} />`
    : html`<${Empty} title="No month to trade on"><p>Add a file of the deal first.</p><//>`)}<//>`;
}

function Desk({ month }) {
  const [rows, keep] = useTicket(month);
  const chosen = route.value.query.get("scenario");
  const set = (next) => {
    if (next.length === 0) setQuery({ scenario: null });
    keep(next);
  };
  const trades = rows.map(tradeOf).filter(Boolean);
  const { data, error, busy } = usePreview(month, trades);
  const stored = useData(chosen && `scenarios/${chosen}/trades`).data;
  useEffect(() => {
    if (stored && rows.length === 0) keep(stored.map(rowOf));
  }, [stored]);
  const same = stored && spelt(stored.map(rowOf)) === spelt(rows);
  const [asked, ask] = useState(null);
  let place = 0;
  const faults = rows.map((row) => tradeOf(row) && faultsOf(error, String(place++)));
  const headroom = (at) => html` <button class="plain" aria-label=${`Headroom of trade ${at + 1}`} onClick=${() => ask(stored[at].id)}>Headroom</button>`;
  return html`<div class="columns desk">
    <div><h2>Ticket</h2>
      <${Ticket} workbook=${month} ...${{ rows, set, faults }} action=${same && headroom} />
      <${Scenarios} ...${{ month, trades, same, chosen, open: (id) => { keep([]); setQuery({ scenario: id }); } }} />
      ${same && data && can("scenarios:write") && html`<${Optimiser} key=${chosen} scenario=${chosen} month=${month} results=${data.results} take=${(more) => keep([...rows, ...more])} />`}</div>
    <div><h2>Every test before and after${busy && " …"}</h2>
      <${Problem} error=${error} except=${({ loc }) => loc?.includes("trades")} />
      ${data && html`<${Outcome} ...${data} />`}</div>
    ${asked && html`<${Headroom} scenario=${chosen} trade=${asked} close=${() => ask(null)} />`}
  </div>`;
}

/** A stored trade as a row of the ticket. */
const rowOf = ({ id, scenario_id, created_at, warnings, ...trade }) => ({ ...trade, key: id });

/** Rows as a text that is the same for the same trades. */
const spelt = (rows) => JSON.stringify(rows.map((row) => Object.entries(tradeOf(row) ?? {}).sort()));

const RANK = ["fail", "warning", "pass"];
const form = (row, value, options) => figure(value, row.unit, row.decimals, options);
const change = (row) => Number((row.cushion_projected - row.cushion_current).toFixed(row.decimals));
const turned = (row) => row.status_current !== row.status_projected;
const NAME = { key: "test_name", label: "Test", value: (row) => labelled(row.test_name) };
const column = (key, label, more) => ({ key, label, number: true, show: (row) => form(row, row[key]), ...more });
const COLUMNS = [
  NAME,
  { key: "status", label: "Status", className: "short-status", value: (row) => row.status_projected, show: (row) => html`
    ${turned(row) && html`<${Status} status=${row.status_current} /> → `}<${Status} status=${row.status_projected} doubtful=${row.doubtful} />` },
  column("current_value", "Before"), column("projected_value", "After"), column("threshold_value", "Limit", { show: limit, className: "muted narrow-off" }),
  column("cushion_projected", "Cushion", { className: "narrow-off" }),
  { key: "change", label: "Cushion ±", number: true, value: change, show: (row) => (change(row) ? html`<span class=${change(row) < 0 ? "fail" : "pass"}>${form(row, change(row), { sign: true })}</span>` : "–") },
];

/** Changed statuses first, the worst before the others, then what moved, then the rest in the order of the suite. */
const weight = (row) => (turned(row) || row.status_projected === "fail" ? RANK.indexOf(row.status_projected) : change(row) ? 3 : 4);

function Outcome({ results, skipped, warnings, new_failures: fails, impact_summary: { improve, worsen } }) {
  return html`<p class=${`banner ${fails ? "fail" : "pass"}`}><strong>${fails ? counted(fails, "new failure") : "No new failure"}</strong> <span>${improve} improve</span><span>${worsen} worsen</span></p>
    <${Known} warnings=${warnings} />
    <${Table} caption="Tests before and after" rows=${[...results].sort((one, other) => weight(one) - weight(other))} columns=${COLUMNS} keyOf=${(row) => row.test_id} selected=${turned} />
    ${skipped.length > 0 && html`<p class="muted">Without a figure: ${skipped.map((one) => labelled(one.test_name)).join(", ")}</p>`}`;
}

/** Tickets that were kept: to open, rename and delete; headroom and proposals are of one of them. */
function Scenarios({ month, trades, same, chosen, open }) {
  const list = useData("scenarios", { page_size: 100 });
  const mine = (list.data?.items ?? []).filter((one) => one.base_workbook_id === month);
  const [naming, setNaming] = useState(null);
  const drop = useTask(async ({ id, name }) => {
    if (!(await confirmed(`Delete ${name}?`, "Its trades are deleted with it.", "Delete"))) return;
    if (id === chosen) setQuery({ scenario: null });
    await remove(`scenarios/${id}`);
    refreshData("scenarios");
  });
  const save = async (name) => {
    const { id } = await post("scenarios", { name, base_workbook_id: month, trades });
    setQuery({ scenario: id });
    refreshData("scenarios");
  };
  const rename = ({ id, name: former }) => setNaming({ title: "Rename the scenario", name: former, run: async (name) => {
    await patch(`scenarios/${id}`, { name });
    refreshData("scenarios");
  } });
  const writes = can("scenarios:write");
  return html`<h2>Scenarios</h2>
    <${Loaded} from=${list}>${() => html`<ul class="kept">${mine.map((one) => html`<li key=${one.id} class="row"><button class="plain" aria-pressed=${String(one.id === chosen)} onClick=${() => open(one.id)}>${one.name}</button>
        ${writes && html`<button class="plain" aria-label=${`Rename ${one.name}`} onClick=${() => rename(one)}>Rename</button><button class="plain" aria-label=${`Delete ${one.name}`} onClick=${() => drop.run(one)}>Delete</button>`}</li>`)}</ul>`}<//>
    ${!same && html`<p class="muted">Of a scenario that is kept the headroom shows, and trades can be proposed for it.</p>
      ${writes && trades.length > 0 && html`<button onClick=${() => setNaming({ title: "Keep as a scenario", run: save })}>Keep as a scenario</button>`}`}
    <${Problem} error=${drop.error} />
    ${naming && html`<${Naming} ...${naming} close=${() => setNaming(null)} />`}`;
}

function Naming({ title, name, run, close }) {
  const task = useTask(async (fields) => {
    await run(fields.name);
    close();
  });
  return html`<${Dialog} title=${title} close=${close}><${Form} task=${task} action="Save" onSubmit=${task.run}>
    <${Field} label="Name" name="name" required maxlength="200" value=${name} error=${task.error} /><//><//>`;
}

/** How much more of a trade each test bears, the least first. */
function Headroom({ scenario, trade, close }) {
  const from = useData(`scenarios/${scenario}/headroom`, { trade_id: trade });
  return html`<${Dialog} title="Headroom" close=${close}><${Loaded} from=${from}>${({ tests, most, trade: { trade_type: side, borrower_name: name, cusip } }) => html`
    <p>Par that may be ${side === "buy" ? "bought" : "sold"} of ${name ?? cusip} after the ticket until a test fails, up to ${number(most)}</p>
    <${Table} caption="Headroom" keyOf=${(row) => row.test_id} rows=${tests} start=${{ key: "headroom", way: "ascending" }} columns=${[
      NAME, { key: "headroom", label: "Par", number: true, show: ({ headroom }) => (headroom === null ? "any" : number(headroom)) }]} />`}<//><//>`;
}

const KEEPS = [{ value: "pass", label: "All pass" }, { value: "maintain", label: "No new failure" }, { value: "free", label: "Any result" }];

function Optimiser({ scenario, month, results, take }) {
  const overview = useData("console/overview");
  const pools = (overview.data?.items ?? []).map(({ name, months }) => ({ label: name, value: months.at(-1)?.workbook_id })).filter(({ value }) => value && value !== month);
  const [proposed, setProposed] = useState(null);
  const task = useTask(async ({ objective, universe, tests, most, turnover, sells }) => {
    const constraints = { tests, max_trades: Number(most), max_turnover: turnover ? Number(turnover) : null, allow_sells: sells === "on" };
    setProposed(await post(`scenarios/${scenario}/optimize`, { objective, universe, constraints }));
  });
  const row = proposed && results.find((one) => one.test_id === proposed.objective);
  const tests = RANK.flatMap((status) => results.filter((one) => one.status_projected === status));
  return html`<h2>Have trades proposed</h2>
    <${Form} task=${task} action="Propose" onSubmit=${task.run}>
      <${Select} label="Test to improve" name="objective" options=${tests.map((one) => ({ value: one.test_id, label: NAME.value(one) }))} />
      <${Select} label="Other tests" name="tests" options=${KEEPS} />
      <${Select} label="Buy loans of" name="universe" options=${[{ value: month, label: "This portfolio" }, ...pools]} />
      <div class="row"><${Field} label="Trades at most" name="most" type="number" min="0" max="100" value="10" required />
        <${Field} label="Turnover at most (par)" name="turnover" type="number" min="0" step="any" /></div>
      <label class="choice"><input type="checkbox" name="sells" checked /> Sales, too</label><//>
    ${proposed && html`<p class="banner" role="status">${proposed.trades.length ? html`<span>${counted(proposed.trades.length, "trade")}: cushion from ${form(row, proposed.cushion_before)} to ${form(row, proposed.cushion_after)}</span>
      <button onClick=${() => { take(proposed.trades); setProposed(null); }}>Take into the ticket</button>` : "No trades were found that help"}</p>`}`;
}
