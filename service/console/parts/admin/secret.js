// A secret that is shown once, to copy.
import { html } from "../html.js";
import { copy } from "../clipboard.js";
import { Dialog } from "../dialog.js";

export function SecretDialog({ title, secret, what, close, children }) {
  return html`<${Dialog} title=${title} close=${close}>
    ${children}
    <pre class="secret" tabindex="0" aria-label=${what}>${secret}</pre>
    <p class="note">It is not shown again: copy it now.</p>
    <footer><button class="primary" onClick=${() => copy(secret, `${what} copied`)}>Copy</button><button onClick=${close}>Done</button></footer>
  <//>`;
}
