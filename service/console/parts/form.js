// Forms: a label for each field, the service's faults at the field that they are about.
import { html, useMemo } from "./html.js";
import { Problem } from "./problem.js";

let next = 0;

/** A labelled field; children draw the control with the props that they get, or `type` names an input's. */
export function Field({ label, name, hint, error, children, ...input }) {
  const id = useMemo(() => `field-${++next}`, []);
  const faults = faultsOf(error, name);
  const notes = [hint && `${id}-hint`, faults.length && `${id}-fault`].filter(Boolean).join(" ") || undefined;
  const props = { id, name, "aria-describedby": notes, "aria-invalid": faults.length ? "true" : undefined };
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${children ? children(props) : html`<input ...${props} ...${input} />`}
    ${hint && html`<small id=${`${id}-hint`}>${hint}</small>`}
    ${faults.length > 0 && html`<small class="fault" id=${`${id}-fault`}>${faults.join("; ")}</small>`}
  </div>`;
}

/** What a refusal says of one field: its `errors` whose place ends so. */
export function faultsOf(error, name) {
  return (error?.errors ?? []).filter(({ loc }) => loc?.at(-1) === name).map(({ message }) => message);
}

/** A choice of few: [{value, label}]. */
export function Select({ label, name, value, onChange, options, error, hint, ...rest }) {
  return html`<${Field} label=${label} name=${name} error=${error} hint=${hint}>
    ${(props) => html`<select ...${props} ...${rest} onChange=${(event) => onChange(event.target.value)}>
      ${options.map((one) => html`<option value=${one.value} selected=${one.value === value}>${one.label}</option>`)}
    </select>`}
  <//>`;
}

/** A form with its button and the refusal of the last try; `onSubmit` gets the fields as an object. */
export function Form({ task, onSubmit, action, children, cancel }) {
  const submit = (event) => {
    event.preventDefault();
    if (!task.busy) onSubmit(Object.fromEntries(new FormData(event.target)));
  };
  return html`<form onSubmit=${submit} noValidate=${false}>
    ${children}
    ${task.error && html`<${Problem} error=${task.error} />`}
    <footer>
      ${cancel && html`<button type="button" onClick=${cancel}>Cancel</button>`}
      <button class="primary" disabled=${task.busy}>${task.busy ? "One moment" : action}</button>
    </footer>
  </form>`;
}
