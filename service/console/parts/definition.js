// A deal's definition as text: its faults at their lines, drafted from the newest file, checked before it is saved.
import { html, useEffect, useMemo, useRef, useState } from "./html.js";
import { post, put } from "../api.js";
import { can, labelled, notify, setQuery } from "../state.js";
import { refreshData, useData, useTask } from "./data.js";
import { Field } from "./form.js";
import { counted, moment, number } from "./format.js";
import { Empty, Loaded, Problem } from "./problem.js";
import { Table } from "./table.js";
import { difference, lineOf, readJson } from "./text.js";

const INDENT = 2;
const CONTEXT = 3; // lines around a change
const VERSIONS = 100;

const unsaved = new Map(); // by deal and version: a text that somebody is at, kept while other screens are looked at

export const written = (document) => JSON.stringify(document, null, INDENT);

/** Text with the number of each line beside it; `faults`: [{line, message}], each a way to its line. */
function TextEditor({ label, value, onInput, faults, readOnly }) {
  const field = useRef(null);
  const gutter = useRef(null);
  const marked = new Set(faults.map(({ line }) => line));
  const lines = value.split("\n");
  const show = (line) => {
    const start = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
    field.current.focus();
    field.current.setSelectionRange(start, start + lines[line - 1].length);
    field.current.scrollTop = (line - 4) * (field.current.scrollHeight / lines.length);
  };
  return html`<div class="text-editor"><div class="gutter" ref=${gutter} aria-hidden="true">${lines.map((_, at) => html`<div class=${marked.has(at + 1) ? "fault" : ""}>${at + 1}</div>`)}</div>
      <textarea ref=${field} aria-label=${label} spellcheck=${false} wrap="off" readonly=${readOnly} value=${value} aria-invalid=${faults.length ? "true" : undefined}
        onInput=${(event) => onInput(event.target.value)} onScroll=${(event) => { gutter.current.scrollTop = event.target.scrollTop; }}></textarea></div>
    ${faults.length > 0 && html`<div role="alert"><ul class="faults">${faults.map(({ line, place, message }) => html`<li>
      <button class="plain" onClick=${() => show(line)}>Line ${line}</button> ${place && html`<code>${place}</code> `}${labelled(message)}</li>`)}</ul></div>`}`;
}

/** The service's faults, each with its line. */
function faultsIn(lines, error) {
  return (error?.errors ?? []).filter(({ loc }) => loc?.[1] === "definition").map(({ loc, message }) => {
    const path = loc.slice(2);
    return { line: lineOf(lines, path), place: path.join("."), message };
  });
}

/** The present definition, to read or edit; `month`: the workbook that a draft is made of. */
export function Definition({ deal, month }) {
  const present = useData(`deals/${deal.id}/definition`);
  return html`<${Loaded} from=${present}>${(definition) => html`<${Editor} key=${definition.version} ...${{ deal, month, definition }} />`}<//>`;
}

function Editor({ deal, month, definition }) {
  const saved = written(definition.definition);
  const key = `${deal.id} ${definition.version}`;
  const [text, setText] = useState(unsaved.get(key) ?? saved);
  const [draft, setDraft] = useState(null);
  const [notes, setNotes] = useState("");
  const changed = text !== saved;
  useUnsaved(key, changed ? text : null);
  const { lines, fault } = useMemo(() => readJson(text), [text]);
  const path = `deals/${deal.id}/definition`;
  const check = useTask(async () => {
    await put(path, { definition: JSON.parse(text), check_only: true });
    notify("good", "The definition is without a fault");
  });
  const save = useTask(async () => {
    const saved = await put(path, { definition: JSON.parse(text), change_notes: notes || null });
    unsaved.delete(key);
    const meanwhile = saved.version - definition.version - 1;
    notify(meanwhile ? "plain" : "good", meanwhile
      ? `Version ${saved.version} is saved. Somebody else saved version ${saved.version - 1} meanwhile: compare both.`
      : `Version ${saved.version} is saved; the next run goes by it`);
    refreshData(`deals/${deal.id}`);
  });
  const drafting = useTask(async () => {
    const next = await post(`${path}/draft`, { workbook_id: month.id });
    setDraft(next);
    setText(written(next.definition));
    notify("plain", "The draft is in the editor, not saved", { undo: () => { setText(text); setDraft(null); } });
  });
  const error = check.error ?? save.error;
  const faults = fault ? [fault] : faultsIn(lines, error);
  const edit = (next) => {
    setText(next);
    if (error) [check, save].forEach((task) => task.clear());
  };
  const busy = check.busy || save.busy;
  const unplaced = error && faults.length === 0 ? error : drafting.error;
  return html`<div class="actions definition-bar">
      <span>${definition.version ? html`Version ${definition.version}${definition.created_at && ` of ${moment(definition.created_at)}, ${definition.created_by}`}` : "No definition yet: the tests go by the market's standard"}</span>
      ${can("compliance:read") && month && html`<button disabled=${drafting.busy} onClick=${drafting.run}>${drafting.busy ? "Drafting" : "Draft from the newest file"}</button>`}</div>
    ${draft && html`<${Draft} draft=${draft} />`}
    <${TextEditor} label="Definition as JSON" value=${text} onInput=${edit} faults=${faults} readOnly=${!can("compliance:write")} />
    <${Problem} error=${unplaced} />
    ${can("compliance:write") && html`<div class="row save-bar">
      <${Field} label="What changes, for the record" name="change_notes" maxlength="2000" value=${notes} onInput=${(event) => setNotes(event.target.value)} />
      <button disabled=${busy || Boolean(fault)} onClick=${check.run}>Check</button>
      <button class="primary" disabled=${busy || Boolean(fault) || !changed} onClick=${save.run}>Save as version ${definition.version + 1}</button>
      ${changed && html`<button onClick=${() => edit(saved)}>Discard the changes</button>`}</div>`}`;
}

