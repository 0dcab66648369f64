// One's own account: name, password, two-factor login, sessions. A tenant that requires two-factor login leads here.
import { html } from "../parts/html.js";
import { leave, patch, post, reload } from "../api.js";
import { can, go, href, me, mustEnrol, notify } from "../state.js";
import { useTask } from "../parts/data.js";
import { confirmed } from "../parts/dialog.js";
import { Password } from "../parts/entrance.js";
import { Field, Form } from "../parts/form.js";
import { words } from "../parts/format.js";
import { Problem } from "../parts/problem.js";
import { TwoFactor } from "../parts/two_factor.js";

export default function Account() {
  return mustEnrol.value ? html`<${Required} />` : html`<${Everything} />`;
}

/** All that somebody may do whose second factor is still missing. */
function Required() {
  const out = useTask(leave);
  return html`<div class="entrance"><section class="card"><h1>Set up two-factor login</h1>
    <p class="note">${me.value.tenant.name} requires two-factor login. Set it up to go on; you need an authenticator app on a phone.</p>
    <${TwoFactor} done=${() => go(href(), { replace: true })} /></section>
    <p class="ways"><button class="plain" onClick=${() => out.run()}>Sign out</button></p><${Problem} error=${out.error} /></div>`;
}

function Everything() {
  return html`<h1>Account</h1><div class="account">
    <section class="card"><h2>You</h2><${Facts} /></section>
    <section class="card"><h2>Two-factor login</h2><${TwoFactor} /></section>
    <section class="card"><h2>Password</h2><${PasswordChange} /></section>
    <section class="card"><h2>Sessions</h2><${Sessions} /></section>
  </div>`;
}

function Facts() {
  const { full_name: name, email, role, tenant } = me.value;
  const rows = [["E-mail", email], ["Role", words(role)], ["Organisation", tenant.name], ["Tier", words(tenant.tier)], ["Time zone", tenant.timezone]];
  return html`${can("admin:users") ? html`<${Name} />` : html`<p><strong>${name}</strong></p>`}
    <dl class="facts">${rows.map(([label, value]) => html`<div key=${label}><dt>${label}</dt><dd>${value}</dd></div>`)}</dl>
    ${!can("admin:users") && html`<p class="muted">An owner or admin of your organisation changes your name and role.</p>`}`;
}

function Name() {
  const task = useTask(async (fields) => {
    await patch(`admin/users/${me.value.id}`, fields);
    await reload();
    notify("good", "The name is changed");
  });
  return html`<${Form} task=${task} action="Change the name" onSubmit=${task.run}>
    <${Field} label="Name" name="full_name" value=${me.value.full_name} required maxlength="200" autocomplete="name" error=${task.error} /><//>`;
}

function PasswordChange() {
  const task = useTask(async ({ form, ...fields }) => {
    await post("auth/password/change", fields);
    form.reset();
    notify("good", "The password is changed; your other sessions are signed out");
  });
  return html`<${Form} task=${task} action="Change the password" onSubmit=${(fields, form) => task.run({ ...fields, form })}>
    <input type="text" name="username" autocomplete="username" value=${me.value.email} hidden disabled />
    <${Password} label="Present password" name="current_password" error=${task.error} />
    <${Password} label="New password" name="new_password" fresh error=${task.error} />
  <//>`;
}

function Sessions() {
  const task = useTask(leave);
  const minutes = me.value.tenant.session_timeout_minutes;
  const everywhere = async () => {
    if (await confirmed("Sign out everywhere?", "Every session of yours ends at once, this one too.", "Sign out everywhere")) await task.run({ everywhere: true });
  };
  return html`<p>${minutes ? `A session ends after ${minutes} minutes without a request.` : "You stay signed in on this browser until you sign out, or do not come back for some days."}</p>
    <${Problem} error=${task.error} />
    <p class="row"><button disabled=${task.busy} onClick=${() => task.run()}>Sign out here</button>
      <button class="danger" disabled=${task.busy} onClick=${everywhere}>Sign out everywhere</button></p>`;
}
