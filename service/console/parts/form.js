// Forms: a label for each field, the service's faults at the field that they are about.
import { html, useMemo, useRef, useState } from "./html.js";
import { Problem } from "./problem.js";

let next = 0;

/**
 * A labelled field; children draw the control with the props that they get. `value` is what an input
 * begins with; beside `onInput` it is what the input shows.
 */
export function Field({ label, name, hint, error, children, value, ...input }) {
  const id = useMemo(() => `field-${++next}`, []);
  const faults = faultsOf(error, name);
  const notes = [hint && `${id}-hint`, faults.length && `${id}-fault`].filter(Boolean).join(" ") || undefined;
  const start = input.onInput || input.onChange ? { value } : { defaultValue: value };
  const props = { id, name, "aria-describedby": notes, "aria-invalid": faults.length ? "true" : undefined };
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${children ? children(props) : html`<input ...${props} ...${input} ...${start} />`}
    ${hint && html`<small id=${`${id}-hint`}>${hint}</small>`}
    ${faults.length > 0 && html`<small class="fault" id=${`${id}-fault`}>${faults.join("; ")}</small>`}
  </div>`;
}

/** What a refusal says of one field: its `errors` whose place names it. */
export function faultsOf(error, name) {
  return (error?.errors ?? []).filter(({ loc }) => loc?.includes(name)).map(({ message }) => message);
}

/** A choice of few: [{value, label}]. */
export function Select({ label, name, value, onChange, options, error, hint, ...rest }) {
  return html`<${Field} label=${label} name=${name} error=${error} hint=${hint}>
    ${(props) => html`<select ...${props} ...${rest} onChange=${(event) => onChange?.(event.target.value)}>
      ${options.map((one) => html`<option value=${one.value} selected=${one.value === value}>${one.label}</option>`)}
    </select>`}
  <//>`;
}

/** A form with its button and the refusal of the last try; `onSubmit` gets the fields as an object, and the form. */
export function Form({ task, onSubmit, action, children, cancel }) {
  const submit = (event) => {
    event.preventDefault();
    if (!task.busy) onSubmit(Object.fromEntries(new FormData(event.target)), event.target);
  };
  const form = useRef(null);
  const atField = ({ loc }) => [...(form.current?.elements ?? [])].some(({ name }) => name && loc?.includes(name));
  return html`<form ref=${form} onSubmit=${submit}>
    ${children}
    ${task.error && html`<${Problem} error=${task.error} except=${atField} />`}
    <footer>
      ${cancel && html`<button type="button" onClick=${cancel}>Cancel</button>`}
      <button class="primary" disabled=${task.busy}>${task.busy ? "One moment" : action}</button>
    </footer>
  </form>`;
}

/** A choice of few that is seen at once: `rows` of [value, text], absent ones left out. */
export function Pills({ label, value, rows, onChange }) {
  return html`<div class="months" role="group" aria-label=${label}>${rows.filter(Boolean).map(([name, text]) => html`<button key=${name} type="button" class="pill"
    aria-pressed=${String(name === value)} onClick=${() => onChange(name)}>${text}</button>`)}</div>`;
}

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
