// All loans of a workbook: chosen by conditions, in the order of a field, with the columns that a person wants.
import { html, useMemo, useRef, useState } from "../parts/html.js";
import { href, labelled, route, setQuery } from "../state.js";
import { copy, tsv } from "../parts/clipboard.js";
import { useData, useTask } from "../parts/data.js";
import { DealScreen, unready } from "../parts/deal.js";
import { Dialog } from "../parts/dialog.js";
import { isLeftOut } from "../parts/draft.js";
import { Known } from "../parts/drill.js";
import { counted, day, number } from "../parts/format.js";
import { Grid } from "../parts/grid.js";
import { useKeys } from "../parts/keys.js";
import { conditionsOf, OPERATIONS, PART, parts, saveLoans, useLoans } from "../parts/loans.js";
import { Empty, Loaded, Problem } from "../parts/problem.js";

const USUAL = [
  "borrower_name", "facility_name", "par_value", "price", "spread", "maturity_date", "rating", "rating_agency_a", "rating_agency_b",
  "industry", "country", "lien_type", "defaulted",
];
const WIDTHS = { borrower_name: 230, facility_name: 200, industry: 230, industry_a: 230, industry_b: 230 };
const LEAST = 108; // pixels of a column: a day, an amount
const DECIMALS_MAX = { currency: 2, bps: 2, percent: 3 };
const OTHER_MAX = 4;

export default function Loans({ id }) {
  return html`<${DealScreen} id=${id} title="Loans">${({ deal, month }) => {
    return unready(month, "its loans stand here") || html`<${Fields} key=${month.id} deal=${deal} month=${month} />`;
  }}<//>`;
}

/** What fields the loans have comes first: the usual ones of them are shown. */
function Fields({ deal, month }) {
  const about = useData(`workbooks/${month.id}/loans`, { limit: 1 });
  return html`<${Loaded} from=${about} what="Reading the loans">${({ available, total, warnings }) => (available.length === 0
    ? html`<${Empty} title="No loans were found"><p>${labelled(warnings[0]?.message ?? "")}</p><p><a href=${href("deals", deal.id, "mapping", { workbook: month.id })}>See how the file is read</a></p><//>`
    : html`<${Table} deal=${deal} month=${month} available=${available.filter(({ name }) => !isLeftOut(name))} all=${total} warnings=${warnings} />`)}<//>`;
}

