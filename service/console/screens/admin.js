// Administration: people and API keys; what the organisation chooses and its audit log are parts of their own.
import { html, useState } from "../parts/html.js";
import { post } from "../api.js";
import { href, me, route, setQuery } from "../state.js";
import { Audit } from "../parts/admin/audit.js";
import { Act, change, List, Secret } from "../parts/admin/list.js";
import { Settings } from "../parts/admin/settings.js";
import { refreshData, useTask } from "../parts/data.js";
import { Dialog } from "../parts/dialog.js";
import { Field, Form, Select } from "../parts/form.js";
import { day, moment, number, words } from "../parts/format.js";
import { Empty } from "../parts/problem.js";

const TABS = {
  people: ["People", People], keys: ["API keys", Keys], settings: ["Settings", Settings],
  audit: ["Audit log", Audit], activity: ["Activity", Activity], "dead-letters": ["Dead letters", DeadLetters],
};
const ROLES = { owner: "everything, other owners too", admin: "people, keys and settings, too", analyst: "reads and changes deals", viewer: "reads" };
const STATUSES = { pending_review: "Wait for review", retried: "Tried again", resolved: "Resolved", discarded: "Discarded", all: "All" };
const GRACE_HOURS = 24;
const owns = () => me.value.role === "owner";

export default function Admin({ tab = "people" }) {
  const [title, Tab] = TABS[tab] ?? TABS.people;
  if (!owns() && me.value.role !== "admin") return html`<${Empty} title="Administration"><p>Owners and admins of ${me.value.tenant.name} see this. Ask one of them.</p><//>`;
  return html`<h1>Administration</h1><nav class="tabs" aria-label="Administration">${Object.entries(TABS).map(([path, [name]]) => html`<a key=${path}
      href=${href("admin", path)} aria-current=${name === title ? "page" : undefined}>${name}</a>`)}</nav>
    <section aria-label=${title}><${Tab} key=${tab} /></section>`;
}

