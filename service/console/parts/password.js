// The fields of a password and of a two-factor code.
import { html, useState } from "./html.js";
import { Field } from "./form.js";

const RULES = "At least 8 characters with an upper-case letter, a lower-case letter and a digit";

/** A password with a button that shows it; a `fresh` one with its rules. */
export function Password({ label = "Password", name = "password", fresh, error }) {
  const [shown, setShown] = useState(false);
  const input = { type: shown ? "text" : "password", required: true, maxlength: 1024, minlength: fresh && 8, autocomplete: fresh ? "new-password" : "current-password" };
  return html`<${Field} label=${label} name=${name} error=${error} hint=${fresh && RULES}>${(props) => html`<span class="with-button"><input ...${props} ...${input} />
    <button type="button" class="plain" aria-pressed=${String(shown)} aria-label=${`Show the ${label.toLowerCase()}`} onClick=${() => setShown(!shown)}>${shown ? "Hide" : "Show"}</button></span>`}<//>`;
}

export function Code({ error, name = "code", hint = "Six digits of the authenticator, or a recovery code" }) {
  return html`<${Field} label="Two-factor code" name=${name} error=${error} hint=${hint} required maxlength="64" autocomplete="one-time-code" autofocus />`;
}
