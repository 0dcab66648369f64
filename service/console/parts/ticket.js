// The ticket of a what-if: buys and sells, kept through a reload, and what they do to every test while it is typed.
import { html, useEffect, useRef, useState } from "./html.js";
import { get, post } from "../api.js";
import { label } from "../state.js";
import { number } from "./format.js";
import { Field, Select } from "./form.js";

const PAUSE_MS = 300;
const OFFERED = 8; // loans
const SIDES = [{ value: "sell", label: "Sell" }, { value: "buy", label: "Buy" }];
const AMOUNT = { type: "number", min: 0, step: "any" };
const TERMS = [["par_value", "Par", AMOUNT], ["price", "Price", { ...AMOUNT, max: 1000 }]];
const OF_A_PURCHASE = [
  ["cusip", "CUSIP", { maxlength: 64 }], ["spread", "Spread (bp)", AMOUNT], ["rating_agency_a"], ["rating_agency_b"],
  ["industry", "Industry", { maxlength: 255 }], ["maturity_date", "Maturity", { type: "date" }],
];
const NUMBERS = new Set(["par_value", "price", "spread"]);

/** A row as the API takes a trade; null while it is not complete. */
export function tradeOf({ key, ...row }) {
  const filled = Object.entries(row).filter(([, value]) => (value ?? "") !== "");
  const trade = Object.fromEntries(filled.map(([name, value]) => [name, NUMBERS.has(name) ? Number(value) : value]));
  return (trade.cusip || trade.borrower_name) && trade.par_value > 0 ? trade : null;
}

/** A workbook's ticket, kept for the session of this tab: [rows, set]. */
export function useTicket(workbook) {
  const key = `cushion.ticket.${workbook}`;
  const [rows, setRows] = useState(() => {
    try {
      return JSON.parse(sessionStorage.getItem(key)) ?? [];
    } catch {
      return [];
    }
  });
  return [rows, (next) => {
    setRows(next);
    try {
      sessionStorage.setItem(key, JSON.stringify(next));
    } catch {
      // without storage the ticket lives as long as the page
    }
  }];
}

/** Every test before and after, a moment after the last key: one question is under way at a time, the newest waits. */
export function usePreview(workbook, trades) {
  const [state, setState] = useState({ data: null, error: null, busy: true });
  const key = JSON.stringify({ base_workbook_id: workbook, trades });
  const newest = useRef(null);
  const flight = useRef(Promise.resolve());
  useEffect(() => {
    newest.current = key;
    const ask = async () => {
      if (newest.current !== key) return;
      setState((before) => ({ ...before, busy: true }));
      const next = await post("scenarios/preview", JSON.parse(key)).then((data) => ({ data }), (error) => ({ error }));
      if (newest.current === key) setState((before) => ({ data: before.data, error: null, ...next, busy: false }));
    };
    const timer = setTimeout(() => {
      flight.current = flight.current.then(ask);
    }, PAUSE_MS);
    return () => {
      newest.current = null;
      clearTimeout(timer);
    };
  }, [key]);
  return state;
}

/** The rows of the ticket; `faults` by row, `action(row, place)` is drawn beside one. */
export function Ticket({ workbook, rows, set, faults, action }) {
  const add = (trade_type) => set([...rows, { trade_type, key: Date.now() }]);
  return html`${rows.map((row, at) => html`<${Row} key=${row.key ?? at} ...${{ workbook, row, at, action }} fault=${faults[at]}
      change=${(changes) => set(rows.map((one) => (one === row ? { ...row, ...changes } : one)))} drop=${() => set(rows.filter((one) => one !== row))} />`)}
    <p class="row"><button onClick=${() => add("sell")}>Add a sale</button><button onClick=${() => add("buy")}>Add a purchase</button>
      ${rows.length > 0 && html`<button class="plain" onClick=${() => set([])}>Clear the ticket</button>`}</p>`;
}

function Row({ workbook, row, at, change, drop, fault, action }) {
  const fields = (list) => html`<div class="row">${list.map(([name, text = label(name), props]) => html`<${Field} key=${name} label=${text} name=${`${name}-${at}`} value=${row[name] ?? ""}
    onInput=${(event) => change({ [name]: event.target.value })} ...${props} />`)}</div>`;
  return html`<fieldset class="trade"><legend>Trade ${at + 1}</legend>
    <div class="row"><${Select} label="Side" name=${`side-${at}`} value=${row.trade_type} options=${SIDES} onChange=${(trade_type) => change({ trade_type })} />
      <${Loan} ...${{ workbook, row, at, change }} /></div>
    ${fields(TERMS)}
    ${row.trade_type === "buy" && html`<details><summary>The loan's terms</summary>${fields(OF_A_PURCHASE)}</details>`}
    ${fault?.length > 0 && html`<p class="fault" role="alert">${fault.join("; ")}</p>`}
    <p class="row"><button class="plain" onClick=${drop}>Remove<span class="off-screen"> trade ${at + 1}</span></button>${action && action(at)}</p>
  </fieldset>`;
}

const nameOf = ({ borrower_name: name, cusip }) => (cusip ? `${name} (${cusip})` : name);

/** A loan by a part of its borrower's name: those of the workbook are offered. */
function Loan({ workbook, row, at, change }) {
  const [typed, setTyped] = useState("");
  const [offered, setOffered] = useState([]);
  useEffect(() => {
    if (typed.length < 2) return undefined;
    const control = new AbortController();
    const query = { fields: "borrower_name,cusip,par_value,price", filter: `borrower_name:contains:${typed}`, limit: OFFERED };
    const timer = setTimeout(() => get(`workbooks/${workbook}/loans`, query, { signal: control.signal }).then(({ columns }) => setOffered(loansOf(columns)), () => {}), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [typed]);
  const take = ({ target: { value } }) => {
    const loan = offered.find((one) => value === nameOf(one));
    setTyped(loan ? "" : value.trim());
    change(loan ? { ...loan, par_value: row.par_value || loan.par_value } : { borrower_name: value, cusip: "" });
  };
  const held = offered.find(({ borrower_name: name, cusip }) => name === row.borrower_name && (cusip ?? "") === (row.cusip ?? ""));
  return html`<${Field} label="Borrower" name=${`borrower-${at}`} value=${row.borrower_name ?? ""} onInput=${take} list=${`loans-${at}`} autocomplete="off" maxlength="255"
      placeholder="Part of the name" hint=${held ? `${number(held.par_value)} held` : row.cusip} />
    <datalist id=${`loans-${at}`}>${offered.map((one) => html`<option value=${nameOf(one)} />`)}</datalist>`;
}

function loansOf(columns) {
  return columns.borrower_name.map((_, at) => Object.fromEntries(Object.keys(columns).map((name) => [name, columns[name][at]])));
}
