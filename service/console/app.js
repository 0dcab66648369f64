// Where a screen stands at each address, and the frame around it.
import { effect, html, render, signal, useEffect } from "./parts/html.js";
import { load, resume } from "./api.js";
import { go, href, me, mustEnrol, route } from "./state.js";
import { forgetData } from "./parts/data.js";
import { Frame } from "./parts/frame.js";
import { Notices } from "./parts/notices.js";
import { Question } from "./parts/dialog.js";
import { Problem } from "./parts/problem.js";

/** Addresses: `:id` is any part. `open`: no session is needed. `enrol`: shown before two-factor login is set up, too. */
const ROUTES = [
  { path: "sign-in", file: "sign_in", title: "Sign in", open: true },
  { path: "register", file: "sign_in", title: "Register", open: true },
  { path: "accept-invitation", file: "sign_in", title: "Accept an invitation", open: true },
  { path: "forgot-password", file: "sign_in", title: "Reset the password", open: true },
  { path: "reset-password", file: "sign_in", title: "Choose a new password", open: true },
  { path: "", file: "deals", title: "Deals" },
  { path: "deals", file: "deals", title: "Deals" },
  { path: "deals/:id", file: "compliance", title: "Compliance" },
  { path: "deals/:id/compliance", file: "compliance", title: "Compliance" },
  { path: "deals/:id/mapping", file: "mapping", title: "Mapping" },
  { path: "deals/:id/tie-out", file: "tie_out", title: "Tie-out" },
  { path: "deals/:id/loans", file: "loans", title: "Loans" },
  { path: "deals/:id/movements", file: "movements", title: "Movements" },
  { path: "deals/:id/what-if", file: "what_if", title: "What-if" },
  { path: "deals/:id/reconciliation", file: "reconciliation", title: "Reconciliation" },
  { path: "deals/:id/ask", file: "ask", title: "Ask" },
  { path: "deals/:id/settings", file: "deal_settings", title: "Deal settings" },
  { path: "reconciliation", file: "reconciliation", title: "Reconciliation" },
  { path: "formulas", file: "formulas", title: "Formulas" },
  { path: "ask", file: "ask", title: "Ask" },
  { path: "exports", file: "exports", title: "Exports and reports" },
  { path: "alerts", file: "alerts", title: "Alerts" },
  { path: "account", file: "account", title: "Account", enrol: true },
  { path: "admin", file: "admin", title: "Administration" },
  { path: "admin/:tab", file: "admin", title: "Administration" },
];

function placeOf(path) {
  for (const row of ROUTES) {
    const parts = row.path.split("/").filter(Boolean);
    if (parts.length !== path.length) continue;
    const names = {};
    const fits = parts.every((part, at) => {
      if (part.startsWith(":")) names[part.slice(1)] = path[at];
      return part.startsWith(":") || part === path[at];
    });
    if (fits) return { ...row, names };
  }
  return null;
}

const screens = signal(null); // by the names of their files, once they are there
const fault = signal(null); // what stops the start: {error, retry}

function Screen({ place }) {
  if (!screens.value) return html`<p class="waiting" role="status">Loading</p>`;
  return html`<${screens.value[place.file].default} key=${place.file + (place.names.id ?? "")} ...${place.names} />`;
}

function start() {
  fault.value = null;
  resume().catch((error) => {
    fault.value = { error, retry: start };
  });
}

function App() {
  const user = me.value;
  const { path, query } = route.value;
  const place = placeOf(path);
  useEffect(() => {
    document.title = place ? `${place.title} · Cushion` : "Cushion";
  }, [place?.title]);
  if (fault.value) return html`<main class="alone"><h1>Cushion</h1><${Problem} ...${fault.value} /></main>`;
  if (user === undefined) return html`<p class="starting" role="status">Cushion is starting.</p>`;
  if (user === null && !place?.open) {
    queueMicrotask(() => go(href("sign-in", { next: location.hash.slice(1) }), { replace: true }));
    return null;
  }
  if (mustEnrol.value && !place?.open && !place?.enrol) {
    queueMicrotask(() => go(href("account", { enrol: "required" }), { replace: true }));
    return null;
  }
  if (user && (path[0] === "sign-in" || path[0] === "register")) {
    const next = query.get("next") ?? "/";
    queueMicrotask(() => go(`#${next.startsWith("/") ? next : "/"}`, { replace: true }));
    return null;
  }
  const screen = place
    ? html`<${Screen} place=${place} />`
    : html`<div class="empty"><h1>There is no such page</h1><p><a href="#/">All deals</a></p></div>`;
  const framed = place?.open || mustEnrol.value ? html`<main class="alone" id="main">${screen}</main>` : html`<${Frame} place=${place}>${screen}<//>`;
  return html`${framed}<${Notices} /><${Question} />`;
}

render(html`<${App} />`, document.getElementById("app"));
document.querySelector("#app > .starting")?.remove();
start();
load((again) => import(`./screens.js${again}`)).then(
  (loaded) => {
    screens.value = loaded.screens;
  },
  (error) => {
    fault.value = { error, retry: () => location.reload() };
  },
);

let seenUser = null;
effect(() => {
  const id = me.value?.id ?? null;
  if (id !== seenUser) forgetData(); // nothing that one user read is shown to the next one
  seenUser = id;
});
