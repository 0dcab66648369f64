// What trades would do: a ticket, and every test before and after while it is typed.
import { html, useEffect, useState } from "../parts/html.js";
import { patch, post, remove } from "../api.js";
import { can, labelled, route, setQuery } from "../state.js";
import { refreshData, useData, useTask } from "../parts/data.js";
import { DealScreen } from "../parts/deal.js";
import { confirmed, Dialog } from "../parts/dialog.js";
import { Known } from "../parts/drill.js";
import { Status } from "../parts/figures.js";
import { Field, faultsOf, Form, Select } from "../parts/form.js";
import { counted, figure, limit, number } from "../parts/format.js";
import { Empty, Loaded, Problem } from "../parts/problem.js";
import { Table } from "../parts/table.js";
import { Ticket, tradeOf, usePreview, useTicket } from "../parts/ticket.js";

export default function WhatIf({ id }) {
  return html`<${DealScreen} id=${id} title="What-if">${({ month }) => (month
    ? html`<${Desk} key=${month.id} month=${month} />`
    : html`<${Empty} title="No month to trade on"><p>Add a file of the deal first.</p><//>`)}<//>`;
}

function Desk({ month }) {
  const [rows, keep] = useTicket(month.id);
  const chosen = route.value.query.get("scenario");
  const set = (next) => {
    if (next.length === 0) setQuery({ scenario: null });
    keep(next);
  };
  const trades = rows.map(tradeOf).filter(Boolean);
  const preview = usePreview(month.id, trades);
  const stored = useData(chosen ? `scenarios/${chosen}/trades` : null);
  useEffect(() => {
    if (stored.data && rows.length === 0) keep(stored.data.map(rowOf));
  }, [stored.data]);
  const same = Boolean(stored.data) && spelt(stored.data.map(rowOf)) === spelt(rows);
  const [asked, ask] = useState(null);
  let place = 0;
  const faults = rows.map((row) => tradeOf(row) && faultsOf(preview.error, String(place++)));
  const headroom = (at) => html`<button class="plain" onClick=${() => ask(stored.data[at].id)}>Headroom<span class="off-screen"> of trade ${at + 1}</span></button>`;
  return html`<div class="columns desk">
    <div><h2>Ticket</h2>
      <${Ticket} workbook=${month.id} ...${{ rows, set, faults }} action=${same && headroom} />
      <${Scenarios} ...${{ month, trades, same, chosen, open: (id) => { keep([]); setQuery({ scenario: id }); } }} />
      ${same && can("scenarios:write") && preview.data && html`<${Optimiser} key=${chosen} ...${{ scenario: chosen, month, results: preview.data.results, take: (more) => keep([...rows, ...more]) }} />`}</div>
    <div><h2>Every test before and after ${preview.busy && html`<small class="muted" role="status">working</small>`}</h2>
      <${Problem} error=${preview.error} except=${({ loc }) => faults.some((one) => one?.length) && loc?.includes("trades")} />
      ${preview.data && html`<${Outcome} data=${preview.data} />`}</div>
    ${asked && html`<${Headroom} scenario=${chosen} trade=${asked} close=${() => ask(null)} />`}
  </div>`;
}

/** A stored trade as a row of the ticket. */
function rowOf({ id, scenario_id, created_at, warnings, ...trade }) {
  return { ...trade, key: id };
}

/** Rows as a text that is the same for the same trades. */
const spelt = (rows) => JSON.stringify(rows.map((row) => Object.entries(tradeOf(row) ?? {}).sort()));

const RANK = ["fail", "warning", "pass"];
const form = (row, value, options) => figure(value, row.unit, row.decimals, options);
const change = (row) => Number((row.cushion_projected - row.cushion_current).toFixed(row.decimals));
const turned = (row) => row.status_current !== row.status_projected;
const COLUMNS = [
  { key: "test_name", label: "Test", value: (row) => labelled(row.test_name) },
  { key: "status", label: "Status", className: "short-status", value: (row) => `${row.status_current} to ${row.status_projected}`, show: (row) => html`
    ${turned(row) && html`<${Status} status=${row.status_current} /> → `}<${Status} status=${row.status_projected} doubtful=${row.doubtful} />` },
  { key: "current_value", label: "Before", number: true, show: (row) => form(row, row.current_value) },
  { key: "projected_value", label: "After", number: true, show: (row) => form(row, row.projected_value) },
  { key: "threshold_value", label: "Limit", number: true, show: limit, className: "muted narrow-off" },
  { key: "cushion_projected", label: "Cushion", number: true, className: "narrow-off", show: (row) => html`<span class=${row.status_projected}>${form(row, row.cushion_projected, { sign: true })}</span>` },
  { key: "change", label: "Change", number: true, value: change, show: (row) => (change(row) === 0 ? "–" : html`<span class=${row.impact_direction === "worsen" ? "fail" : "pass"}>${form(row, change(row), { sign: true })}</span>`) },
];

