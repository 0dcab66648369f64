// Pages of a list whose place stands in the address: ?page=3.
import { html } from "../html.js";
import { route, setQuery } from "../../state.js";
import { number } from "../format.js";

/** The page that the address names, from 1. */
export function pageHere() {
  return Math.max(1, Math.trunc(Number(route.value.query.get("page"))) || 1);
}

export function Paging({ total, size }) {
  const last = Math.max(1, Math.ceil(total / size));
  const here = pageHere();
  if (last === 1) return null;
  const to = (page) => () => setQuery({ page: page === 1 ? null : page }, { replace: false });
  return html`<nav class="row paging" aria-label="Pages">
    <button disabled=${here <= 1} onClick=${to(here - 1)}>Newer</button>
    <span>Page ${number(here)} of ${number(last)}</span>
    <button disabled=${here >= last} onClick=${to(here + 1)}>Older</button></nav>`;
}
