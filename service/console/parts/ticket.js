// The ticket of a what-if: buys and sells, kept through a reload, and what they do to every test while it is typed.
import { html, useEffect, useRef, useState } from "./html.js";
import { get, post } from "../api.js";
import { label } from "../state.js";
import { number } from "./format.js";
import { Field, Select } from "./form.js";

const PAUSE_MS = 300;
const SUGGESTIONS = 8;
const SIDES = [{ value: "sell", label: "Sell" }, { value: "buy", label: "Buy" }];
const BLANK = { trade_type: "sell", borrower_name: "", cusip: "", par_value: "", price: "" };
const NUMBERS = ["par_value", "price", "spread"];
const DETAILS = [
  ["spread", "Spread (bp)", { type: "number", step: "any", min: 0 }], ["rating_agency_a", null, {}], ["rating_agency_b", null, {}],
  ["industry", "Industry", {}], ["maturity_date", "Maturity", { type: "date" }],
];

/** A trade as the API takes it; null while it is not complete. */
export function tradeOf(row) {
  const trade = {};
  for (const [name, value] of Object.entries(row)) {
    if (value === "" || value === null || value === undefined || name === "key") continue;
    trade[name] = NUMBERS.includes(name) ? Number(value) : value;
  }
  const named = trade.cusip || trade.borrower_name;
  return named && trade.par_value > 0 ? trade : null;
}

/** The rows of a workbook's ticket, kept for the session of this tab: [rows, set]. */
export function useTicket(workbook) {
  const key = `cushion.ticket.${workbook}`;
  const [rows, setRows] = useState(() => stored(key));
  useEffect(() => setRows(stored(key)), [key]);
  const set = (next) => {
    setRows(next);
    try {
      sessionStorage.setItem(key, JSON.stringify(next));
    } catch {
      // without storage the ticket lives as long as the page
    }
  };
  return [rows, set];
}

function stored(key) {
  try {
    return JSON.parse(sessionStorage.getItem(key)) ?? [];
  } catch {
    return [];
  }
}

/** Every test before and after, a moment after the last key; one question is under way at a time. */
export function usePreview(workbook, rows) {
  const [state, setState] = useState({ data: null, error: null, busy: false });
  const wanted = useRef(null);
  const running = useRef(false);
  const trades = rows.map(tradeOf).filter(Boolean);
  const key = JSON.stringify([workbook, trades]);
  useEffect(() => {
    let gone = false;
    const ask = async () => {
      running.current = true;
      while (wanted.current !== null && !gone) {
        const [base, list] = JSON.parse(wanted.current);
        const asked = wanted.current;
        setState((before) => ({ ...before, busy: true }));
        const next = await post("scenarios/preview", { base_workbook_id: base, trades: list }).then((data) => ({ data, error: null }), (error) => ({ error }));
        if (wanted.current === asked) wanted.current = null;
        if (!gone) setState((before) => ({ data: next.data ?? before.data, error: next.error, busy: wanted.current !== null }));
      }
      running.current = false;
    };
    wanted.current = key;
    const timer = setTimeout(() => running.current || ask(), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      gone = wanted.current === null;
    };
  }, [key]);
  return state;
}

/** The rows of the ticket with the way to add and take away. */
export function Ticket({ workbook, rows, set, errors }) {
  const change = (at, changes) => set(rows.map((row, index) => (index === at ? { ...row, ...changes } : row)));
  const add = (trade_type) => set([...rows, { ...BLANK, trade_type, key: Date.now() }]);
  return html`<section aria-label="Ticket">
    ${rows.map((row, at) => html`<${Row} key=${row.key ?? at} ...${{ workbook, row, at }} fault=${errors?.[at]} change=${(changes) => change(at, changes)} drop=${() => set(rows.filter((_, index) => index !== at))} />`)}
    <p class="row"><button onClick=${() => add("sell")}>Add a sale</button><button onClick=${() => add("buy")}>Add a purchase</button>
      ${rows.length > 0 && html`<button class="plain" onClick=${() => set([])}>Clear the ticket</button>`}</p>
  </section>`;
}

function Row({ workbook, row, at, change, drop, fault }) {
  const input = (name, text, props) => html`<${Field} label=${text} name=${`${name}-${at}`} value=${row[name] ?? ""} onInput=${(event) => change({ [name]: event.target.value })} ...${props} />`;
  return html`<fieldset><legend>Trade ${at + 1}</legend><div class="row">
    <${Select} label="Side" name=${`side-${at}`} value=${row.trade_type} options=${SIDES} onChange=${(trade_type) => change({ trade_type })} />
    <${Loan} ...${{ workbook, row, at, change }} />
    ${input("par_value", "Par", { type: "number", min: 0, step: "any" })}
    ${input("price", "Price", { type: "number", min: 0, max: 1000, step: "any" })}
    <button class="plain" onClick=${drop} aria-label=${`Remove trade ${at + 1}`}>✕</button></div>
    ${row.trade_type === "buy" && html`<div class="row">${DETAILS.map(([name, text, props]) => input(name, text ?? label(name), props))}</div>`}
    ${fault && html`<p class="fault">${fault}</p>`}
  </fieldset>`;
}

/** A loan by a part of its borrower's name; those of the workbook are offered. */
function Loan({ workbook, row, at, change }) {
  const [offered, setOffered] = useState([]);
  const list = `loans-${at}`;
  useEffect(() => {
    const text = row.borrower_name.trim();
    if (text.length < 2 || offered.some(({ borrower_name: name }) => name === text)) return undefined;
    const control = new AbortController();
    const query = { fields: "borrower_name,cusip,par_value,price", filter: `borrower_name:contains:${text}`, limit: SUGGESTIONS };
    const timer = setTimeout(() => get(`workbooks/${workbook}/loans`, query, { signal: control.signal }).then(({ columns }) => setOffered(rowsOf(columns)), () => {}), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [workbook, row.borrower_name]);
  const take = (event) => {
    const name = event.target.value;
    const loan = offered.find((one) => one.borrower_name === name);
    change(loan ? { borrower_name: name, cusip: loan.cusip ?? "", par_value: row.par_value || loan.par_value, price: row.price || loan.price } : { borrower_name: name, cusip: "" });
  };
  const hint = row.trade_type === "sell" && offered.length > 0 ? `holds ${number(offered.find(({ borrower_name: name }) => name === row.borrower_name)?.par_value)}` : undefined;
  return html`<${Field} label="Borrower" name=${`borrower-${at}`} value=${row.borrower_name} onInput=${take} list=${list} hint=${hint} autocomplete="off" />
    <datalist id=${list}>${offered.map((one) => html`<option key=${one.cusip} value=${one.borrower_name}>${one.cusip}</option>`)}</datalist>`;
}

function rowsOf(columns) {
  return (columns.borrower_name ?? []).map((_, at) => Object.fromEntries(Object.keys(columns).map((name) => [name, columns[name][at]])));
}