/** Changed statuses first, the worst before the others, then what moved, then the rest in the order of the suite. */
function weight(row) {
  return turned(row) ? RANK.indexOf(row.status_projected) : change(row) === 0 ? 4 : 3;
}

function Outcome({ data: { results, skipped, warnings, new_failures: fails, impact_summary: impact } }) {
  const rows = [...results].sort((one, other) => weight(one) - weight(other));
  return html`<p class=${`banner ${fails ? "fail" : "pass"}`}><strong>${fails === 0 ? "No test fails because of these trades" : `${counted(fails, "test")} ${fails === 1 ? "fails" : "fail"} because of these trades`}</strong>
      <span>${number(impact.improve)} improve</span><span>${number(impact.worsen)} worsen</span></p>
    <${Known} warnings=${warnings} />
    <${Table} caption="Tests before and after" rows=${rows} columns=${COLUMNS} keyOf=${(row) => row.test_id} selected=${turned} />
    ${skipped.length > 0 && html`<details class="apart"><summary>${counted(skipped.length, "test")} without a figure</summary><ul>${skipped.map((one) => html`<li>${labelled(`${one.test_name}: ${one.reason_projected ?? one.reason_current}`)}</li>`)}</ul></details>`}`;
}

/** Tickets that were kept: to open, rename and delete; headroom and proposals are of one of them. */
function Scenarios({ month, trades, same, chosen, open }) {
  const list = useData("scenarios", { page_size: 100 });
  const [naming, setNaming] = useState(null);
  const save = async (name) => {
    const { id } = await post("scenarios", { name, base_workbook_id: month.id, trades });
    setQuery({ scenario: id });
    refreshData("scenarios");
  };
  const update = useTask(async ({ id, name }) => {
    await save(name);
    await remove(`scenarios/${id}`);
    refreshData("scenarios");
  });
  const drop = useTask(async ({ id, name }) => {
    if (!(await confirmed(`Delete ${name}?`, "Its trades are deleted with it.", "Delete"))) return;
    await remove(`scenarios/${id}`);
    if (id === chosen) setQuery({ scenario: null });
    refreshData("scenarios");
  });
  const rename = ({ id, name }) => setNaming({ title: "Rename the scenario", name, run: async (next) => { await patch(`scenarios/${id}`, { name: next }); refreshData("scenarios"); } });
  const writes = can("scenarios:write");
  return html`<h2>Scenarios</h2>
    <${Loaded} from=${list}>${({ items }) => {
      const mine = items.filter(({ base_workbook_id: base }) => base === month.id);
      const current = mine.find(({ id }) => id === chosen);
      return html`${mine.length === 0 && html`<p class="muted">${writes ? "Keep the ticket as a scenario: then its headroom shows, and trades can be proposed." : "None is kept for this month."}</p>`}
        <ul class="kept">${mine.map((one) => html`<li key=${one.id} class="row"><button class="plain" aria-pressed=${String(one === current)} onClick=${() => open(one.id)}>${one.name}</button> <small class="muted">${counted(one.trade_count, "trade")}</small>
          ${writes && html`<button class="plain" onClick=${() => rename(one)}>Rename<span class="off-screen"> ${one.name}</span></button><button class="plain" onClick=${() => drop.run(one)}>Delete<span class="off-screen"> ${one.name}</span></button>`}</li>`)}</ul>
        ${writes && trades.length > 0 && !same && html`<p class="row">${current && html`<button disabled=${update.busy} onClick=${() => update.run(current)}>Save to ${current.name}</button>`}
          <button onClick=${() => setNaming({ title: "Keep as a scenario", run: save })}>Keep as a scenario</button></p>`}
        <${Problem} error=${update.error ?? drop.error} />`;
    }}<//>
    ${naming && html`<${Naming} ...${naming} close=${() => setNaming(null)} />`}`;
}

