// One's own account: name, password, two-factor login, sessions. A tenant that requires two-factor login leads here.
import { html } from "../parts/html.js";
import { leave, post } from "../api.js";
import { go, href, me, mustEnrol, notify } from "../state.js";
import { useTask } from "../parts/data.js";
import { confirmed } from "../parts/dialog.js";
import { Password } from "../parts/entrance.js";
import { Form } from "../parts/form.js";
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
  return html`<h1>Account</h1><div class="columns account">
    <section class="card"><h2>You</h2><${Facts} /></section>
    <section class="card"><h2>Two-factor login</h2><${TwoFactor} /></section>
    <section class="card"><h2>Password</h2><${PasswordChange} /></section>
    <section class="card"><h2>Sessions</h2><${Sessions} /></section>
  </div>`;
}

function Facts() {
  const { full_name: name, email, role, tenant } = me.value;
  const rows = [["Name", name], ["E-mail", email], ["Role", words(role)], ["Organisation", tenant.name], ["Tier", words(tenant.tier)], ["Time zone", tenant.timezone]];
  return html`<dl class="facts">${rows.map(([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`)}</dl>
    <p class="muted">An administrator of your organisation changes the name and the role.</p>`;
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
  return html`<p>${minutes ? `A session ends after ${minutes} minutes without a request.` : "You stay signed in here for 7 days after the last visit."}</p>
    <${Problem} error=${task.error} />
    <p class="row"><button disabled=${task.busy} onClick=${() => task.run()}>Sign out here</button>
      <button class="danger" disabled=${task.busy} onClick=${everywhere}>Sign out everywhere</button></p>`;
}
