// What trades would do: a ticket, and every test before and after while it is typed.
import { html, useState } from "../parts/html.js";
import { get, post, remove } from "../api.js";
import { can, notify, route, setQuery } from "../state.js";
import { forgetData, useData, useTask } from "../parts/data.js";
import { DealScreen } from "../parts/deal.js";
import { confirmed, Dialog } from "../parts/dialog.js";
import { Field, Form, Select } from "../parts/form.js";
import { figure, limit, number } from "../parts/format.js";
import { Bullet, Status } from "../parts/figures.js";
import { Empty, Loaded, Problem } from "../parts/problem.js";
import { Table } from "../parts/table.js";
import { Ticket, tradeOf, usePreview, useTicket } from "../parts/ticket.js";

export default function WhatIf({ id }) {
  return html`<${DealScreen} id=${id} title="What-if">${({ month }) => (month
    ? html`<${Desk} key=${month.id} deal=${id} month=${month} />`
    : html`<${Empty} title="No month to trade on"><p>Add a file of the deal first.</p><//>`)}<//>`;
}

function Desk({ deal, month }) {
  const [rows, set] = useTicket(month.id);
  const preview = usePreview(month.id, rows);
  return html`<div class="columns desk">
    <div><h2>Ticket</h2><${Ticket} workbook=${month.id} rows=${rows} set=${set} />
      <${Scenarios} ...${{ deal, month, rows, set }} /></div>
    <div><h2>Every test before and after ${preview.busy && html`<small class="muted" role="status">working</small>`}</h2>
      <${Problem} error=${preview.error} /><${Outcome} data=${preview.data} /></div>
  </div>`;
}

const RANK = { fail: 0, warning: 1, pass: 2 };
const COLUMNS = [
  { key: "test_name", label: "Test", className: "wraps" },
  { key: "status", label: "Status", value: (row) => `${row.status_current} to ${row.status_projected}`, show: (row) => (row.status_current === row.status_projected
    ? html`<${Status} status=${row.status_projected} doubtful=${row.doubtful} />`
    : html`<${Status} status=${row.status_current} short /> → <${Status} status=${row.status_projected} doubtful=${row.doubtful} />`) },
  { key: "current_value", label: "Before", number: true, show: (row) => figure(row.current_value, row.unit, row.decimals) },
  { key: "projected_value", label: "After", number: true, show: (row) => figure(row.projected_value, row.unit, row.decimals) },
  { key: "threshold_value", label: "Limit", number: true, show: limit, className: "narrow-off" },
  { key: "cushion_projected", label: "Cushion", number: true, show: (row) => html`<span class=${row.status_projected}>${figure(row.cushion_projected, row.unit, row.decimals, { sign: true })}</span>` },
  { key: "change", label: "Change", number: true, value: change, show: (row) => (change(row) === 0 ? "–" : html`<span class=${row.impact_direction === "worsen" ? "fail" : "pass"}>${figure(change(row), row.unit, row.decimals, { sign: true })}</span>`) },
  { key: "bar", label: "", sortable: false, spoken: "Cushion as a bar", className: "narrow-off", value: () => "", show: (row) => html`<${Bullet} share=${row.threshold_value ? row.cushion_projected / Math.abs(row.threshold_value) : null} status=${row.status_projected} label=${`Cushion ${figure(row.cushion_projected, row.unit, row.decimals)}`} />` },
];

function change(row) {
  return Number((row.cushion_projected - row.cushion_current).toFixed(6));
}

/** Changed statuses first, then what moved, then the rest in the order of the suite. */
function inWeight(results) {
  const weight = (row) => (row.status_current === row.status_projected ? (change(row) === 0 ? 2 : 1) : 0);
  return [...results].sort((one, other) => weight(one) - weight(other) || (weight(one) === 0 ? RANK[one.status_projected] - RANK[other.status_projected] : 0));
}

function Outcome({ data }) {
  if (!data) return html`<p class="waiting" role="status">Working out every test</p>`;
  const { impact_summary: impact, new_failures: fails } = data;
  return html`<p class=${`banner ${fails ? "fail" : "pass"}`}><strong>${fails === 0 ? "No test fails because of these trades" : `${number(fails)} tests fail because of these trades`}</strong>
      <span>${number(impact.improve ?? impact.improved)} improve</span><span>${number(impact.worsen ?? impact.worsened)} worsen</span></p>
    ${data.warnings.length > 0 && html`<details class="note"><summary>${number(data.warnings.length)} things to know before relying on these figures</summary><ul>${data.warnings.map(({ message }) => html`<li>${message}</li>`)}</ul></details>`}
    <${Table} caption="Tests before and after" rows=${inWeight(data.results)} columns=${COLUMNS} keyOf=${(row) => row.test_id} />`;
}