function Naming({ title, name, run, close }) {
  const task = useTask(async (fields) => {
    await run(fields.name);
    close();
  });
  return html`<${Dialog} title=${title} close=${close}><${Form} task=${task} action="Save" onSubmit=${task.run} cancel=${close}>
    <${Field} label="Name" name="name" required maxlength="200" value=${name} error=${task.error} /><//><//>`;
}

/** How much more of a trade each test bears, the least first. */
function Headroom({ scenario, trade, close }) {
  const from = useData(`scenarios/${scenario}/headroom`, { trade_id: trade });
  return html`<${Dialog} title="Headroom" close=${close} wide><${Loaded} from=${from} what="Trying amounts">${({ tests, most, trade: { trade_type: side, borrower_name: name, cusip } }) => html`
    <p>How much more of ${name ?? cusip} may be ${side === "buy" ? "bought" : "sold"} until a test fails, after the scenario's trades. Looked at up to ${number(most)}.</p>
    <${Table} caption="Headroom" keyOf=${(row) => row.test_id} rows=${[...tests].sort((one, other) => (one.headroom ?? Infinity) - (other.headroom ?? Infinity) || 0)} columns=${[
      { key: "test_name", label: "Test", value: (row) => labelled(row.test_name) }, { key: "status", label: "Status", show: ({ status }) => html`<${Status} status=${status} />` },
      { key: "headroom", label: "Par until it fails", number: true, show: (row) => (row.headroom === null ? "any" : row.headroom === 0 ? "fails already" : number(row.headroom)) }]} />`}<//><//>`;
}

const KEEPS = [
  { value: "pass", label: "Every test passes" }, { value: "maintain", label: "No test gets to fail, or fails by more" }, { value: "free", label: "Other tests do not matter" },
];

function Optimiser({ scenario, month, results, take }) {
  const deals = useData("console/overview");
  const others = (deals.data?.items ?? []).map(({ name, months }) => ({ label: name, value: months.at(-1)?.workbook_id })).filter(({ value }) => value && value !== month.id);
  const [proposed, setProposed] = useState(null);
  const task = useTask(async ({ objective, universe, tests, max_trades: most, max_turnover: turnover, allow_sells: sells }) => {
    const constraints = { tests, max_trades: Number(most), allow_sells: sells === "on", ...(turnover && { max_turnover: Number(turnover) }) };
    setProposed(await post(`scenarios/${scenario}/optimize`, { objective, universe, constraints }));
  });
  const row = proposed && results.find(({ test_id: id }) => id === proposed.objective);
  return html`<h2>Have trades proposed</h2>
    <${Form} task=${task} action="Propose" onSubmit=${task.run}>
      <${Select} label="Test to improve" name="objective" error=${task.error} options=${[...results].sort((one, other) => RANK.indexOf(one.status_projected) - RANK.indexOf(other.status_projected)).map(({ test_id: value, test_name: name }) => ({ value, label: labelled(name) }))} />
      <${Select} label="Other tests" name="tests" options=${KEEPS} />
      <${Select} label="Buy loans of" name="universe" error=${task.error} options=${[{ value: month.id, label: "This portfolio" }, ...others]} />
      <div class="row"><${Field} label="Trades at most" name="max_trades" type="number" min="0" max="50" value="10" required error=${task.error} />
        <${Field} label="Turnover at most" name="max_turnover" type="number" min="0" step="any" hint="Par; empty: any" error=${task.error} /></div>
      <label class="choice"><input type="checkbox" name="allow_sells" checked /> Sales, too</label><//>
    ${proposed && html`<p class="banner" role="status">${proposed.trades.length === 0 ? "No trades were found that help." : html`<strong>${counted(proposed.trades.length, "trade")}</strong>
      <span>cushion from ${form(row, proposed.cushion_before)} to ${form(row, proposed.cushion_after)}</span><span>turnover ${number(proposed.turnover)}</span>
      <button onClick=${() => { take(proposed.trades); setProposed(null); }}>Take into the ticket</button>`}</p>`}`;
}
