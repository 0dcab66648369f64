// Choose a new password by the link of a mail; every session of the user ends.
import { html } from "../parts/html.js";
import { endSession, post } from "../api.js";
import { go, href, route } from "../state.js";
import { useTask } from "../parts/data.js";
import { Entrance, Password } from "../parts/entrance.js";
import { Form } from "../parts/form.js";

const LINKS = [["Send another link", href("forgot-password")], ["Back to sign in", href("sign-in")]];

export default function ResetPassword() {
  const token = route.value.query.get("token");
  const task = useTask(async ({ new_password }) => {
    await post("auth/password/reset", { token, new_password });
    endSession();
    go(href("sign-in", { reset: "done" }), { replace: true }); // the token is used: it leaves the address and the history
  });
  return html`<${Entrance} title="Choose a new password" links=${LINKS}>
    ${token
      ? html`<p>You are signed out everywhere once the password is changed.</p>
          <${Form} task=${task} action="Change the password" onSubmit=${task.run}>
          <${Password} label="New password" name="new_password" fresh error=${task.error} /><//>`
      : html`<p>The link is not complete. Open it from the mail once more, or have another one sent.</p>`}
  <//>`;
}
