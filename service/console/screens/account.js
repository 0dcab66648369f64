// One's own account: name, password, two-factor login, sessions. A tenant that requires two-factor login leads here.
import { html, useState } from "../parts/html.js";
import { leave, patch, post, reload, saveBlob } from "../api.js";
import { can, go, href, me, mustEnrol, notify } from "../state.js";
import { copy } from "../parts/clipboard.js";
import { useTask } from "../parts/data.js";
import { confirmed } from "../parts/dialog.js";
import { Code, Field, Form, Password } from "../parts/form.js";
import { words } from "../parts/format.js";
import { Problem } from "../parts/problem.js";
import { generate } from "../vendor/lean-qr.js";

const QUIET = 4; // modules of blank margin around a QR code

export default function Account() {
  return mustEnrol.value
    ? html`<div class="entrance"><section class="card"><h1>Set up two-factor login</h1>
        <p class="note">${me.value.tenant.name} requires it. You need an authenticator app on a phone.</p>
        <${TwoFactor} done=${() => go(href(), { replace: true })} /></section><${Sessions} /></div>`
    : html`<h1>Account</h1><div class="account">
        <section class="card"><h2>You</h2><${You} /></section><section class="card"><h2>Password</h2><${NewPassword} /></section>
        <section class="card"><h2>Two-factor login</h2><${TwoFactor} /></section><section class="card"><h2>Sessions</h2><${Sessions} everywhere /></section></div>`;
}

function You() {
  const { id, full_name: name, email, role, tenant } = me.value;
  const task = useTask(async (fields) => {
    await patch(`admin/users/${id}`, fields);
    await reload();
    notify("good", "The name is changed");
  });
  const rows = { "E-mail": email, Role: words(role), Organisation: tenant.name, Tier: words(tenant.tier), "Time zone": tenant.timezone };
  return html`${can("admin:users")
    ? html`<${Form} task=${task} action="Change the name" onSubmit=${task.run}><${Field} label="Name" name="full_name" value=${name} required maxlength="200" error=${task.error} /><//>`
    : html`<p><strong>${name}</strong></p><p class="muted">An owner or admin of your organisation changes your name.</p>`}
    <dl class="facts">${Object.entries(rows).map(([label, value]) => html`<div key=${label}><dt>${label}</dt><dd>${value}</dd></div>`)}</dl>`;
}

function NewPassword() {
  const task = useTask(async (fields, form) => {
    await post("auth/password/change", fields);
    form.reset();
    notify("good", "The password is changed; your other sessions are signed out");
  });
  return html`<${Form} task=${task} action="Change the password" onSubmit=${task.run}>
    <${Password} label="Present password" name="current_password" error=${task.error} /><${Password} label="New password" name="new_password" fresh error=${task.error} /><//>`;
}

function Sessions({ everywhere }) {
  const task = useTask(leave);
  const minutes = me.value.tenant.session_timeout_minutes;
  const all = async () => (await confirmed("Sign out everywhere?", "Every session of yours ends at once, this one too.", "Sign out everywhere")) && task.run({ everywhere });
  return html`<p>${minutes ? `A session ends after ${minutes} minutes without a request.` : "You stay signed in on this browser until you sign out, or do not come back for some days."}</p>
    <${Problem} error=${task.error} />
    <p class="row"><button onClick=${() => task.run()}>Sign out here</button>${everywhere && html`<button class="danger" onClick=${all}>Sign out everywhere</button>`}</p>`;
}

/** Set up by a picture that an authenticator reads, turned off by a code; `done` is called once the recovery codes are kept. */
function TwoFactor({ done }) {
  const [state, setState] = useState({}); // {enrolment}, then {codes}; {off: true} while it is turned off
  const begin = useTask(async () => setState({ enrolment: await post("auth/2fa/enroll", undefined) }));
  const finish = async () => {
    await reload();
    setState({});
    done?.();
  };
  const verify = useTask(async ({ code }) => setState({ codes: (await post("auth/2fa/verify", digits(code))).recovery_codes }));
  const disable = useTask(async ({ code }) => {
    await post("auth/2fa/disable", digits(code));
    await finish();
    notify("good", "Two-factor login is off");
  });
  const { enrolment, codes, off } = state;
  if (codes) return html`<${RecoveryCodes} text=${codes.join("\n")} finish=${finish} />`;
  if (me.value.two_factor_enabled) {
    return off ? html`<${Form} task=${disable} action="Turn it off" onSubmit=${disable.run} cancel=${() => setState({})}><${Code} error=${disable.error} /><//>`
      : html`<p><span class="pass" aria-hidden="true">●</span> On.</p><button onClick=${() => setState({ off: true })}>Turn it off</button>`;
  }
  if (!enrolment) {
    return html`<p>Off. With it on, signing in asks for a code of an authenticator app, too.</p><${Problem} error=${begin.error} />
      <button class="primary" disabled=${begin.busy} onClick=${begin.run}>Set up two-factor login</button>`;
  }
  return html`<p>Scan the picture with an authenticator app.</p><${QrCode} text=${enrolment.otpauth_uri} />
    <p>No camera? Type this key: <code class="secret">${enrolment.secret.replace(/(.{4})(?=.)/g, "$1 ")}</code>
      <button class="plain" onClick=${() => copy(enrolment.secret, "Key copied")}>Copy</button></p>
    <${Form} task=${verify} action="Turn it on" onSubmit=${verify.run}><${Code} error=${verify.error} hint="Six digits that the app shows now" /><//>`;
}

const digits = (code) => ({ code: code.replaceAll(" ", "") });

function RecoveryCodes({ text, finish }) {
  const save = () => saveBlob(new Blob([`${text}\n`]), "cushion-recovery-codes.txt");
  return html`<p class="banner pass" role="status">Two-factor login is on.</p>
    <p>These recovery codes stand in for a lost authenticator, each one once. <strong>They are not shown again.</strong></p>
    <pre class="codes" tabindex="0" aria-label="Recovery codes">${text}</pre>
    <p class="row"><button onClick=${() => copy(text, "Recovery codes copied")}>Copy</button><button onClick=${save}>Save as a file</button>
      <button class="primary" onClick=${finish}>I have kept the codes</button></p>`;
}

/** Dark on light in both colour schemes: a camera wants that. */
function QrCode({ text }) {
  const code = generate(text);
  const side = code.size + 2 * QUIET;
  let path = "";
  for (let y = 0; y < code.size; y += 1) for (let x = 0; x < code.size; x += 1) if (code.get(x, y)) path += `M${x + QUIET} ${y + QUIET}h1v1h-1z`;
  return html`<svg class="qr" viewBox=${`0 0 ${side} ${side}`} role="img" aria-label="QR code for the authenticator" shape-rendering="crispEdges">
    <rect class="light" width=${side} height=${side} /><path d=${path} /></svg>`;
}
