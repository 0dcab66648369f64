// Two-factor login: set up by an authenticator that reads a picture, turned off by a code.
import { html, useState } from "./html.js";
import { post, reload, saveBlob } from "../api.js";
import { me, notify } from "../state.js";
import { copy } from "./clipboard.js";
import { useTask } from "./data.js";
import { Code } from "./entrance.js";
import { Form } from "./form.js";
import { Problem } from "./problem.js";
import { QrCode } from "./qr.js";

/** `done` is called once the recovery codes are kept. */
export function TwoFactor({ done }) {
  const [codes, setCodes] = useState(null);
  const finish = async () => {
    await reload();
    setCodes(null);
    done?.();
  };
  if (codes) return html`<${RecoveryCodes} codes=${codes} finish=${finish} />`;
  return me.value.two_factor_enabled ? html`<${Off} />` : html`<${On} keep=${setCodes} />`;
}

function On({ keep }) {
  const [enrolment, setEnrolment] = useState(null);
  const begin = useTask(async () => setEnrolment(await post("auth/2fa/enroll", undefined)));
  const verify = useTask(async ({ code }) => keep((await post("auth/2fa/verify", { code: code.replaceAll(" ", "") })).recovery_codes));
  if (!enrolment) {
    return html`<p>Off. With it on, signing in asks for a code of an authenticator app, too.</p>
      <${Problem} error=${begin.error} />
      <button class="primary" disabled=${begin.busy} onClick=${begin.run}>Set up two-factor login</button>`;
  }
  return html`<ol class="steps">
    <li><p>Scan the picture with an authenticator app.</p>
      <${QrCode} text=${enrolment.otpauth_uri} label="QR code for the authenticator" />
      <p>No camera? Type this key into the app: <code class="secret">${grouped(enrolment.secret)}</code>
        <button class="plain" onClick=${() => copy(enrolment.secret, "Key copied")}>Copy</button></p></li>
    <li><${Form} task=${verify} action="Turn it on" onSubmit=${verify.run}><${Code} error=${verify.error} hint="Six digits that the app shows now" /><//></li>
  </ol>`;
}

const grouped = (secret) => secret.replace(/(.{4})(?=.)/g, "$1 ");

function RecoveryCodes({ codes, finish }) {
  const text = codes.join("\n");
  const save = () => saveBlob(new Blob([`${text}\n`], { type: "text/plain" }), "cushion-recovery-codes.txt");
  return html`<p class="banner pass" role="status">Two-factor login is on.</p>
    <p>These recovery codes stand in for a lost authenticator, each one once. <strong>They are not shown again.</strong></p>
    <pre class="codes" tabindex="0" aria-label="Recovery codes">${text}</pre>
    <p class="row"><button onClick=${() => copy(text, "Recovery codes copied")}>Copy</button><button onClick=${save}>Save as a file</button>
      <button class="primary" onClick=${finish}>I have kept the codes</button></p>`;
}

function Off() {
  const [asks, setAsks] = useState(false);
  const task = useTask(async ({ code }) => {
    await post("auth/2fa/disable", { code: code.replaceAll(" ", "") });
    await reload();
    notify("good", "Two-factor login is off");
  });
  const required = me.value.tenant.two_factor_required;
  return html`<p><span class="pass">●</span> On.${required && " Your organisation requires it: once turned off, it must be set up again."}</p>
    ${asks
      ? html`<${Form} task=${task} action="Turn it off" onSubmit=${task.run} cancel=${() => setAsks(false)}><${Code} error=${task.error} /><//>`
      : html`<button onClick=${() => setAsks(true)}>Turn it off</button>`}`;
}
