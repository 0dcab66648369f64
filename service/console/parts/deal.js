// The head of a deal's screens: its name, its months, the way to its other screens.
import { html } from "./html.js";
import { can, href, route, setQuery } from "../state.js";
import { useData } from "./data.js";
import { day } from "./format.js";
import { Loaded } from "./problem.js";
import { addFiles } from "./drop.js";

const TABS = [
  ["Compliance", "compliance"], ["Loans", "loans"], ["Mapping", "mapping"], ["Tie-out", "tie-out"],
  ["Movements", "movements"], ["What-if", "what-if"], ["Reconciliation", "reconciliation"], ["Ask", "ask"],
  ["Settings", "settings"],
];
const MONTHS_SHOWN = 6;

/** A deal with its workbooks, the newest day first: {deal, months, month (the chosen or newest that is ready)}. */
export function useDeal(id) {
  const deal = useData(`deals/${id}`);
  const books = useData("workbooks", { deal_id: id, page_size: 100 });
  const months = (books.data?.items ?? []).filter(({ status }) => status !== "error").sort((one, other) => (dayOf(other) < dayOf(one) ? -1 : 1));
  const chosen = route.value.query.get("workbook");
  const month = months.find((book) => book.id === chosen) ?? months.find(({ status }) => status === "ready") ?? null;
  const from = { data: deal.data && books.data && { deal: deal.data, months, month }, error: deal.error ?? books.error, loading: deal.loading || books.loading, reload: () => { deal.reload(); books.reload(); } };
  return from;
}

function dayOf(book) {
  return book.as_of ?? book.created_at ?? "";
}

/** Head and content of a deal's screen; `children({deal, months, month})` once it is read. */
export function DealScreen({ id, title, months: chooses = true, actions, children }) {
  const from = useDeal(id);
  return html`<${Loaded} from=${from}>${({ deal, months, month }) => html`
    <header class="deal-head">
      <div class="deal-title"><h1>${deal.name}</h1><span class="actions">${actions?.({ deal, month })}
        ${can("workbooks:write") && html`<button onClick=${() => addFiles(null, { deal: id })}>Add a file</button>`}</span></div>
      <nav class="tabs" aria-label="Deal">${TABS.map(([name, path]) => html`<a key=${path} href=${href("deals", id, path, { workbook: route.value.query.get("workbook") })} aria-current=${isHere(path) ? "page" : undefined}>${name}</a>`)}</nav>
      ${chooses && months.length > 0 && html`<${Months} months=${months} month=${month} />`}
    </header>
    <section aria-label=${title}>${children({ deal, months, month })}</section>`}<//>`;
}

function isHere(path) {
  return (route.value.path[2] ?? "compliance") === path;
}

function Months({ months, month }) {
  const shown = months.slice(0, MONTHS_SHOWN).reverse();
  if (month && !shown.includes(month)) shown.unshift(month);
  const choose = (id) => setQuery({ workbook: id, test: null, run: null }, { replace: false });
  return html`<div class="months" role="group" aria-label="Month">
    ${shown.map((book) => html`<button key=${book.id} class="pill" aria-pressed=${String(book === month)} onClick=${() => choose(book.id)}>${book.as_of ? day(book.as_of) : book.name}</button>`)}
    ${months.length > MONTHS_SHOWN && html`<select aria-label="All months" onChange=${(event) => event.target.value && choose(event.target.value)}>
      <option value="">All ${months.length}</option>
      ${months.map((book) => html`<option key=${book.id} value=${book.id}>${book.as_of ? day(book.as_of) : book.name}</option>`)}</select>`}
  </div>`;
}
