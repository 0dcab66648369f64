// Where a screen stands at each address, and the frame around it.
import { effect, html, render, useEffect, useState } from "./parts/html.js";
import { resume } from "./api.js";
import { go, href, me, notify, route } from "./state.js";
import { Frame } from "./parts/frame.js";
import { Notices } from "./parts/notices.js";
import { Question } from "./parts/dialog.js";
import { Problem } from "./parts/problem.js";

/** Addresses: `:id` is any part. `open`: no session is needed. `enrol`: shown before two-factor login is set up, too. */
const ROUTES = [
  { path: "sign-in", file: "sign_in", title: "Sign in", open: true },
  { path: "register", file: "register", title: "Register", open: true },
  { path: "accept-invitation", file: "accept_invitation", title: "Accept an invitation", open: true },
  { path: "forgot-password", file: "forgot_password", title: "Reset the password", open: true },
  { path: "reset-password", file: "reset_password", title: "Choose a new password", open: true },
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
  { path: "admin", file: "admin", title: "Admin" },
  { path: "admin/:tab", file: "admin", title: "Admin" },
];
const RELOADED = "cushion.reloaded"; // when the page was loaded anew because its files are of another version
const RELOAD_APART_MS = 10_000;

function found(path) {
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

/** A screen's module; files that are gone belong to a service that was replaced: the page is loaded once more. */
async function loaded(file) {
  try {
    return await import(`./screens/${file}.js`);
  } catch (problem) {
    const last = Number(sessionStorage.getItem(RELOADED) ?? 0);
    if (Date.now() - last < RELOAD_APART_MS) throw problem;
    sessionStorage.setItem(RELOADED, String(Date.now()));
    location.reload();
    return new Promise(() => {});
  }
}

const modules = new Map();

function Screen({ place }) {
  const [state, setState] = useState({ file: place.file, module: modules.get(place.file), error: null });
  useEffect(() => {
    let gone = false;
    loaded(place.file).then(
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

function App() {
  const user = me.value;
  const { path, query } = route.value;
  const place = found(path);
  useEffect(() => {
    document.title = place ? `${place.title} · Cushion` : "Cushion";
  }, [place?.title]);
  if (user === undefined) return html`<p class="starting" role="status">Cushion is starting.</p>`;
  if (place && !place.open && user === null) {
    queueMicrotask(() => go(href("sign-in", { next: location.hash.slice(1) }), { replace: true }));
    return null;
  }
  if (user?.tenant?.two_factor_required && !user.two_factor_enabled && !place?.enrol) {
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
  const framed = place?.open ? html`<main class="alone" id="main">${screen}</main>` : html`<${Frame} place=${place}>${screen}<//>`;
  return html`${framed}<${Notices} /><${Question} />`;
}

render(html`<${App} />`, document.getElementById("app"));
document.querySelector("#app > .starting")?.remove();
resume().catch((error) => {
  me.value = null;
  notify("bad", error.message, { requestId: error.requestId });
});
effect(() => {
  if (me.value === null) document.documentElement.dataset.session = "none";
  else delete document.documentElement.dataset.session;
});
