// The head of a deal's screens: its name, its months, the way to its other screens.
import { html, useMemo } from "./html.js";
import { remove } from "../api.js";
import { can, complain, href, route, setQuery } from "../state.js";
import { refreshData, useData } from "./data.js";
import { confirmed } from "./dialog.js";
import { Pills } from "./form.js";
import { counted, day } from "./format.js";
import { Empty, Loaded } from "./problem.js";
import { addFiles } from "./drop.js";

const TABS = [
  ["Compliance", "compliance"], ["Loans", "loans"], ["Mapping", "mapping"], ["Tie-out", "tie-out"],
  ["Movements", "movements"], ["What-if", "what-if"], ["Reconciliation", "reconciliation"], ["Ask", "ask"],
  ["Settings", "settings"],
];
const MONTHS_SHOWN = 6;
const OVERVIEW_FRESH_SECONDS = 60;

/** A deal with its workbooks, the newest day first: {deal, months, month (the chosen or newest that is ready)}. */
function useDeal(id) {
  const deal = useData(`deals/${id}`);
  const books = useData("workbooks", { deal_id: id, page_size: 100 });
  const overview = useData(can("compliance:read") ? "console/overview" : null, undefined, { freshSeconds: OVERVIEW_FRESH_SECONDS });
  const files = useMemo(() => inOrder(books.data?.items ?? [], daysOf(overview.data?.items.find((one) => one.id === id))), [id, books.data, overview.data]);
  const months = files.filter(({ status }) => status !== "error");
  const chosen = route.value.query.get("workbook");
  const month = months.find((book) => book.id === chosen) ?? months.find(({ status }) => status === "ready") ?? null;
  const complete = deal.data && books.data && (overview.data || overview.error || !overview.loading);
  const unread = files.filter(({ status }) => status === "error");
  const reload = () => [deal, books].forEach((one) => one.reload());
  return { data: complete ? { deal: deal.data, months, month, unread } : undefined, error: deal.error ?? books.error, loading: deal.loading || books.loading, reload };
}

/** The days that runs found in the files, by workbook: nobody has to say them. */
function daysOf(deal) {
  const { months = [], latest } = deal ?? {};
  return new Map([...months, latest].filter((one) => one?.run_id).map((one) => [one.workbook_id, one.as_of]));
}

const dayOf = (book) => book.as_of ?? book.created_at ?? "";

/** Files with the days that are known, the newest first. */
function inOrder(books, days) {
  const dated = books.map((book) => ({ ...book, as_of: book.as_of ?? days.get(book.id) ?? null }));
  return dated.sort((one, other) => (dayOf(other) < dayOf(one) ? -1 : 1));
}

/** Head and content of a deal's screen; `children({deal, months, month, reload})` once it is read. */
export function DealScreen({ id, title, months: chooses = true, actions, children }) {
  const from = useDeal(id);
  if (!from.data && [404, 422].includes(from.error?.status)) return html`<${Empty} title="There is no such deal"><p>It may have been deleted. <a href="#/deals">All deals</a></p><//>`;
  return html`<${Loaded} from=${from}>${({ deal, months, month, unread }) => html`
    <header class="deal-head">
      <div class="deal-title"><h1>${deal.name}</h1><span class="actions">${actions?.({ deal, month })}
        ${can("workbooks:write") && html`<button onClick=${() => addFiles(null, { deal: id })}>Add a file</button>`}</span></div>
      <nav class="tabs" aria-label="Deal">${TABS.map(([name, path]) => html`<a key=${path} href=${href("deals", id, path, { workbook: route.value.query.get("workbook") })} aria-current=${isHere(path) ? "page" : undefined}>${name}</a>`)}</nav>
      ${chooses && months.length > 0 && html`<${Months} months=${months} month=${month} />`}
      ${unread.length > 0 && html`<${Unread} books=${unread} />`}
    </header>
    <section aria-label=${title}>${children({ deal, months, month, reload: from.reload })}</section>`}<//>`;
}

/** What there is instead of a month's file that can be read: the next step; `why` is what a file gives. */
export function unready(month, why) {
  if (!month) return html`<${Empty} title="No file yet"><p>Add a file of the deal: ${why}.</p><//>`;
  return month.status !== "ready" && html`<${Empty} title="The file is being read"><p>Come back in a moment.</p><//>`;
}

/** Files that could not be read, why, and their end. */
function Unread({ books }) {
  const drop = async (book) => {
    if (!(await confirmed(`Delete ${book.name}?`, "The file is deleted for good.", "Delete the file"))) return;
    await remove(`workbooks/${book.id}`).catch(complain);
    refreshData("workbooks", "deals", "console/overview");
  };
  return html`<details class="note"><summary>${counted(books.length, "file")} could not be read</summary>
    <ul>${books.map((book) => html`<li key=${book.id}><strong>${book.name}</strong>: ${book.error_message}
      ${can("workbooks:write") && html` <button onClick=${() => drop(book)}>Delete</button>`}</li>`)}</ul></details>`;
}

function isHere(path) {
  return (route.value.path[2] ?? "compliance") === path;
}

function Months({ months, month }) {
  const shown = months.slice(0, MONTHS_SHOWN).reverse();
  if (month && !shown.includes(month)) shown.unshift(month);
  const choose = (id) => setQuery({ workbook: id, test: null, run: null }, { replace: false });
  const named = (book) => (book.as_of ? day(book.as_of) : book.name);
  return html`<div class="row months-bar"><${Pills} label="Month" value=${month?.id} onChange=${choose} rows=${shown.map((book) => [book.id, named(book)])} />
    ${months.length > MONTHS_SHOWN && html`<select aria-label="All months" onChange=${(event) => event.target.value && choose(event.target.value)}>
      <option value="">All ${months.length}</option>
      ${months.map((book) => html`<option key=${book.id} value=${book.id}>${named(book)}</option>`)}</select>`}
  </div>`;
}
