// What to know before relying on figures: the warnings of a run.
import { html } from "./html.js";
import { labelled } from "../state.js";
import { counted } from "./format.js";

export function Known({ warnings }) {
  return warnings.length > 0 && html`<details class="note"><summary>${counted(warnings.length, "thing")} to know before relying on these figures</summary>
    <ul>${warnings.map(({ message }) => html`<li>${labelled(message)}</li>`)}</ul></details>`;
}
