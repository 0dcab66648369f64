// What the screens before a session share: a page with one form, and the fields of passwords.
import { html, useState } from "./html.js";
import { Field } from "./form.js";

const RULES = "At least 8 characters with an upper-case letter, a lower-case letter and a digit";

/** A page with one task; `links`: [[text, address]] of the other ways. */
export function Entrance({ title, links = [], children }) {
  return html`<div class="entrance"><p class="name"><a href="#/">Cushion</a></p>
    <section class="card" aria-labelledby="entrance-title"><h1 id="entrance-title">${title}</h1>${children}</section>
    ${links.length > 0 && html`<p class="ways">${links.map(([text, address]) => html`<a key=${address} href=${address}>${text}</a>`)}</p>`}
  </div>`;
}

/** A password with a button that shows it; a new one with the rules that it must meet. */
export function Password({ label = "Password", name = "password", fresh = false, error }) {
  const [shown, setShown] = useState(false);
  return html`<${Field} label=${label} name=${name} error=${error} hint=${fresh ? RULES : null}>
    ${(props) => html`<span class="with-button"><input ...${props} type=${shown ? "text" : "password"} required maxlength="1024"
      autocomplete=${fresh ? "new-password" : "current-password"} minlength=${fresh ? 8 : undefined} />
      <button type="button" class="plain" aria-pressed=${String(shown)} aria-label="Show the password" onClick=${() => setShown(!shown)}>${shown ? "Hide" : "Show"}</button></span>`}
  <//>`;
}

/** Six digits of an authenticator, or a recovery code. */
export function Code({ error, name = "code", hint = "Six digits of the authenticator, or a recovery code" }) {
  return html`<${Field} label="Two-factor code" name=${name} error=${error} hint=${hint} required maxlength="64" autocomplete="one-time-code"
    spellcheck=${false} autocapitalize="off" autofocus />`;
}
