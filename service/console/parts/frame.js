// The frame around every screen: the way to the others, who is signed in, the keys, a file dropped anywhere.
import { html, useEffect, useRef, useState } from "./html.js";
import { can, complain, go, href, me, route } from "../state.js";
import { leave } from "../api.js";
import { useData } from "./data.js";
import { Dialog } from "./dialog.js";
import { Drop } from "./drop.js";
import { KeyList, listed, useKeys } from "./keys.js";
import { day } from "./format.js";

const PLACES = [
  ["Deals", "deals", "compliance:read"],
  ["Reconciliation", "reconciliation", "compliance:read"],
  ["Formulas", "formulas", "workbooks:read"],
  ["Ask", "ask", "workbooks:read"],
  ["Exports and reports", "exports", "reports:read"],
  ["Alerts", "alerts"],
];
const DEALS_SHOWN = 12;

export function Frame({ place, children }) {
  const [open, setOpen] = useState(false);
  useEffect(() => setOpen(false), [route.value]);
  useScreenFocus(route.value.path.join("/"));
  useKeys([{ key: "g", what: "All deals", run: () => go(href("deals")) }]);
  return html`<div class=${`frame ${open ? "open" : ""}`}>
    <a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
    <nav class="side" aria-label="Main">
      <div class="brand"><a href="#/">Cushion</a>
        <button class="menu" aria-expanded=${String(open)} onClick=${() => setOpen(!open)}>Menu</button></div>
      <div class="side-rest"><${Deals} current=${place?.names.id} /><${Places} /><${User} /></div>
    </nav>
    <main id="main" tabindex="-1">${children}</main>
    <${Drop} deal=${place?.names.id} />
    ${listed.value && html`<${Dialog} title="Keys" close=${() => { listed.value = false; }}><${KeyList} /><//>`}
  </div>`;
}

/** Another screen begins at its top, and a screen reader goes on there. */
function useScreenFocus(path) {
  const before = useRef(path);
  useEffect(() => {
    if (before.current === path) return;
    before.current = path;
    scrollTo(0, 0);
    const main = document.getElementById("main");
    if (!main.contains(document.activeElement)) main.focus({ preventScroll: true }); // else the screen chose a field
  }, [path]);
}

function skip(event) {
  event.preventDefault();
  document.getElementById("main").focus();
}

function Deals({ current }) {
  const overview = useData(can("compliance:read") ? "console/overview" : null);
  const deals = overview.data?.items ?? [];
  if (deals.length === 0) return null;
  const shown = deals.slice(0, DEALS_SHOWN);
  if (current && !shown.some(({ id }) => id === current)) shown.push(...deals.filter(({ id }) => id === current));
  return html`<ul class="side-deals" aria-label="Deals">
    ${shown.map((deal) => html`<li key=${deal.id}>
      <a href=${href("deals", deal.id, "compliance")} aria-current=${deal.id === current ? "page" : undefined}>${deal.name}<small class=${deal.latest?.failed ? "fail" : ""}>${standing(deal.latest)}</small></a></li>`)}
    ${deals.length > shown.length && html`<li><a class="muted" href="#/deals">All ${deals.length} deals</a></li>`}
  </ul>`;
}

/** A deal's state in a few words: "2026-03-31 · 1 fail". */
function standing(latest) {
  if (!latest) return "no file yet";
  if (latest.failed === null) return `${day(latest.as_of)} · not run`;
  const { failed, warnings } = latest;
  return `${day(latest.as_of)} · ${failed ? `${failed} fail` : warnings ? `${warnings} warn` : "all pass"}`;
}

function Places() {
  const here = route.value.path[0] ?? "deals";
  const places = PLACES.filter(([, , scope]) => !scope || can(scope));
  if (["owner", "admin"].includes(me.value?.role)) places.push(["Admin", "admin"]);
  return html`<ul class="side-places">${places.map(([name, path]) => html`<li key=${path}>
    <a href=${href(path)} aria-current=${here === path && (here !== "deals" || route.value.path.length < 2) ? "page" : undefined}>${name}</a></li>`)}</ul>`;
}

function User() {
  const out = () => leave().catch(complain);
  const user = me.value;
  return html`<div class="user"><a href="#/account" aria-current=${route.value.path[0] === "account" ? "page" : undefined}>${user?.full_name}</a>
    <small>${user?.tenant?.name}</small><button class="plain" onClick=${out}>Sign out</button>
    <button class="plain" onClick=${() => { listed.value = true; }}>Keys (?)</button></div>`;
}