/** Keep a text that is not saved, and ask before the page is closed with it. */
function useUnsaved(key, text) {
  useEffect(() => {
    if (text === null) unsaved.delete(key);
    else unsaved.set(key, text);
    const ask = (event) => event.preventDefault();
    if (text !== null) addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [key, text]);
}

function Draft({ draft: { toml, decide, ties } }) {
  return html`<div class="note draft"><p>${number(ties.tied)} of ${counted(ties.figures, "printed figure")} tie under this draft.</p>
    ${decide.length > 0 && html`<details open><summary>${counted(decide.length, "thing")} to decide</summary><ul>${decide.map(({ subject, why, place }) => html`<li><strong>${labelled(subject)}</strong>: ${labelled(why)}${place && html` <code>${place}</code>`}</li>`)}</ul></details>`}
    <details><summary>Where each line comes from</summary><pre>${labelled(toml)}</pre></details></div>`;
}

// Versions -----------------------------------------------------------------------------------------------------------

/** All versions, and the lines in which two of them differ: `?version=3&against=2`. */
export function Versions({ deal, version, against }) {
  const list = useData(`deals/${deal.id}/definition/versions`, { page_size: VERSIONS });
  return html`<${Loaded} from=${list}>${({ items }) => {
    if (items.length === 0) return html`<${Empty} title="No version yet"><p>The first one is made when a definition is saved.</p><//>`;
    const shown = Number(version) || items[0].version;
    const other = against === null ? shown - 1 : Number(against);
    const compare = (row) => setQuery({ version: row.version, against: null }, { replace: false });
    return html`<${Table} caption="Versions of the definition" columns=${COLUMNS} rows=${items} keyOf=${(row) => row.version} open=${compare} selected=${(row) => row.version === shown} />
      <div class="row compare"><h2>Version ${shown}</h2>${items.length > 1 && html`<label>compared with <select value=${other} onChange=${(event) => setQuery({ version: shown, against: event.target.value })}>
        ${items.filter((row) => row.version !== shown).map((row) => html`<option value=${row.version} selected=${row.version === other}>version ${row.version}</option>`)}
        <option value="0" selected=${other === 0}>nothing</option></select></label>`}</div>
      <${Difference} key=${`${shown} ${other}`} deal=${deal} versions=${[other, shown]} />`;
  }}<//>`;
}

const COLUMNS = [
  { key: "version", label: "Version" },
  { key: "created_at", label: "Saved", show: (row) => moment(row.created_at) },
  { key: "created_by", label: "By", className: "narrow-off" },
  { key: "change_notes", label: "What changed" },
];

function Difference({ deal, versions: [before, after] }) {
  const path = `deals/${deal.id}/definition`;
  const old = useData(before > 0 ? path : null, { version: before });
  const now = useData(path, { version: after });
  const from = { data: (before === 0 || old.data) && now.data, error: old.error ?? now.error, reload: () => { old.reload(); now.reload(); } };
  return html`<${Loaded} from=${from}>${() => {
    const rows = near(difference(before ? written(old.data.definition) : "", written(now.data.definition)));
    if (rows.length === 0) return html`<p class="muted">Both say the same.</p>`;
    return html`<div class="scroll" tabindex="0" role="region" aria-label="Difference"><table class="difference"><caption class="off-screen">Lines that differ</caption>
      <thead class="off-screen"><tr><th scope="col">Before</th><th scope="col">After</th><th scope="col">Change</th><th scope="col">Line</th></tr></thead>
      <tbody>${rows.map((row) => html`<tr class=${row.kind}><td class="number">${row.old}</td><td class="number">${row.new}</td>
        <td>${MARKS[row.kind]}</td><td><code>${row.text}</code></td></tr>`)}</tbody></table></div>`;
  }}<//>`;
}

const mark = (sign, word) => html`<span aria-hidden="true">${sign}</span><span class="off-screen">${word}</span>`;
const MARKS = { old: mark("−", "removed"), new: mark("+", "added"), same: "", gap: "⋯" };

/** The lines that changed with some around them, a gap between. */
function near(rows) {
  const kept = new Set();
  rows.forEach(({ kind }, at) => {
    if (kind !== "same") for (let step = -CONTEXT; step <= CONTEXT; step += 1) kept.add(at + step);
  });
  const shown = rows.map((row, at) => [row, at]).filter(([, at]) => kept.has(at));
  return shown.flatMap(([row, at], place) => (place && shown[place - 1][1] !== at - 1 ? [{ kind: "gap", text: "", old: null, new: null }, row] : [row]));
}
