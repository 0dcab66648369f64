// What the lists of the administration share: pages whose place stands in the address, and changes that say so.
import { html } from "../html.js";
import { call } from "../../api.js";
import { notify, route, setQuery } from "../../state.js";
import { refreshData, useData } from "../data.js";
import { confirmed } from "../dialog.js";
import { number } from "../format.js";
import { Loaded } from "../problem.js";
import { Table } from "../table.js";

const PAGE = 50;

/** A list of the service as a table, page by page; `rows`: the service counts rows, not pages. */
export function List({ path, query, rows, empty, ...table }) {
  const page = Math.max(1, Math.trunc(route.value.query.get("page")) || 1);
  const from = useData(path, { ...query, ...(rows ? { limit: PAGE, offset: (page - 1) * PAGE } : { page, page_size: PAGE }) });
  const turn = (to, text, off) => html`<button disabled=${off} onClick=${() => setQuery({ page: to === 1 ? null : to }, { replace: false })}>${text}</button>`;
  return html`<${Loaded} from=${from}>${({ items, total }) => (total === 0 && empty) || html`<${Table} rows=${items} ...${table} />
    ${total > PAGE && html`<nav class="row" aria-label="Pages">${turn(page - 1, "Newer", page <= 1)}<span>Page ${number(page)} of ${number(Math.ceil(total / PAGE))}</span>
      ${turn(page + 1, "Older", page * PAGE >= total)}</nav>`}`}<//>`;
}

/** Send a change, read its lists anew and say so; with `before` it can be undone. A refusal is a notice. */
export async function change(method, path, body, text, before) {
  try {
    await call(method, path, { body });
    refreshData("admin/", "dlq/");
    notify("good", text, { action: before && { label: "Undo", run: () => change(method, path, before, "Undone") } });
  } catch (error) {
    notify("bad", error.message, { requestId: error.requestId });
  }
}

/** A button of a row; with `ask` it asks first, since nothing brings it back. */
export function Act({ label, of, run, ask }) {
  const act = async () => (!ask || (await confirmed(`${label} ${of}?`, ask, label))) && run();
  return html`<button class=${ask ? "danger" : ""} aria-label=${`${label} ${of}`} onClick=${act}>${label}</button>`;
}
