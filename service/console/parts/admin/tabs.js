// The head of the administration's screens.
import { html } from "../html.js";
import { can, href, me, route } from "../../state.js";

const TABS = [
  ["People", "people", "admin:users"], ["API keys", "keys", "admin:api-keys"], ["Settings", "settings", "admin:users"],
  ["Audit log", "audit", "admin:users"], ["Activity", "activity", "workbooks:read"], ["Dead letters", "dead-letters", "admin:users"],
];

/** Whether the signed-in user administers the organisation. */
export const administers = () => ["owner", "admin"].includes(me.value?.role);

export function AdminScreen({ title, actions, children }) {
  const here = route.value.path[1] ?? "people";
  if (!administers()) {
    return html`<div class="empty"><h1>Administration</h1><p>Owners and admins of ${me.value.tenant.name} see this. Ask one of them.</p></div>`;
  }
  return html`<header><div class="deal-title"><h1>Administration</h1><span class="actions">${actions}</span></div>
    <nav class="tabs" aria-label="Administration">${TABS.filter(([, , scope]) => can(scope)).map(([name, path]) => html`<a key=${path}
      href=${href("admin", path)} aria-current=${here === path ? "page" : undefined}>${name}</a>`)}</nav></header>
    <section aria-label=${title}>${children}</section>`;
}
