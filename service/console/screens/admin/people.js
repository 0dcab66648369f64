// The people of an organisation: invited, with their roles, active or not, removed.
import { html, useState } from "../../parts/html.js";
import { patch, post, remove } from "../../api.js";
import { href, me, notify } from "../../state.js";
import { AdminScreen, forAdmins } from "../../parts/admin/tabs.js";
import { Paging, pageHere } from "../../parts/admin/paging.js";
import { SecretDialog } from "../../parts/admin/secret.js";
import { useData, useTask } from "../../parts/data.js";
import { confirmed, Dialog } from "../../parts/dialog.js";
import { Field, Form, Select } from "../../parts/form.js";
import { moment, words } from "../../parts/format.js";
import { Loaded, Problem } from "../../parts/problem.js";
import { Table } from "../../parts/table.js";

const PAGE = 100;
const ROLES = [
  ["owner", "Owner: everything, other owners too"], ["admin", "Admin: people, keys and settings, too"],
  ["analyst", "Analyst: reads and changes deals"], ["viewer", "Viewer: reads"],
];

/** The roles that the signed-in user may give. */
const grantable = () => ROLES.filter(([role]) => role !== "owner" || me.value.role === "owner");

function People() {
  const list = useData("admin/users", { page: pageHere(), page_size: PAGE });
  const [asks, setAsks] = useState(false);
  const [invitation, setInvitation] = useState(null);
  const change = useTask(async (user, changes, said) => {
    const before = Object.fromEntries(Object.keys(changes).map((name) => [name, user[name]]));
    await patch(`admin/users/${user.id}`, changes);
    list.reload();
    const undo = async () => {
      await patch(`admin/users/${user.id}`, before);
      list.reload();
    };
    notify("good", said, { action: { label: "Undo", run: undo } });
  });
  const drop = useTask(async (user) => {
    await remove(`admin/users/${user.id}`);
    list.reload();
    notify("good", `${user.full_name} was removed`);
  });
  const invited = (made) => {
    setAsks(false);
    setInvitation(made);
    list.reload();
  };
  return html`<${AdminScreen} title="People" actions=${html`<button class="primary" onClick=${() => setAsks(true)}>Invite somebody</button>`}>
    <${Problem} error=${change.error ?? drop.error} />
    <${Loaded} from=${list}>${({ items, total }) => html`
      <${Table} caption="People" rows=${items} columns=${columns(change.run, drop.run)} />
      <${Paging} total=${total} size=${PAGE} />`}<//>
    ${asks && html`<${Invite} close=${() => setAsks(false)} done=${invited} />`}
    ${invitation && html`<${SecretDialog} title=${`${invitation.full_name} is invited`} what="Invitation link" close=${() => setInvitation(null)}
      secret=${`${location.origin}/console/${href("accept-invitation", { token: invitation.invitation_token })}`}>
      <p>A mail with this link is on its way to ${invitation.email}. It works once, until ${moment(invitation.expires_at)}.</p><//>`}
  <//>`;
}

function columns(change, drop) {
  const mine = (user) => user.id === me.value.id;
  const fixed = (user) => mine(user) || (user.role === "owner" && me.value.role !== "owner");
  return [
    { key: "full_name", label: "Name", show: (user) => html`${user.full_name}${mine(user) && html` <small class="muted">you</small>`}<small class="narrow-only">${user.email}</small>` },
    { key: "email", label: "E-mail", className: "narrow-off" },
    { key: "role", label: "Role", show: (user) => (fixed(user) ? words(user.role) : html`<${RoleChoice} user=${user} change=${change} />`) },
    { key: "status", label: "Status", show: (user) => words(user.status), className: "narrow-off" },
    { key: "two_factor_enabled", label: "Two-factor", value: (user) => (user.two_factor_enabled ? "On" : "Off"), className: "narrow-off" },
    { key: "last_login", label: "Last sign-in", show: (user) => moment(user.last_login), className: "narrow-off moment" },
    { key: "more", label: "", spoken: "Actions", show: (user) => !fixed(user) && html`<${Actions} user=${user} change=${change} drop=${drop} />` },
  ];
}

function RoleChoice({ user, change }) {
  const choose = (event) => change(user, { role: event.target.value }, `${user.full_name} is ${event.target.value} now`);
  return html`<select aria-label=${`Role of ${user.full_name}`} onChange=${choose}>
    ${grantable().map(([role]) => html`<option value=${role} selected=${role === user.role}>${words(role)}</option>`)}</select>`;
}

function Actions({ user, change, drop }) {
  const turn = { active: ["inactive", "Deactivate", "cannot sign in any more"], inactive: ["active", "Activate", "can sign in again"] }[user.status];
  const dropped = async () => {
    if (await confirmed(`Remove ${user.full_name}?`, "Their sessions and API keys end at once. Deals and runs stay.", "Remove")) drop(user);
  };
  return html`<span class="actions">
    ${turn && html`<button aria-label=${`${turn[1]} ${user.full_name}`} onClick=${() => change(user, { status: turn[0] }, `${user.full_name} ${turn[2]}`)}>${turn[1]}</button>`}
    <button class="danger" aria-label=${`Remove ${user.full_name}`} onClick=${dropped}>Remove</button></span>`;
}

function Invite({ close, done }) {
  const [role, setRole] = useState("analyst");
  const task = useTask(async (fields) => done(await post("admin/users/invite", fields)));
  return html`<${Dialog} title="Invite somebody" close=${close}>
    <${Form} task=${task} action="Invite" onSubmit=${task.run} cancel=${close}>
      <${Field} label="E-mail" name="email" type="email" required maxlength="254" error=${task.error} />
      <${Field} label="Name" name="full_name" required maxlength="200" error=${task.error} />
      <${Select} label="Role" name="role" value=${role} onChange=${setRole} error=${task.error} options=${grantable().map(([value, label]) => ({ value, label }))} />
    <//><//>`;
}

export default forAdmins(People);
