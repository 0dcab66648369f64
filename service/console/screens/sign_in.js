// Sign in with e-mail and password, and with a code where two-factor login is on.
import { html, useState } from "../parts/html.js";
import { enter, post } from "../api.js";
import { href, route } from "../state.js";
import { useData, useTask } from "../parts/data.js";
import { Code, Entrance, Password } from "../parts/entrance.js";
import { Field, Form } from "../parts/form.js";

const CODE_REQUIRED = "Two-factor code required";

export default function SignIn() {
  const options = useData("auth/options");
  const [asksCode, setAsksCode] = useState(false);
  const task = useTask(async (fields) => {
    try {
      await enter(await post("auth/login", undefined, { form: new URLSearchParams(fields) }));
    } catch (error) {
      if (error.message !== CODE_REQUIRED) throw error;
      setAsksCode(true);
    }
  });
  const links = [["Forgot the password?", href("forgot-password")]];
  if (options.data?.registration_open) links.push(["Register an organisation", href("register")]);
  return html`<${Entrance} title="Sign in" links=${links}>
    ${route.value.query.get("reset") && html`<p class="banner pass" role="status">The password is changed. Sign in with the new one.</p>`}
    <${Form} task=${task} action="Sign in" onSubmit=${task.run}>
      <${Field} label="E-mail" name="username" type="email" required maxlength="254" autocomplete="username" autofocus error=${task.error} />
      <${Password} error=${task.error} />
      ${asksCode && html`<${Code} name="otp_code" error=${task.error} />`}
    <//>
  <//>`;
}
