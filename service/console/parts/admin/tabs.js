// The head of the administration's screens.
import { html } from "../html.js";
import { can, href, me, route } from "../../state.js";

const TABS = [
  ["People", "people", "admin:users"], ["API keys", "keys", "admin:api-keys"], ["Settings", "settings", "admin:users"],
  ["Audit log", "audit", "admin:users"], ["Activity", "activity", "workbooks:read"], ["Dead letters", "dead-letters", "admin:users"],
];

const ROLES = ["owner", "admin"];

/** A screen for owners and admins; others read whom to ask, and nothing is asked of the service. */
export const forAdmins = (Screen) => (names) => (ROLES.includes(me.value.role)
  ? html`<${Screen} ...${names} />`
  : html`<div class="empty"><h1>Administration</h1><p>Owners and admins of ${me.value.tenant.name} see this. Ask one of them.</p></div>`);

export function AdminScreen({ title, actions, children }) {
  const here = route.value.path[1] ?? "people";
  return html`<header><div class="deal-title"><h1>Administration</h1><span class="actions">${actions}</span></div>
    <nav class="tabs" aria-label="Administration">${TABS.filter(([, , scope]) => can(scope)).map(([name, path]) => html`<a key=${path}
      href=${href("admin", path)} aria-current=${here === path ? "page" : undefined}>${name}</a>`)}</nav></header>
    <section aria-label=${title}>${children}</section>`;
}
