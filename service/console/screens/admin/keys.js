// API keys: made and replaced (the secret is shown once), revoked.
import { html, useState } from "../../parts/html.js";
import { post, remove } from "../../api.js";
import { me, notify } from "../../state.js";
import { AdminScreen, forAdmins } from "../../parts/admin/tabs.js";
import { Paging, pageHere } from "../../parts/admin/paging.js";
import { SecretDialog } from "../../parts/admin/secret.js";
import { useData, useTask } from "../../parts/data.js";
import { confirmed, Dialog } from "../../parts/dialog.js";
import { Field, Form, Select } from "../../parts/form.js";
import { day, moment, number, words } from "../../parts/format.js";
import { Empty, Loaded, Problem } from "../../parts/problem.js";
import { Table } from "../../parts/table.js";

const PAGE = 100;
const GRACE_HOURS = 24;
const ENVIRONMENTS = [{ value: "live", label: "Live" }, { value: "test", label: "Test" }];

function Keys() {
  const list = useData("admin/api-keys", { page: pageHere(), page_size: PAGE });
  const [dialog, setDialog] = useState(null); // {make: true}, {replace: key} or {secret: key}
  const close = () => setDialog(null);
  const shown = (key) => {
    setDialog({ secret: key });
    list.reload();
  };
  const revoke = useTask(async (key) => {
    if (!(await confirmed(`Revoke ${key.name}?`, "Programs that call with this key are refused at once. Nothing brings it back.", "Revoke"))) return;
    await remove(`admin/api-keys/${key.id}`);
    list.reload();
    notify("good", `${key.name} is revoked`);
  });
  const make = html`<button class="primary" onClick=${() => setDialog({ make: true })}>Make a key</button>`;
  return html`<${AdminScreen} title="API keys" actions=${make}>
    <${Problem} error=${revoke.error} />
    <${Loaded} from=${list}>${({ items, total }) => (items.length === 0
      ? html`<${Empty} title="No keys yet"><p>A key lets a program call the API in the name of whoever makes it, with the rights that you choose.</p>${make}<//>`
      : html`<${Table} caption="API keys" rows=${items} columns=${columns((key) => setDialog({ replace: key }), revoke.run)} />
          <${Paging} total=${total} size=${PAGE} />`)}<//>
    ${dialog?.make && html`<${Make} close=${close} done=${shown} />`}
    ${dialog?.replace && html`<${Replace} old=${dialog.replace} close=${close} done=${shown} />`}
    ${dialog?.secret && html`<${SecretDialog} title=${dialog.secret.name} what="API key" secret=${dialog.secret.key} close=${close}>
      <p>Requests carry it in the header <code>X-API-Key</code>.</p><//>`}
  <//>`;
}

function columns(replace, revoke) {
  const works = ({ status, expires_at: end }) => status === "active" || (status === "deprecated" && Date.parse(end) > Date.now());
  return [
    { key: "name", label: "Name", show: (key) => html`${key.name}${key.description && html`<small class="muted block">${key.description}</small>`}` },
    { key: "key_prefix", label: "Begins with", show: (key) => html`<code>${key.key_prefix}</code>`, className: "narrow-off" },
    { key: "status", label: "Status", show: (key) => html`<span class=${works(key) ? "" : "muted"}>${key.status !== "deprecated" ? words(key.status) : works(key) ? `Works until ${moment(key.expires_at)}` : "Replaced"}</span>` },
    { key: "permissions", label: "May", value: ({ permissions }) => permissions.join(", "), className: "narrow-off wraps" },
    { key: "usage_count", label: "Requests", number: true, show: (key) => number(key.usage_count), className: "narrow-off" },
    { key: "last_used_at", label: "Last used", show: (key) => moment(key.last_used_at), className: "narrow-off moment" },
    { key: "expires_at", label: "Expires", show: (key) => (key.expires_at ? day(key.expires_at) : "never"), className: "narrow-off" },
    { key: "more", label: "", spoken: "Actions", show: (key) => works(key) && html`<span class="actions">
      ${key.status === "active" && html`<button aria-label=${`Replace ${key.name}`} onClick=${() => replace(key)}>Replace</button>`}
      <button class="danger" aria-label=${`Revoke ${key.name}`} onClick=${() => revoke(key)}>Revoke</button></span>` },
  ];
}

function Make({ close, done }) {
  const [environment, setEnvironment] = useState("live");
  const [permissions, setPermissions] = useState([]);
  const task = useTask(async ({ name, description, expires_at: end }) => {
    const body = { name, environment, permissions, description: description || null, expires_at: end || null };
    done(await post("admin/api-keys", body));
  });
  const turn = (scope) => (event) => setPermissions(me.value.scopes.filter((one) => (one === scope ? event.target.checked : permissions.includes(one))));
  return html`<${Dialog} title="Make a key" close=${close}>
    <${Form} task=${task} action="Make the key" onSubmit=${task.run} cancel=${close}>
      <${Field} label="Name" name="name" required maxlength="200" error=${task.error} />
      <${Field} label="What it is for" name="description" maxlength="2000" error=${task.error} />
      <fieldset><legend>What it may do</legend><div class="checks">
        ${me.value.scopes.map((scope) => html`<label key=${scope}><input type="checkbox" checked=${permissions.includes(scope)} onChange=${turn(scope)} /> ${scope}</label>`)}</div></fieldset>
      <div class="row"><${Field} label="Expires" name="expires_at" type="date" hint="Empty: never" error=${task.error} />
        <${Select} label="Environment" name="environment" value=${environment} onChange=${setEnvironment} options=${ENVIRONMENTS} /></div>
    <//><//>`;
}

function Replace({ old, close, done }) {
  const task = useTask(async ({ hours }) => done((await post(`admin/api-keys/${old.id}/rotate`, { grace_period_hours: Number(hours) })).new_key));
  return html`<${Dialog} title=${`Replace ${old.name}`} close=${close}>
    <p>A new key with the same rights takes over.</p>
    <${Form} task=${task} action="Replace the key" onSubmit=${task.run} cancel=${close}>
      <${Field} label="Hours that the old key still works" name="hours" type="number" min="0" max="8760" required value=${GRACE_HOURS} error=${task.error} />
    <//><//>`;
}

export default forAdmins(Keys);
