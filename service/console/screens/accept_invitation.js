// Accept an invitation by choosing a password; the token comes with the link of the mail.
import { html } from "../parts/html.js";
import { enter, post } from "../api.js";
import { go, href, me, notify, route } from "../state.js";
import { useTask } from "../parts/data.js";
import { Entrance, Password } from "../parts/entrance.js";
import { Form } from "../parts/form.js";

const LINKS = [["Sign in instead", href("sign-in")]];

export default function AcceptInvitation() {
  const token = route.value.query.get("token");
  const task = useTask(async ({ password }) => {
    const tokens = await post("auth/accept-invitation", { token, password });
    go(href(), { replace: true }); // the token is used: it leaves the address and the history
    await enter(tokens);
    notify("good", `Welcome to ${me.value.tenant.name}, ${me.value.full_name}`);
  });
  return html`<${Entrance} title="Accept the invitation" links=${LINKS}>
    ${me.value && html`<p class="note">You are signed in as ${me.value.email}. Accepting signs you in as the invited user instead.</p>`}
    ${token
      ? html`<p>Choose the password that you will sign in with.</p>
          <${Form} task=${task} action="Join" onSubmit=${task.run}><${Password} fresh error=${task.error} /><//>`
      : html`<p>The link is not complete. Open it from the mail once more, or ask for a new invitation.</p>`}
  <//>`;
}
