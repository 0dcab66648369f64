// The ticket of a what-if: buys and sells, kept through a reload, and what they do to every test while it is typed.
import { html, useEffect, useRef, useState } from "./html.js";
import { post } from "../api.js";
import { label, me } from "../state.js";
import { useData } from "./data.js";
import { Field, Select } from "./form.js";

const PAUSE_MS = 300;
const OFFERED = 8; // loans
const SIDES = [{ value: "sell", label: "Sell" }, { value: "buy", label: "Buy" }];
const AMOUNT = { type: "number", min: 0, step: "any" };
const TERMS = [["par_value", "Par", AMOUNT], ["price", "Price", AMOUNT]];
const OF_A_PURCHASE = [
  ["cusip", "CUSIP"], ["spread", "Spread (bp)", AMOUNT], ["rating_agency_a"], ["rating_agency_b"], ["industry", "Industry"],
  ["maturity_date", "Maturity", { type: "date" }],
];

/** A row as the API takes a trade; null while it is not complete. */
export function tradeOf({ key, ...row }) {
  const filled = Object.entries(row).filter(([, value]) => (value ?? "") !== "");
  const trade = Object.fromEntries(filled.map(([name, value]) => [name, /^(par_value|price|spread)$/.test(name) ? Number(value) : value]));
  return (trade.cusip || trade.borrower_name || trade.loan_data) && trade.par_value > 0 ? trade : null;
}

/** A workbook's ticket, kept for the session of this tab: [rows, set]. */
export function useTicket(workbook) {
  const key = `cushion.ticket.${me.value.id}.${workbook}`;
  const [rows, setRows] = useState(() => JSON.parse(sessionStorage.getItem(key)) ?? []);
  return [rows, (next) => {
    setRows(next);
    sessionStorage.setItem(key, JSON.stringify(next));
  }];
}

/** Every test before and after, a moment after the last key: one question is under way at a time, the newest waits. */
export function usePreview(workbook, trades) {
  const [state, setState] = useState({ busy: true });
  const key = JSON.stringify({ base_workbook_id: workbook, trades });
  const now = useRef({ flight: Promise.resolve() }).current;
  useEffect(() => {
    now.key = key;
    const ask = async () => {
      if (now.key !== key) return;
      setState(({ data }) => ({ data, busy: true }));
      const next = await post("scenarios/preview", JSON.parse(key)).then((data) => ({ data }), (error) => ({ error }));
      if (now.key === key) setState(({ data }) => ({ data, ...next }));
    };
    const timer = setTimeout(() => {
      now.flight = now.flight.then(ask);
    }, PAUSE_MS);
    return () => {
      now.key = null;
      clearTimeout(timer);
    };
  }, [key]);
  return state;
}

/** The rows of the ticket; `faults` by row, `action(place)` is drawn beside one. */
export function Ticket({ workbook, rows, set, faults, action }) {
  const add = (trade_type) => () => set([...rows, { trade_type, key: Date.now() }]);
  return html`${rows.map((row, at) => html`<${Row} key=${row.key ?? at} ...${{ workbook, row, at, action }} fault=${faults[at]}
      change=${(changes) => set(rows.map((one) => (one === row ? { ...row, ...changes } : one)))} drop=${() => set(rows.filter((one) => one !== row))} />`)}
    <p class="row"><button onClick=${add("sell")}>Add a sale</button><button onClick=${add("buy")}>Add a purchase</button>
      ${rows.length > 0 && html`<button class="plain" onClick=${() => set([])}>Clear the ticket</button>`}</p>`;
}

function Row({ workbook, row, at, change, drop, fault, action }) {
  const fields = (list) => list.map(([name, text = label(name), props]) => html`<${Field} key=${name} label=${text} name=${`${name}-${at}`} value=${row[name] ?? ""}
    maxlength="255" onInput=${(event) => change({ [name]: event.target.value })} ...${props} />`);
  return html`<fieldset class="trade"><legend>Trade ${at + 1}</legend>
    <div class="row"><${Select} label="Side" name=${`side-${at}`} value=${row.trade_type} options=${SIDES} onChange=${(trade_type) => change({ trade_type })} />
      <${Loan} ...${{ workbook, row, at, change }} />${fields(TERMS)}</div>
    ${row.trade_type === "buy" && html`<details><summary>The loan's terms</summary><div class="row">${fields(OF_A_PURCHASE)}</div></details>`}
    ${fault?.length > 0 && html`<p class="fault" role="alert">${fault.join("; ")}</p>`}
    <button class="plain" aria-label=${`Remove trade ${at + 1}`} onClick=${drop}>Remove</button>${action && action(at)}
  </fieldset>`;
}

const IDENTIFIERS = ["cusip", "loanx_id", "isin"]; // a file has some of them; a trade has all but the first in loan_data

/** What names a row's loan beside its borrower: [field, value]. */
function identifierOf({ cusip, loan_data: more }) {
  return Object.entries({ cusip, ...more }).find(([name, value]) => IDENTIFIERS.includes(name) && value) ?? [];
}

/** A loan of the workbook as a trade has it; `value(field)` is null for a field that the file lacks. */
function loanOf(value) {
  const [name, identifier] = IDENTIFIERS.map((field) => [field, value(field)]).find(([, text]) => text) ?? [];
  const own = { borrower_name: value("borrower_name"), par_value: value("par_value"), price: value("price") ?? "" };
  return name === "cusip" ? { ...own, cusip: identifier, loan_data: "" } : { ...own, cusip: "", loan_data: name ? { [name]: identifier } : "" };
}

/** A loan by a part of its borrower's name: those of the workbook are offered. */
function Loan({ workbook, row, at, change }) {
  const [field, identifier] = identifierOf(row);
  const name = row.borrower_name ?? "";
  const [typed, setTyped] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setTyped(name.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [name]);
  const filter = identifier ? `${field}:eq:${identifier}` : `borrower_name:contains:${typed}`;
  const { data } = useData((identifier ? !name : typed.length > 1) ? `workbooks/${workbook}/loans` : null, { filter, limit: OFFERED });
  const offered = new Map(data?.rows.map((_, index) => {
    const loan = loanOf((one) => data.columns[one]?.[index] ?? null);
    return [`${loan.borrower_name} ${identifierOf(loan)[1] ?? ""}`, loan];
  }));
  const take = ({ target: { value } }) => {
    const loan = offered.get(value);
    change(loan ? { ...loan, par_value: row.par_value || loan.par_value } : { borrower_name: value, cusip: "", loan_data: "" });
  };
  return html`<${Field} label="Borrower" name=${`borrower-${at}`} value=${name} onInput=${take} list=${`loans-${at}`} autocomplete="off" maxlength="255" placeholder=${(identifier && data?.columns.borrower_name?.[0]) || "Part of the name"} hint=${identifier} />
    <datalist id=${`loans-${at}`}>${[...offered.keys()].map((one) => html`<option value=${one} />`)}</datalist>`;
}
