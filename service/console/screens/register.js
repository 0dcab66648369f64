// Register an organisation and its first user, where the deployment lets anybody.
import { html } from "../parts/html.js";
import { enter, post } from "../api.js";
import { href } from "../state.js";
import { useData, useTask } from "../parts/data.js";
import { Entrance, Password } from "../parts/entrance.js";
import { Field, Form } from "../parts/form.js";
import { Loaded } from "../parts/problem.js";

const LINKS = [["Sign in instead", href("sign-in")]];

export default function Register() {
  const options = useData("auth/options");
  const task = useTask(async (fields) => enter(await post("auth/register", fields)));
  return html`<${Entrance} title="Register" links=${LINKS}>
    <${Loaded} from=${options}>${({ registration_open: open }) => open
      ? html`<${Form} task=${task} action="Register" onSubmit=${task.run}>
          <${Field} label="Organisation" name="organization_name" required maxlength="200" autocomplete="organization" autofocus error=${task.error} />
          <${Field} label="Your name" name="full_name" required maxlength="200" autocomplete="name" error=${task.error} />
          <${Field} label="E-mail" name="email" type="email" required maxlength="254" autocomplete="username" error=${task.error} />
          <${Password} fresh error=${task.error} />
        <//>`
      : html`<p>Registration is closed here. Ask an owner or admin of your organisation for an invitation.</p>`}<//>
  <//>`;
}
