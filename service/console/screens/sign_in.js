// The ways in, each a form: sign in, register, accept an invitation, reset a password.
import { html, useState } from "../parts/html.js";
import { endSession, enter, post } from "../api.js";
import { go, href, me, notify, route } from "../state.js";
import { useData, useTask } from "../parts/data.js";
import { Code, Field, Form, Password } from "../parts/form.js";

const EMAIL = { label: "E-mail", type: "email", maxlength: 254, autocomplete: "username", autofocus: true };
const SIGN_IN = ["Back to sign in", "sign-in"];
const FORGOT = ["Forgot the password?", "forgot-password"];
const CODE_REQUIRED = "Two-factor code required"; // a refusal's message

/** `send` gives what is shown in place of the form, if anything. A form with `fresh` asks for a new password of that name. */
const WAYS = {
  "sign-in": {
    title: "Sign in", action: "Sign in", fields: [{ name: "username", ...EMAIL }], password: true, links: [FORGOT],
    send: async (fields) => enter(await post("auth/login", undefined, { form: new URLSearchParams(fields) })),
  },
  register: {
    title: "Register", action: "Register", links: [SIGN_IN], fresh: "password",
    fields: [
      { name: "organization_name", label: "Organisation", maxlength: 200, autocomplete: "organization" },
      { name: "full_name", label: "Your name", maxlength: 200, autocomplete: "name" }, { name: "email", ...EMAIL, autofocus: false },
    ],
    send: async (fields) => enter(await post("auth/register", fields)),
  },
  "accept-invitation": {
    title: "Accept the invitation", action: "Join", links: [SIGN_IN], fresh: "password", linked: true, text: "Choose the password that you will sign in with.",
    async send(fields) {
      const tokens = await post("auth/accept-invitation", fields);
      go(href(), { replace: true }); // a used token leaves the address and the history
      await enter(tokens);
      notify("good", `Welcome to ${me.value.tenant.name}, ${me.value.full_name}`);
    },
  },
  "forgot-password": {
    title: "Reset the password", action: "Send the link", links: [SIGN_IN], fields: [{ name: "email", ...EMAIL }],
    async send(fields) {
      await post("auth/password/forgot", fields);
      return `If ${fields.email} has an account, a mail with a link to a new password is on its way. The link works once, for a limited time.`;
    },
  },
  "reset-password": {
    title: "Choose a new password", action: "Change the password", links: [["Send another link", "forgot-password"], SIGN_IN], fresh: "new_password", label: "New password", linked: true,
    text: "You are signed out everywhere once the password is changed.",
    async send(fields) {
      await post("auth/password/reset", fields);
      endSession();
      go(href("sign-in"), { replace: true });
      notify("good", "The password is changed. Sign in with the new one.");
    },
  },
};

export default function SignIn() {
  const name = route.value.path[0];
  return html`<${Way} key=${name} name=${name} way=${WAYS[name]} />`;
}

function Way({ name, way }) {
  const [state, setState] = useState({});
  const open = useData("auth/options").data?.registration_open;
  const token = route.value.query.get("token");
  const task = useTask(async (fields) => {
    try {
      setState({ ...state, sent: await way.send(way.linked ? { token, ...fields } : fields) });
    } catch (error) {
      if (error.message !== CODE_REQUIRED) throw error;
      setState({ code: true });
    }
  });
  const { error } = task;
  const links = name === "sign-in" && open ? [...way.links, ["Register an organisation", "register"]] : way.links;
  const closed = (name === "register" && open === false && "Registration is closed here. Ask an owner or admin of your organisation for an invitation.")
    || (way.linked && !token && "The link is not complete. Open it from the mail once more, or ask for another one.") || state.sent;
  return html`<div class="entrance"><p class="name"><a href="#/">Cushion</a></p><section class="card"><h1>${way.title}</h1>
    ${way.linked && me.value && html`<p class="note">You are signed in as ${me.value.email}.</p>`}
    ${closed ? html`<p role="status">${closed}</p>` : html`${way.text && html`<p>${way.text}</p>`}
      <${Form} task=${task} action=${way.action} onSubmit=${task.run}>
        ${way.fields?.map((field) => html`<${Field} key=${field.name} required error=${error} ...${field} />`)}
        ${way.password && html`<${Password} error=${error} />`}${way.fresh && html`<${Password} fresh name=${way.fresh} label=${way.label} error=${error} />`}
        ${state.code && html`<${Code} name="otp_code" error=${error} />`}<//>`}</section>
    <p class="ways">${links.map(([text, path]) => html`<a key=${path} href=${href(path)}>${text}</a>`)}</p></div>`;
}