/** Tickets that were kept: open, rename, delete; the headroom of a loan and the optimiser work on one. */
function Scenarios({ deal, month, rows, set }) {
  const list = useData("scenarios", { page_size: 100 });
  const mine = (list.data?.items ?? []).filter(({ base_workbook_id: base }) => base === month.id);
  const chosen = route.value.query.get("scenario");
  const [saving, setSaving] = useState(false);
  const trades = rows.map(tradeOf).filter(Boolean);
  const open = async (scenario) => {
    const stored = await get(`scenarios/${scenario.id}/trades`);
    set(stored.map((trade) => Object.fromEntries(Object.entries(trade).filter(([name, value]) => value !== null && KEPT.has(name)))));
    setQuery({ scenario: scenario.id });
  };
  const drop = async (scenario) => {
    if (!(await confirmed(`Delete ${scenario.name}?`, "Its trades and results are deleted with it.", "Delete"))) return;
    await remove(`scenarios/${scenario.id}`).catch((error) => notify("bad", error.message, { requestId: error.requestId }));
    setQuery({ scenario: null });
    list.reload();
  };
  return html`<h2>Scenarios</h2>
    <${Loaded} from=${list}>${() => (mine.length === 0 ? html`<p class="muted">Keep the ticket as a scenario to see a loan's headroom, or to have trades proposed.</p>` : html`<ul class="plain-list">${mine.map((one) => html`<li key=${one.id}>
      <button class="plain" aria-pressed=${String(one.id === chosen)} onClick=${() => open(one)}>${one.name}</button> <small class="muted">${number(one.trade_count)} trades</small>
      ${can("scenarios:write") && html`<button class="plain" aria-label=${`Delete ${one.name}`} onClick=${() => drop(one)}>✕</button>`}</li>`)}</ul>`)}<//>
    ${can("scenarios:write") && html`<p class="row"><button disabled=${trades.length === 0} onClick=${() => setSaving(true)}>Keep as a scenario</button></p>`}
    ${saving && html`<${Keep} ...${{ month, trades, close: () => setSaving(false), done: (id) => { forgetData("scenarios"); list.reload(); setQuery({ scenario: id }); } }} />`}
    ${chosen && mine.some(({ id }) => id === chosen) && html`<${Optimiser} key=${chosen} scenario=${chosen} month=${month} take=${(more) => set([...rows, ...more])} />`}`;
}

const KEPT = new Set(["trade_type", "borrower_name", "cusip", "par_value", "price", "spread", "rating_agency_a", "rating_agency_b", "industry", "maturity_date"]);

function Keep({ month, trades, close, done }) {
  const task = useTask(async ({ name }) => {
    const kept = await post("scenarios", { name, base_workbook_id: month.id, trades });
    close();
    done(kept.id);
  });
  return html`<${Dialog} title="Keep as a scenario" close=${close}><${Form} task=${task} action="Keep it" onSubmit=${task.run} cancel=${close}>
    <${Field} label="Name" name="name" required maxlength="200" error=${task.error} /><//><//>`;
}

function Optimiser({ scenario, month, take }) {
  const suites = useData("compliance/suites", { include_tests: true });
  const tests = suites.data?.items?.find(({ id }) => id === "enhanced")?.tests ?? [];
  const [objective, setObjective] = useState("");
  const [proposed, setProposed] = useState(null);
  const task = useTask(async () => setProposed(await post(`scenarios/${scenario}/optimize`, { objective: objective || tests[0].test_id, universe: month.id })));
  return html`<h2>Have trades proposed</h2><${Loaded} from=${suites}>${() => html`
    <${Form} task=${task} action="Propose" onSubmit=${task.run}>
      <${Select} label="Test to improve" name="objective" value=${objective} onChange=${setObjective} error=${task.error} options=${tests.map(({ test_id: value, name }) => ({ value, label: name }))} /><//>`}<//>
    ${proposed && html`<p class="banner">${proposed.trades.length === 0 ? "No trades were found that help." : html`Cushion from ${number(proposed.cushion_before, 2)} to ${number(proposed.cushion_after, 2)} by ${number(proposed.trades.length)} trades`}
      ${proposed.trades.length > 0 && html`<button onClick=${() => take(proposed.trades)}>Take them into the ticket</button>`}</p>`}`;
}
