// Why each test moved between two months: the change, what moved it, and the loans that weigh most.
import { html } from "../parts/html.js";
import { can, href, labelled, route, setQuery } from "../state.js";
import { useData } from "../parts/data.js";
import { DealScreen } from "../parts/deal.js";
import { Known, Panel, SUITES, useChosen } from "../parts/drill.js";
import { addFiles } from "../parts/drop.js";
import { Select } from "../parts/form.js";
import { counted, day, figure } from "../parts/format.js";
import { Empty, Loaded } from "../parts/problem.js";
import { Table } from "../parts/table.js";
import { Waterfall } from "../parts/waterfall.js";

const PARTS = {
  added: "Loans added", removed: "Loans gone", par: "Paydowns and draws", ratings: "Ratings", prices: "Prices",
  rates: "Spreads and coupons", other_fields: "Other fields and the day", liabilities_and_cash: "Notes and cash",
};
const nameOf = (book) => (book.as_of ? day(book.as_of) : book.name);

export default function Movements({ id }) {
  return html`<${DealScreen} id=${id} title="Movements" months=${false}>${({ deal, months }) => {
    const ready = months.filter(({ status }) => status === "ready");
    return ready.length < 2 ? html`<${TooFew} deal=${deal} />` : html`<${Between} deal=${deal} months=${ready} />`;
  }}<//>`;
}

function TooFew({ deal }) {
  return html`<${Empty} title="Two months are needed"><p>Add another month's file to see why each test moved.</p>
    ${can("workbooks:write") && html`<button class="primary" onClick=${() => addFiles(null, { deal: deal.id })}>Add a file</button>`}<//>`;
}

function Between({ deal, months }) {
  const { query } = route.value;
  const chosen = (name) => months.find((book) => book.id === query.get(name));
  const to = chosen("to") ?? chosen("workbook") ?? months[0];
  const from = chosen("from") ?? months[months.indexOf(to) + 1] ?? months.find((book) => book !== to);
  const suite = query.get("suite") ?? deal.latest?.test_suite ?? "deal";
  const moved = useData(`deals/${deal.id}/movements`, { from: from.id, to: to.id, test_suite: suite });
  const options = months.map((book) => ({ value: book.id, label: nameOf(book) }));
  const choose = (name) => (value) => setQuery({ [name]: value, test: null });
  return html`<div class="row">
      <${Select} label="From" name="from" value=${from.id} options=${options} onChange=${choose("from")} />
      <${Select} label="To" name="to" value=${to.id} options=${options} onChange=${choose("to")} />
      <${Select} label="Tests" name="suite" value=${suite} options=${SUITES} onChange=${choose("suite")} />
    </div>
    <${Loaded} from=${moved} what="Comparing the two months">${(data) => html`<${Moved} ...${{ deal, from, to, data }} />`}<//>`;
}

function Moved({ deal, from, to, data }) {
  const { query } = route.value;
  const moving = data.items.filter(hasMoved).sort((one, other) => weight(other) - weight(one));
  const still = data.items.filter((one) => !moving.includes(one));
  const rows = query.get("all") ? [...moving, ...still] : moving;
  const { row, open, close, next, shown } = useChosen(data.items);
  return html`<div class="banner"><strong>${counted(moving.length, "test")} moved</strong>
      ${still.length > 0 && html`<button class="plain" aria-pressed=${String(Boolean(query.get("all")))} onClick=${() => setQuery({ all: query.get("all") ? null : 1 })}>${still.length} did not</button>`}</div>
    <${Known} warnings=${data.warnings} />
    ${rows.length > 0 && html`<${Table} caption="Movements" columns=${columnsOf(from, to)} rows=${rows} keyOf=${(one) => one.test_id} open=${open} shown=${shown} selected=${(one) => one === row} />`}
    ${row && html`<${Why} ...${{ row, deal, from, to, close, next }} />`}`;
}

/** Whether a change shows in the decimals that the test is written with. */
const shows = (change, decimals) => Math.abs(change) >= 0.5 / 10 ** decimals;
const hasMoved = ({ change, before, after, decimals }) => (change === null ? before !== after : shows(change, decimals));

/** How far a test moved, as a part of what it was; where a day has no figure, first of all. */
function weight({ change, before }) {
  return change === null ? Number.MAX_VALUE : Math.abs(change) / (Math.abs(before) || 1);
}

function largest(parts) {
  const [first] = parts.filter(({ change }) => change !== 0).sort((one, other) => Math.abs(other.change) - Math.abs(one.change));
  return first ? PARTS[first.part] ?? first.part : "–";
}

function columnsOf(from, to) {
  const form = (row, value, options) => figure(value, row.unit, row.decimals, options);
  return [
    { key: "test_name", label: "Test", value: ({ test_name: name }) => labelled(name) },
    { key: "before", label: nameOf(from), number: true, className: "narrow-off", show: (row) => form(row, row.before) },
    { key: "after", label: nameOf(to), number: true, show: (row) => form(row, row.after) },
    { key: "change", label: "Change", number: true, show: (row) => form(row, row.change, { sign: true }) },
    { key: "why", label: "Mostly by", className: "narrow-off", value: ({ parts }) => largest(parts) },
  ];
}

function Why({ row, deal, from, to, close, next }) {
  const form = (value, options) => figure(value, row.unit, row.decimals, options);
  const parts = row.parts.filter(({ change }) => change !== 0);
  const weighing = parts.map((one) => ({ ...one, loans: one.loans.filter(({ effect }) => shows(effect, row.decimals)) })).filter(({ loans }) => loans.length > 0);
  return html`<${Panel} title=${labelled(row.test_name)} close=${close} next=${next}>
    <p class="figure">${form(row.change, { sign: true })}</p>
    <p>from ${form(row.before)} on ${nameOf(from)} to ${form(row.after)} on ${nameOf(to)}</p>
    <${Open} when=${nameOf(from)} open=${row.before_open} form=${form} /><${Open} when=${nameOf(to)} open=${row.after_open} form=${form} />
    ${row.change !== null && html`<h3>What moved it</h3>
      <${Waterfall} caption=${`${labelled(row.test_name)} from ${nameOf(from)} to ${nameOf(to)}`} format=${form}
        before=${{ label: nameOf(from), value: row.before }} after=${{ label: nameOf(to), value: row.after }}
        parts=${parts.map(({ part, change }) => ({ label: PARTS[part] ?? part, change }))} />`}
    ${weighing.map(({ part, loans }) => html`<h3>${PARTS[part] ?? part}: the loans that weigh most</h3>
      <${Table} caption=${`Loans of ${PARTS[part] ?? part}`} rows=${loans} keyOf=${(loan) => loan.name + loan.identifier} columns=${[
        { key: "name", label: "Loan", show: (loan) => html`${loan.name} ${loan.identifier && html`<small class="muted">${loan.identifier}</small>`}` },
        { key: "effect", label: "Alone", number: true, show: (loan) => form(loan.effect, { sign: true }) }]} />`)}
    <p><a href=${href("deals", deal.id, "compliance", { workbook: to.id, test: row.test_id })}>What is behind the figure of ${nameOf(to)}</a></p>
  <//>`;
}

function Open({ when, open, form }) {
  return open && html`<p class="note">${when}: ${labelled(open.reason)}${open.low !== null && ` (between ${form(open.low)} and ${form(open.high)})`}</p>`;
}
