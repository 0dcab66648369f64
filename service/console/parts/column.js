// One column of a sheet: what it feeds and why, what it could be as well, and the choice of another field.
import { html, useState } from "./html.js";
import { labelled } from "../state.js";
import { Panel } from "./drill.js";
import { isLeftOut } from "./draft.js";
import { counted, number } from "./format.js";
import { shown } from "./picture.js";

const SHOWN_MAX = 60;

/** `choose(target)`: a field, "" to leave the column out, null to read it as before; absent for whoever may not. `effect` says what corrections change. */
export function Column({ column, former, fields, named, feeds, choose, effect, close, next }) {
  const { letter, header, fields: targets, kind, unit, found } = column;
  const feeding = kind === "out" ? "Left out: no test reads it" : targets.length > 0 ? `Feeds ${targets.map(named).join(", ")}` : "Feeds no field";
  return html`<${Panel} title=${`${letter} · ${header || "no heading"}`} close=${close} next=${next}>
    <p><strong>${feeding}</strong>${unit && html`, in ${unit}`}</p>
    ${found.unit_reason && html`<p class="muted">${labelled(found.unit_reason)}${found.factor !== 1 && `; times ${found.factor}`}</p>`}
    ${found.reason && html`<p class="muted">${labelled(found.reason)}</p>`}
    <${Why} ...${{ found, kind, named }} />
    ${found.value_count !== undefined && html`<p>${counted(found.value_count, "value")}, ${number(found.blank_count)} blank${found.error_count > 0 && html`, <span class="fail">${counted(found.error_count, "error")}</span>`}${found.unreadable_count > 0 && html`, <span class="fail">${number(found.unreadable_count)} that cannot be read</span>`}</p>
      <p class="muted">Such as ${found.samples.map((one) => shown(one, column.found.type === "date")).join(" · ")}</p>`}
    ${found.alternatives?.length > 0 && html`<h3>Other columns for the same field</h3><ul>${found.alternatives.map((one) => html`<li>${one.column} · ${one.header}: ${labelled(one.reason)}</li>`)}</ul>`}
    ${choose && header && html`<${Choice} ...${{ column, former, fields, feeds, choose, effect }} />`}
    ${choose && !header && html`<p class="muted">A mapping names columns by their heading, and this one has none: give it one in the file.</p>`}<//>`;
}

function Why({ found, kind, named }) {
  const { evidence, runner_up: rival, margin } = found;
  if (kind === "out") return null;
  return html`${evidence.reasons.length > 0 && html`<h3>Why</h3><ul>${evidence.reasons.map((text) => html`<li>${labelled(text)}</li>`)}</ul>`}
    ${kind === "ambiguous" && html`<p class="warning"><strong>${rival && found.is_ambiguous ? `It could as well be ${named(rival)}` : "Another column could as well be meant"}${found.is_ambiguous && margin !== null && `: the lead is ${number(margin, 1)}`}.</strong> Figures that read it are doubtful until you choose.</p>`}
    ${kind !== "ambiguous" && rival && html`<p class="muted">Next: ${named(rival)}, ${number(margin, 1)} behind</p>`}`;
}

function Choice({ column, former, fields, feeds, choose, effect }) {
  const [search, setSearch] = useState("");
  const wanted = search.trim().toLowerCase();
  const fitting = fields.filter(({ name, label }) => !isLeftOut(name) && `${label} ${name}`.toLowerCase().includes(wanted));
  const pick = (name) => () => { setSearch(""); choose(name); };
  const submit = (event) => {
    event.preventDefault();
    if (wanted && fitting.length > 0) pick(fitting[0].name)();
  };
  return html`<h3>Choose what it feeds</h3>${effect && html`<p class="pass">${effect}</p>`}
    <p class="row">${column.kind !== "out" && html`<button onClick=${pick("")}>Leave it out</button>`}${former && html`<button onClick=${pick(null)}>As it was: ${former}</button>`}</p>
    <form onSubmit=${submit}><input type="search" aria-label="Search a field" placeholder="Search a field" value=${search} onInput=${(event) => setSearch(event.target.value)} /></form>
    <ul class="choices">${fitting.slice(0, SHOWN_MAX).map(({ name, label }) => html`<li key=${name}><button class="plain" aria-pressed=${String(column.fields.includes(name))} onClick=${pick(name)}>${label}${feeds(name) && html` <small class="muted">from ${feeds(name)}</small>`}</button></li>`)}
      ${fitting.length === 0 && html`<li class="muted">No field is called so.</li>`}</ul>`;
}