function Table({ deal, month, available, all, warnings }) {
  const { query } = route.value;
  const byName = useMemo(() => new Map(available.map((one) => [one.name, one])), [available]);
  const names = chosenNames(query.get("fields"), byName);
  const asked = { fields: names.join(","), filter: query.get("filter") ?? "", sort: query.get("sort") ?? "" };
  const loans = useLoans(month.id, asked);
  const conditions = conditionsOf(asked.filter);
  const sorted = asked.sort.replace(/^-/, "");
  const order = sorted ? { key: sorted, way: asked.sort.startsWith("-") ? "descending" : "ascending" } : null;
  const sort = (name) => setQuery({ sort: sorted !== name ? name : order.way === "ascending" ? `-${name}` : null });
  const decimals = useRef(new Map()); // by field, the most that a page needed
  const columns = useMemo(() => [
    { key: "", label: "Row", number: true, width: 76, sortable: false, show: (_, index) => html`<a href=${href("deals", deal.id, "mapping", { workbook: month.id, cell: `A${loans.row(index)}` })}>${loans.row(index)}</a>` },
    ...names.map((name) => columnOf(byName.get(name), loans.sample?.[name] ?? [], decimals.current)),
  ], [asked.fields, loans.version]);
  const cell = (index, name) => (name === "" ? loans.row(index) : loans.cell(index, name));
  const fields = names.map((name) => byName.get(name));
  return html`<${Known} warnings=${warnings} of="loans" />
    <div class="filters"><${Condition} available=${available} conditions=${conditions} />
      <${Tools} ...${{ deal, month, asked, fields, available, names, count: loans.count }} /></div>
    ${conditions.length > 0 && html`<div class="months" role="group" aria-label="Conditions">${conditions.map((one) => html`<button key=${one.text} class="pill" onClick=${() => setFilter(conditions.filter((other) => other !== one))}>${inWords(one, byName)} <span aria-hidden="true">✕</span><span class="off-screen">, take away</span></button>`)}</div>`}
    ${loans.error && html`<${Problem} error=${loans.error} retry=${loans.again} />`}
    <p class="banner" role="status"><strong>${loans.count === undefined ? "…" : counted(loans.count, "loan")}</strong>${conditions.length > 0 && html`<span class="muted">of ${number(all)}</span>`}${loans.par !== undefined && html`<span>par ${number(loans.par, 0)} ${currencyOf(available)}</span>`}</p>
    ${loans.count === 0 ? html`<${Empty} title="No loan meets the conditions"><p><button onClick=${() => setFilter([])}>Take all conditions away</button></p><//>`
      : html`<${Grid} caption="Loans" columns=${columns} count=${loans.count ?? 0} cell=${cell} need=${loans.need} version=${loans.version} start=${asked.filter + asked.sort} order=${order} sort=${sort} />`}`;
}

/** The fields of the address that there are, else the usual ones. */
function chosenNames(text, byName) {
  const chosen = (text ?? "").split(",").filter((name) => byName.has(name));
  if (chosen.length > 0) return chosen;
  const usual = USUAL.filter((name) => byName.has(name));
  return usual.length > 0 ? usual : [...byName.keys()].slice(0, USUAL.length);
}

const currencyOf = (available) => available.find(({ name }) => name === "par_value")?.unit.replace("currency", "") ?? "";
const titled = ({ label, unit }) => (unit && unit !== "currency" ? `${label} (${unit === "percent" ? "%" : unit})` : label);

function columnOf({ name, type, unit, label }, sample, needed) {
  const common = { key: name, label: titled({ label, unit }), width: WIDTHS[name] ?? Math.max(LEAST, 34 + titled({ label, unit }).length * 8) };
  if (type === "number") {
    const decimals = decimalsIn(sample, DECIMALS_MAX[unit] ?? (unit.length === 3 ? DECIMALS_MAX.currency : OTHER_MAX), needed.get(name) ?? 0);
    needed.set(name, decimals);
    return { ...common, number: true, show: (value) => number(value, decimals) };
  }
  if (type === "date") return { ...common, show: day };
  if (type === "boolean") return { ...common, show: (value) => (value === null ? "–" : value ? "Yes" : "No") };
  return common;
}

/** Decimals that a column needs, at least and at most so many. */
function decimalsIn(values, most, least) {
  let decimals = least;
  for (const value of values) {
    while (value !== null && decimals < most && Math.abs(value - Number(value.toFixed(decimals))) > 1e-9) decimals += 1;
  }
  return decimals;
}

const setFilter = (conditions) => setQuery({ filter: conditions.map(({ text }) => text).join(",") }, { replace: false });

function inWords({ field, op, value }, byName) {
  const { label = field, type = "string" } = byName.get(field) ?? {};
  const words = (OPERATIONS[type] ?? []).find(([name]) => name === op)?.[1] ?? op;
  if (value === "") return `${label} ${op === "ne" ? "is not blank" : "is blank"}`;
  return `${label} ${words} ${type === "number" ? number(Number(value), value.split(".")[1]?.length ?? 0) : type === "date" ? day(value) : value}`;
}

/** A further condition: field, operation, value; an empty value asks for blanks. */
function Condition({ available, conditions }) {
  const [chosen, setChosen] = useState({ field: available[0].name, op: null });
  const first = useRef(null);
  useKeys([{ key: "/", what: "Filter", run: () => first.current.focus() }]);
  const { type, label } = available.find(({ name }) => name === chosen.field) ?? available[0];
  const operations = OPERATIONS[type];
  const op = operations.some(([name]) => name === chosen.op) ? chosen.op : operations[0][0];
  const submit = (event) => {
    event.preventDefault();
    const value = event.target.elements.value.value.trim();
    const asked = value === "" && op !== "ne" ? "eq" : op;
    setFilter([...conditions, { text: `${chosen.field}:${asked}:${type === "number" ? value.replace(/[\s,](?=\d{3})/g, "") : value}` }]);
    if (type !== "boolean") event.target.elements.value.value = "";
  };
  return html`<form onSubmit=${submit} aria-label="Filter">
    <select ref=${first} aria-label="Field" onChange=${(event) => setChosen({ field: event.target.value, op: null })}>${available.map((one) => html`<option value=${one.name} selected=${one.name === chosen.field}>${titled(one)}</option>`)}</select>
    <select aria-label="Condition" onChange=${(event) => setChosen({ ...chosen, op: event.target.value })}>${operations.map(([name, text]) => html`<option value=${name} selected=${name === op}>${text}</option>`)}</select>
    ${type === "boolean" ? html`<select name="value" aria-label="Value"><option value="true">Yes</option><option value="false">No</option></select>`
      : html`<input name="value" aria-label="Value" type=${type === "date" ? "date" : "text"} placeholder="empty: blank ones" title=${`Value of ${label}`} />`}
    <button>Add</button></form>`;
}

function Tools({ deal, month, asked, fields, available, names, count }) {
  const [choosing, setChoosing] = useState(false);
  const heads = fields.map(titled);
  const taken = useTask(async () => {
    const { rows, total } = (await parts(month.id, asked, PART).next()).value;
    await copy(tsv([heads, ...rows]), total > rows.length ? `The first ${number(rows.length)} of ${counted(total, "loan")} copied: save them as CSV for all` : `${counted(rows.length, "loan")} copied`);
  });
  const saved = useTask(() => saveLoans(month.id, asked, heads, `${deal.name} loans ${month.as_of ?? ""}.csv`.replace(" .", ".")));
  return html`<span class="actions"><button onClick=${() => setChoosing(true)}>Columns</button>
      <button disabled=${taken.busy || !count} onClick=${taken.run}>Copy</button><button disabled=${saved.busy || !count} onClick=${saved.run}>Save as CSV</button></span>
    <${Problem} error=${taken.error ?? saved.error} />
    ${choosing && html`<${Dialog} title="Columns" close=${() => setChoosing(false)} wide=${true}>
      <div class="checks">${available.map((one) => html`<label key=${one.name}><input type="checkbox" checked=${names.includes(one.name)} disabled=${names.length === 1 && names[0] === one.name} onChange=${(event) => setQuery({ fields: (event.target.checked ? [...names, one.name] : names.filter((name) => name !== one.name)).join(",") })} /> ${one.label}</label>`)}</div>
      <footer><button onClick=${() => setQuery({ fields: null })}>The usual ones</button><button class="primary" onClick=${() => setChoosing(false)}>Done</button></footer><//>`}`;
}
