// Every deal with its newest figures, the thinnest cushion first.
import { html, useMemo, useRef } from "../parts/html.js";
import { post } from "../api.js";
import { can, go, href, route, setQuery, tenant } from "../state.js";
import { refreshData, useData, useTask } from "../parts/data.js";
import { Dialog } from "../parts/dialog.js";
import { addFiles } from "../parts/drop.js";
import { Bullet, Sparkline } from "../parts/figures.js";
import { Field, Form, Pills } from "../parts/form.js";
import { day, figure, number } from "../parts/format.js";
import { useKeys } from "../parts/keys.js";
import { Empty, Loaded } from "../parts/problem.js";
import { Table } from "../parts/table.js";

const SEARCHED_FROM = 8; // deals

export default function Deals() {
  const overview = useData("console/overview");
  const search = useRef(null);
  const begin = () => setQuery({ new: 1 }, { replace: false });
  useKeys([
    { key: "/", what: "Search deals", run: () => search.current?.focus() },
    ...(can("compliance:write") ? [{ key: "n", what: "New deal", run: begin }] : []),
  ]);
  return html`<header class="deal-title"><h1>Deals</h1><span class="actions">
      ${can("compliance:write") && html`<button onClick=${begin}>New deal</button>`}
      ${can("workbooks:write") && html`<button class="primary" onClick=${() => addFiles(null)}>Add a file</button>`}</span></header>
    <${Loaded} from=${overview}>${({ items }) => (items.length ? html`<${List} items=${items} search=${search} />` : html`<${First} />`)}<//>
    ${route.value.query.get("new") && can("compliance:write") && html`<${NewDeal} />`}`;
}

function First() {
  return html`<${Empty} title="No deals yet">
    ${can("workbooks:write")
      ? html`<p>Drop a trustee's file (a PDF, too) or a holdings file anywhere on this page: it becomes the first month of a deal, and its tests run at once.</p>
        <p><button class="primary" onClick=${() => addFiles(null)}>Choose a file</button></p>`
      : html`<p>An analyst of your organisation adds the first one.</p>`}<//>`;
}

const CHOICES = [
  ["", "All", () => true],
  ["fail", "Failing", (deal) => deal.latest?.failed > 0],
  ["warning", "Warning", (deal) => deal.latest?.warnings > 0],
  ["doubtful", "Doubtful", (deal) => deal.latest?.doubtful > 0],
  ["none", "Not run", (deal) => !deal.latest?.run_id],
];

function List({ items, search }) {
  const { query } = route.value;
  const [typed, only] = [query.get("q") ?? "", query.get("only") ?? ""];
  const rows = useMemo(() => {
    const fits = CHOICES.find(([name]) => name === only)?.[2] ?? CHOICES[0][2];
    const text = typed.trim().toLowerCase();
    return items.filter((deal) => fits(deal) && deal.name.toLowerCase().includes(text));
  }, [items, typed, only]);
  return html`<div class="row deals-bar">
      ${items.length >= SEARCHED_FROM && html`<input type="search" ref=${search} aria-label="Search deals" placeholder="Search deals" value=${typed} onInput=${(event) => setQuery({ q: event.target.value })} />`}
      <${Pills} label="Which deals" value=${only} onChange=${(name) => setQuery({ only: name })} rows=${CHOICES.map(([name, label, fits]) => {
        const count = items.filter(fits).length;
        return (count > 0 || only === name) && [name, `${label} ${number(count)}`];
      })} /></div>
    ${rows.length ? html`<${Table} caption="Deals, the thinnest cushion first" className="deals" columns=${COLUMNS} rows=${rows} address=${addressOf} />`
      : html`<p class="muted">No deal is like that. <a href="#/deals">Show all deals</a></p>`}`;
}

const addressOf = (deal) => href("deals", deal.id, "compliance");

/** A count of tests in its colour; a dash where nothing was run. */
function count(name, style) {
  return ({ latest }) => (latest?.[name] ? html`<strong class=${style}>${number(latest[name])}</strong>` : number(latest?.[name]));
}