function People() {
  const [shown, setShown] = useState(null); // "form", then the invitation
  const close = () => setShown(null);
  const roles = Object.keys(ROLES).filter((role) => role !== "owner" || owns());
  const task = useTask(async (fields) => {
    setShown(await post("admin/users/invite", fields));
    refreshData("admin/users");
  });
  const alter = (user, name, value, text) => change("PATCH", `admin/users/${user.id}`, { [name]: value }, `${user.full_name} ${text}`, { [name]: user[name] });
  const fixed = (user) => user.id === me.value.id || (user.role === "owner" && !owns());
  const turn = { active: ["Deactivate", "inactive", "cannot sign in any more"], inactive: ["Activate", "active", "can sign in again"] };
  const columns = [
    { key: "full_name", label: "Name", show: (user) => html`${user.full_name}${user.id === me.value.id && html` <small class="muted">you</small>`}<small class="narrow-only">${user.email}</small>` },
    { key: "email", label: "E-mail", className: "narrow-off" },
    { key: "role", label: "Role", show: (user) => (fixed(user) ? words(user.role) : html`<select aria-label=${`Role of ${user.full_name}`}
      onChange=${({ target }) => alter(user, "role", target.value, `is ${target.value} now`)}>${roles.map((role) => html`<option value=${role} selected=${role === user.role}>${words(role)}</option>`)}</select>`) },
    { key: "status", label: "Status", show: (user) => words(user.status), className: "narrow-off" },
    { key: "two_factor_enabled", label: "Two-factor", value: (user) => (user.two_factor_enabled ? "On" : "Off"), className: "narrow-off" },
    { key: "last_login", label: "Last sign-in", show: (user) => moment(user.last_login), className: "narrow-off moment" },
    { key: "more", label: "", spoken: "Actions", show: (user) => !fixed(user) && html`<span class="actions">
      ${turn[user.status] && html`<${Act} label=${turn[user.status][0]} of=${user.full_name} run=${() => alter(user, "status", ...turn[user.status].slice(1))} />`}
      <${Act} label="Remove" of=${user.full_name} ask="Their sessions and API keys end at once. Deals and runs stay." run=${() => change("DELETE", `admin/users/${user.id}`, undefined, `${user.full_name} was removed`)} /></span>` },
  ];
  return html`<p><button class="primary" onClick=${() => setShown("form")}>Invite somebody</button></p>
    <${List} caption="People" path="admin/users" columns=${columns} />
    ${shown === "form" && html`<${Dialog} title="Invite somebody" close=${close}><${Form} task=${task} action="Invite" onSubmit=${task.run} cancel=${close}>
      <${Field} label="E-mail" name="email" type="email" required maxlength="254" error=${task.error} /><${Field} label="Name" name="full_name" required maxlength="200" error=${task.error} />
      <${Field} label="Role" name="role" error=${task.error}>${(props) => html`<select ...${props}>${roles.map((role) => html`<option value=${role} selected=${role === "analyst"}>${words(role)}: ${ROLES[role]}</option>`)}</select>`}<//>
      <//><//>`}
    ${shown?.id && html`<${Secret} title=${`${shown.full_name} is invited`} what="Invitation link" close=${close} text=${`${location.origin}/console/${href("accept-invitation", { token: shown.invitation_token })}`}>
      <p>A mail with this link is on its way to ${shown.email}. It works once, until ${moment(shown.expires_at)}.</p><//>`}`;
}

function Keys() {
  const [shown, setShown] = useState({}); // {make: true}, {old: the key to replace} or {secret: the new key}
  const close = () => setShown({});
  const done = (secret) => {
    setShown({ secret });
    refreshData("admin/api-keys");
  };
  const make = useTask(async (fields, form) => done(await post("admin/api-keys", { ...fields, expires_at: fields.expires_at || null, permissions: new FormData(form).getAll("permissions") })));
  const replace = useTask(async ({ hours }) => done((await post(`admin/api-keys/${shown.old.id}/rotate`, { grace_period_hours: Number(hours) })).new_key));
  const works = ({ status, expires_at: end }) => status === "active" || (status === "deprecated" && Date.parse(end) > Date.now());
  const standing = (key) => (key.status !== "deprecated" ? words(key.status) : works(key) ? `Works until ${moment(key.expires_at)}` : "Replaced");
  const columns = [
    { key: "name", label: "Name", show: (key) => html`${key.name}<small class="muted block">${key.description}</small>` },
    { key: "key_prefix", label: "Begins with", show: (key) => html`<code>${key.key_prefix}</code>`, className: "narrow-off" },
    { key: "status", label: "Status", value: standing },
    { key: "permissions", label: "May", value: ({ permissions }) => permissions.join(", "), className: "narrow-off wraps" },
    { key: "usage_count", label: "Requests", number: true, show: (key) => number(key.usage_count), className: "narrow-off" },
    { key: "last_used_at", label: "Last used", show: (key) => moment(key.last_used_at), className: "narrow-off moment" },
    { key: "expires_at", label: "Expires", show: (key) => (key.expires_at ? day(key.expires_at) : "never"), className: "narrow-off" },
    { key: "more", label: "", spoken: "Actions", show: (key) => works(key) && html`<span class="actions">
      ${key.status === "active" && html`<${Act} label="Replace" of=${key.name} run=${() => setShown({ old: key })} />`}
      <${Act} label="Revoke" of=${key.name} ask="Programs that call with this key are refused at once. Nothing brings it back." run=${() => change("DELETE", `admin/api-keys/${key.id}`, undefined, `${key.name} is revoked`)} /></span>` },
  ];
  return html`<p><button class="primary" onClick=${() => setShown({ make: true })}>Make a key</button></p>
    <${List} caption="API keys" path="admin/api-keys" columns=${columns} empty=${html`<${Empty} title="No keys yet"><p>A key lets a program call the API in the name of whoever makes it, with the rights that you choose.</p><//>`} />
    ${shown.make && html`<${Dialog} title="Make a key" close=${close}><${Form} task=${make} action="Make the key" onSubmit=${make.run} cancel=${close}>
      <${Field} label="Name" name="name" required maxlength="200" error=${make.error} /><${Field} label="What it is for" name="description" maxlength="2000" error=${make.error} />
      <fieldset><legend>What it may do</legend><div class="checks">${me.value.scopes.map((scope) => html`<label key=${scope}><input type="checkbox" name="permissions" value=${scope} /> ${scope}</label>`)}</div></fieldset>
      <div class="row"><${Field} label="Expires" name="expires_at" type="date" hint="Empty: never" error=${make.error} />
        <${Field} label="Environment" name="environment">${(props) => html`<select ...${props}><option value="live">Live</option><option value="test">Test</option></select>`}<//></div><//><//>`}
    ${shown.old && html`<${Dialog} title=${`Replace ${shown.old.name}`} close=${close}><p>A new key with the same rights takes over.</p>
      <${Form} task=${replace} action="Replace the key" onSubmit=${replace.run} cancel=${close}>
      <${Field} label="Hours that the old key still works" name="hours" type="number" min="0" max="8760" required value=${GRACE_HOURS} error=${replace.error} /><//><//>`}
    ${shown.secret && html`<${Secret} title=${shown.secret.name} what="API key" text=${shown.secret.key} close=${close}><p>Requests carry it in the header <code>X-API-Key</code>.</p><//>`}`;
}

function Activity() {
  return html`<${List} caption="Activity" path="activity" rows columns=${[
    { key: "created_at", label: "When", className: "moment", show: (item) => moment(item.created_at) },
    { key: "description", label: "What", className: "wraps", show: (item) => html`<span class=${item.status === "failed" ? "fail" : ""}>${item.description}</span>` },
  ]} />`;
}

function DeadLetters() {
  const status = route.value.query.get("status") ?? "pending_review";
  const columns = [
    { key: "failed_at", label: "Failed", className: "moment", show: (entry) => moment(entry.failed_at) },
    { key: "task_name", label: "Task" },
    { key: "reason", label: "Why", className: "wraps", value: ({ exception }) => `${exception.type}: ${exception.message}`, show: ({ exception }) => html`<details><summary>${exception.type}: ${exception.message}</summary><pre>${exception.traceback}</pre></details>` },
    { key: "status", label: "Status", value: (entry) => STATUSES[entry.status], className: "narrow-off" },
    { key: "retry_count", label: "Retries", number: true, className: "narrow-off" },
    { key: "more", label: "", spoken: "Actions", show: ({ dlq_id: id, task_name: name, status: now }) => now === "pending_review" && html`<span class="actions">
      <${Act} label="Try again" of=${name} run=${() => change("POST", `dlq/entries/${id}/retry`, undefined, `${name} is given to a worker again`)} />
      <${Act} label="Discard" of=${name} ask="Its work is never done. Nothing brings it back." run=${() => change("DELETE", `dlq/entries/${id}`, undefined, `${name} is discarded`)} /></span>` },
  ];
  return html`<div class="row"><${Select} label="Show" value=${status} onChange=${(value) => setQuery({ status: value, page: null }, { replace: false })}
      options=${Object.entries(STATUSES).map(([value, label]) => ({ value, label }))} /></div>
    <${List} caption="Dead letters" path="dlq/entries" rows query=${{ status: status === "all" ? null : status }} keyOf=${(entry) => entry.dlq_id} columns=${columns}
      empty=${html`<${Empty} title="Nothing here"><p>A background task that fails for good shows here, to be tried again or discarded.</p><//>`} />`;
}
