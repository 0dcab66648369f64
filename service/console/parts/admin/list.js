// What the lists of the administration share: pages whose place stands in the address, and changes that say so.
import { html } from "../html.js";
import { call } from "../../api.js";
import { complain, href, notify, route, setQuery } from "../../state.js";
import { refreshData, useData } from "../data.js";
import { copy } from "../clipboard.js";
import { confirmed, Dialog } from "../dialog.js";
import { moment, number } from "../format.js";
import { Loaded } from "../problem.js";
import { Table } from "../table.js";

const PAGE = 50;

/** A list of the service as a table, page by page; `rows`: the service counts rows, not pages, by that name. */
export function List({ path, query, rows, empty, ...table }) {
  const page = Math.max(1, Math.trunc(route.value.query.get("page")) || 1);
  const from = useData(path, { ...query, ...(rows ? { limit: PAGE, [rows === true ? "offset" : rows]: (page - 1) * PAGE } : { page, page_size: PAGE }) });
  const turn = (to, text, off) => html`<button disabled=${off} onClick=${() => setQuery({ page: to === 1 ? null : to }, { replace: false })}>${text}</button>`;
  return html`<${Loaded} from=${from}>${({ items, total }) => (total === 0 && empty) || html`<${Table} rows=${items} ...${table} />
    ${total > PAGE && html`<nav class="row" aria-label="Pages">${turn(page - 1, "Newer", page <= 1)}<span>Page ${number(page)} of ${number(Math.ceil(total / PAGE))}</span>
      ${turn(page + 1, "Older", page * PAGE >= total)}</nav>`}`}<//>`;
}

/** Send a change, read its lists anew and say so; with `before` it can be undone. A refusal is a notice. */
export async function change(method, path, body, text, before) {
  try {
    await call(method, path, { body });
    refreshData(path.split("/")[0]);
    notify("good", text, { undo: before && (() => change(method, path, before, "Undone")) });
  } catch (error) {
    complain(error);
  }
}

/** A button of a row; with `ask` it asks first, since nothing brings it back. */
export function Act({ label, of, run, ask }) {
  const act = async () => (!ask || (await confirmed(`${label} ${of}?`, ask, label))) && run();
  return html`<button class=${ask ? "danger" : ""} aria-label=${`${label} ${of}`} onClick=${act}>${label}</button>`;
}

/** A secret that is shown once, to copy. */
export function Secret({ title, what, text, close, children }) {
  return html`<${Dialog} title=${title} close=${close}>${children}<pre class="secret" tabindex="0" aria-label=${what}>${text}</pre>
    <p class="note">It is not shown again: copy it now.</p>
    <footer><button class="primary" onClick=${() => copy(text, `${what} copied`)}>Copy</button><button onClick=${close}>Done</button></footer><//>`;
}

/** Screens beside each other, chosen by `tab` of the address: `tabs` is {name: [title, component]}, absent ones left out. */
export function Tabs({ title, tabs, props }) {
  const { path, query } = route.value;
  const [[first]] = Object.entries(tabs);
  const tab = tabs[query.get("tab")] ? query.get("tab") : first;
  const [name, Tab] = tabs[tab];
  return html`<h1>${title}</h1><nav class="tabs" aria-label=${title}>${Object.entries(tabs).map(([to, [text]]) => html`<a key=${to} href=${href(...path, { tab: to })} aria-current=${to === tab ? "page" : undefined}>${text}</a>`)}</nav>
    <section aria-label=${name}><${Tab} key=${tab} path=${tab} ...${props} /></section>`;
}

/** The columns that lists share: a moment, and the buttons of a row. */
export const when = (key, label, className = "") => ({ key, label, className: `moment ${className}`, show: (row) => moment(row[key]) });
export const acts = (show) => ({ key: "more", label: "", spoken: "Actions", copied: false, show: (row) => html`<span class="actions">${show(row)}</span>` });
