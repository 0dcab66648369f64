// Ask for a mail with a link to a new password; the answer is the same for every address.
import { html, useState } from "../parts/html.js";
import { post } from "../api.js";
import { href } from "../state.js";
import { useTask } from "../parts/data.js";
import { Entrance } from "../parts/entrance.js";
import { Field, Form } from "../parts/form.js";

const LINKS = [["Back to sign in", href("sign-in")]];

export default function ForgotPassword() {
  const [sentTo, setSentTo] = useState(null);
  const task = useTask(async ({ email }) => {
    await post("auth/password/forgot", { email });
    setSentTo(email);
  });
  return html`<${Entrance} title="Reset the password" links=${LINKS}>
    ${sentTo
      ? html`<p role="status">If ${sentTo} has an account, a mail with a link to a new password is on its way. The link works once, for a limited time.</p>
          <p class="muted">Nothing arrives? Look among the unwanted mail, or ask an administrator of your organisation.</p>`
      : html`<${Form} task=${task} action="Send the link" onSubmit=${task.run}>
          <${Field} label="E-mail" name="email" type="email" required maxlength="254" autocomplete="username" autofocus error=${task.error} />
        <//>`}
  <//>`;
}