const thinnest = (deal) => deal.latest?.thinnest ?? null;

function Thinnest({ deal }) {
  const test = thinnest(deal);
  if (!test) return html`<span class="muted">${deal.latest ? "not run yet" : "no file yet"}</span>`;
  return html`${test.test_name ?? test.test_id}${test.doubtful && html` <span class="doubt" title="The status may be wrong">?<span class="off-screen"> doubtful</span></span>`}`;
}

function Room({ deal }) {
  const test = thinnest(deal);
  if (!test || test.cushion_pct === null) return null;
  return html`<${Bullet} share=${test.cushion_pct / 100} status=${test.status} width=${80} label=${`${number(test.cushion_pct, 1, { sign: true })} % of the limit`} />`;
}

function Months({ months }) {
  const values = months.map(({ cushion_pct: cushion }) => cushion);
  const spoken = months.map((month) => `${day(month.as_of)}: ${number(month.cushion_pct, 1)} %`).join(", ");
  return html`<${Sparkline} values=${values} limits=${values.map(() => 0)} label=${`Thinnest cushion in percent of the limit. ${spoken}`} />`;
}

const COLUMNS = [
  { key: "name", label: "Deal", show: ({ name, latest }) => html`${name}<small class="narrow-only">${day(latest?.as_of)}</small>` },
  { key: "as_of", label: "As of", className: "date narrow-off", value: ({ latest }) => latest?.as_of ?? null, show: ({ latest }) => day(latest?.as_of) },
  { key: "failed", label: "Fails", number: true, value: ({ latest }) => latest?.failed ?? null, show: count("failed", "fail") },
  { key: "warnings", label: "Warnings", number: true, className: "narrow-off", value: ({ latest }) => latest?.warnings ?? null, show: count("warnings", "warning") },
  { key: "doubtful", label: "Doubtful", number: true, className: "narrow-off", value: ({ latest }) => latest?.doubtful ?? null, show: count("doubtful", "doubt") },
  { key: "test", label: "Thinnest cushion", className: "thinnest", value: (deal) => thinnest(deal)?.test_name ?? null, show: (deal) => html`<${Thinnest} deal=${deal} />` },
  { key: "cushion", label: "Cushion", number: true, value: (deal) => thinnest(deal)?.cushion ?? null, show: (deal) => thinnest(deal) && html`<span class=${thinnest(deal).status}>${figure(thinnest(deal).cushion, thinnest(deal).unit, thinnest(deal).decimals, { sign: true })}</span>` },
  { key: "cushion_pct", label: "Room", className: "narrow-off", value: (deal) => thinnest(deal)?.cushion_pct ?? null, show: (deal) => html`<${Room} deal=${deal} />` },
  { key: "months", label: "6 months", className: "narrow-off", sortable: false, value: ({ months }) => months.map(({ cushion_pct: cushion }) => cushion ?? "").join(" "), show: (deal) => html`<${Months} months=${deal.months} />` },
  { key: "next", label: "Next payment", className: "date narrow-off", value: (deal) => deal.next_payment_date, show: (deal) => day(deal.next_payment_date) },
];

function NewDeal() {
  const close = () => setQuery({ new: null });
  const task = useTask(async ({ name, currency, next_payment_date: next }) => {
    const deal = await post("deals", { name, currency: currency.toUpperCase() || null, next_payment_date: next || null });
    refreshData("console/overview");
    go(href("deals", deal.id, "compliance"), { replace: true });
  });
  return html`<${Dialog} title="New deal" close=${close}>
    <${Form} task=${task} action="Create" onSubmit=${task.run} cancel=${close}>
      <${Field} label="Name" name="name" required maxlength="255" error=${task.error} autofocus />
      <${Field} label="Currency" name="currency" maxlength="3" size="4" error=${task.error} hint=${`Three letters. Empty: ${tenant.value.default_currency ?? "your organisation's own"}`} />
      <${Field} label="Next payment" name="next_payment_date" type="date" error=${task.error} />
    <//>
  <//>`;
}
