// Where a screen stands at each address, and the frame around it.
import { effect, html, render, signal, useEffect, useState } from "./parts/html.js";
import { resume } from "./api.js";
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
const RELOADED = "cushion.reloaded"; // when the page was loaded anew because its files are of another version
const RELOAD_APART_MS = 10_000;
const LOAD_TRIES = 8;
const LOAD_PAUSE_MS = 1_500;

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

/** Load a screen's module. While the service is away it is tried again; files of a replaced version load the page anew, once. */
async function loadScreen(file) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { screens } = await import(`./screens.js${attempt > 1 ? `?${attempt}` : ""}`); // a browser may keep a failure by its address
      return screens[file];
    } catch (problem) {
      const page = await servedPage();
      if (page === "other" && mayReload()) return reloaded();
      if (page === "other" || attempt >= (page === "this" ? 2 : LOAD_TRIES)) throw problem;
    }
    await new Promise((resolve) => setTimeout(resolve, LOAD_PAUSE_MS));
  }
}

/** Which page the service has by now: "this", one of "other" files, or none while it is "away". */
async function servedPage() {
  try {
    const answer = await fetch("/console/");
    if (!answer.ok) return "away";
    return (await answer.text()).includes(new URL(".", import.meta.url).pathname) ? "this" : "other";
  } catch {
    return "away";
  }
}

/** Whether the page was not loaded anew just now: two versions behind one address would do so for ever. */
function mayReload() {
  return Date.now() - Number(sessionStorage.getItem(RELOADED) ?? 0) > RELOAD_APART_MS;
}

function reloaded() {
  sessionStorage.setItem(RELOADED, String(Date.now()));
  location.reload();
  return new Promise(() => {});
}

const modules = new Map();

function Screen({ place }) {
  const [state, setState] = useState({ file: place.file, module: modules.get(place.file), error: null });
  useEffect(() => {
    let gone = false;
    loadScreen(place.file).then(
      (module) => {
        modules.set(place.file, module);
        if (!gone) setState({ file: place.file, module, error: null });
      },
      () => gone || setState({ file: place.file, module: null, error: { message: "The page could not be loaded", status: 0 } }),
    );
    return () => {
      gone = true;
    };
  }, [place.file]);
  if (state.error) return html`<${Problem} error=${state.error} retry=${() => location.reload()} />`;
  const module = modules.get(place.file);
  if (!module) return html`<p class="waiting" role="status">Loading</p>`;
  return html`<${module.default} key=${place.file + (place.names.id ?? "")} ...${place.names} />`;
}

const startFault = signal(null);

function start() {
  startFault.value = null;
  resume().catch((error) => {
    startFault.value = error;
  });
}

function App() {
  const user = me.value;
  const { path, query } = route.value;
  const place = placeOf(path);
  useEffect(() => {
    document.title = place ? `${place.title} · Cushion` : "Cushion";
  }, [place?.title]);
  if (user === undefined) {
    return startFault.value
      ? html`<main class="alone"><h1>Cushion</h1><${Problem} error=${startFault.value} retry=${start} /></main>`
      : html`<p class="starting" role="status">Cushion is starting.</p>`;
  }
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

let seenUser = null;
effect(() => {
  const id = me.value?.id ?? null;
  if (id !== seenUser) forgetData(); // nothing that one user read is shown to the next one
  seenUser = id;
});
