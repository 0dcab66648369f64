// A file dropped anywhere, or chosen: to which deal, as what, of which day; the likeliest is chosen already.
import { html, signal, useEffect, useState } from "./html.js";
import { post, settled, upload } from "../api.js";
import { can, go, href, label } from "../state.js";
import { forgetData, useData, useTask } from "./data.js";
import { Dialog } from "./dialog.js";
import { Field, Form, Select } from "./form.js";

/** Files that wait for a choice: File[] with what opened them ({deal, kind}). */
const waiting = signal(null);

/** Open the choice for files; without files the browser's chooser opens first. */
export function addFiles(files, chosen = {}) {
  if (files?.length) {
    waiting.value = { files: [...files], ...chosen };
    return;
  }
  const input = document.createElement("input");
  input.type = "file";
  input.multiple = true;
  input.onchange = () => addFiles(input.files, chosen);
  input.click();
}

export function Drop({ deal }) {
  const [over, setOver] = useState(false);
  useEffect(() => {
    const holds = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
    const enter = (event) => { if (holds(event)) { event.preventDefault(); setOver(true); } };
    const out = (event) => { if (!event.relatedTarget) setOver(false); };
    const drop = (event) => {
      if (!holds(event)) return;
      event.preventDefault();
      setOver(false);
      if (event.dataTransfer.files.length) addFiles(event.dataTransfer.files, { deal });
    };
    const events = [["dragenter", enter], ["dragover", enter], ["dragleave", out], ["drop", drop]];
    events.forEach(([name, listener]) => addEventListener(name, listener));
    return () => events.forEach(([name, listener]) => removeEventListener(name, listener));
  }, [deal]);
  return html`${over && html`<div class="drop" aria-hidden="true"><p>Drop the file here</p></div>`}
    ${waiting.value && html`<${Choice} ...${waiting.value} close=${() => { waiting.value = null; }} />`}`;
}

const KINDS = [
  { value: "holdings", label: "Month of a deal (holdings, trustee report)" },
  { value: "tape", label: "Trustee's tape, to reconcile" },
  { value: "verify", label: "Export of Cushion, to verify" },
];
const TRUSTEES = ["trustee_a", "trustee_b", "trustee_c"];

function Choice({ files, deal, kind, close }) {
  const deals = useData("deals", { page_size: 100, sort_by: "name", sort_order: "asc" });
  const [chosen, setChosen] = useState({ kind: kind ?? likeliestKind(files), deal, trustee: TRUSTEES[0] });
  const set = (name) => (value) => setChosen({ ...chosen, [name]: value });
  const list = deals.data?.items ?? [];
  const likeliest = chosen.deal ?? likeliestDeal(files, list) ?? (list.length ? list[0].id : "new");
  const task = useTask(async (fields) => {
    await SEND[chosen.kind](files, { ...chosen, ...fields, deal: likeliest });
    close();
  });
  const kinds = KINDS.filter(({ value }) => can(value === "verify" ? "reports:read" : "workbooks:write"));
  return html`<${Dialog} title=${files.length === 1 ? files[0].name : `${files.length} files`} close=${close}>
    <${Form} task=${task} action="Add" onSubmit=${task.run} cancel=${close}>
      <${Select} label="What it is" name="kind" value=${chosen.kind} options=${kinds} onChange=${set("kind")} />
      ${chosen.kind !== "verify" && html`<${Select} label="Deal" name="deal" value=${likeliest} onChange=${set("deal")}
        options=${[...list.map(({ id, name }) => ({ value: id, label: name })), { value: "new", label: "A new deal" }]} />`}
      ${chosen.kind !== "verify" && likeliest === "new" && html`<${Field} label="Name of the deal" name="name" required maxlength="255" error=${task.error} value=${stem(files[0].name)} />`}
      ${chosen.kind === "holdings" && html`<${Field} label="As of" name="as_of" type="date" error=${task.error} hint="Empty: the day that the file says" />`}
      ${chosen.kind === "tape" && html`<${Select} label="Trustee" name="trustee_name" value=${chosen.trustee} onChange=${set("trustee")}
        options=${TRUSTEES.map((value) => ({ value, label: label(value) }))} />
        <${Field} label="Statement date" name="statement_date" type="date" required error=${task.error} value=${likeliestDay(files)} />`}
    <//>
  <//>`;
}

const stem = (name) => name.replace(/\.[^.]+$/, "").replaceAll("_", " ").slice(0, 255);

function likeliestKind(files) {
  const name = files[0].name.toLowerCase();
  if (/tape|statement/.test(name)) return "tape";
  return /export|cushion-/.test(name) ? "verify" : "holdings";
}

/** The deal whose name shares the most words with the file's. */
function likeliestDeal(files, deals) {
  const parts = (text) => text.toLowerCase().split(/[^a-z0-9]+/).filter((word) => word.length > 2);
  const named = new Set(parts(files[0].name));
  const scored = deals.map(({ id, name }) => [parts(name).filter((word) => named.has(word)).length, id]);
  const best = scored.sort(([one], [other]) => other - one)[0];
  return best && best[0] > 0 ? best[1] : null;
}

function likeliestDay(files) {
  const found = /(20\d\d)[-_.]?(0[1-9]|1[0-2])[-_.]?([0-2]\d|3[01])/.exec(files[0].name);
  return found ? `${found[1]}-${found[2]}-${found[3]}` : new Date().toISOString().slice(0, 10);
}

async function dealOf({ deal, name }) {
  return deal === "new" ? (await post("deals", { name })).id : deal;
}

function formOf(files, fields) {
  const form = new FormData();
  files.forEach((file) => form.append("files", file));
  for (const [name, value] of Object.entries(fields)) if (value) form.append(name, value);
  return form;
}

const SEND = {
  async holdings(files, chosen) {
    const id = await dealOf(chosen);
    const book = await upload(`deals/${id}/files`, formOf(files, { as_of: chosen.as_of }), { label: `Uploading ${files[0].name}` });
    const label = `Reading ${files[0].name}`;
    const ready = await settled(`workbooks/${book.id}`, ({ status }) => status === "ready" || status === "error", { label });
    forgetData();
    if (ready.status === "error") throw Object.assign(new Error(ready.error_message), { status: 422, errors: [] });
    go(href("deals", id, "compliance", { workbook: ready.id, run: "now" }));
  },
  async tape(files, chosen) {
    const id = await dealOf(chosen);
    const fields = { kind: "tape", trustee_name: chosen.trustee, statement_date: chosen.statement_date };
    const answer = await upload(`deals/${id}/files`, formOf(files, fields), { label: `Uploading ${files[0].name}` });
    const tape = answer.tape ?? answer;
    const label = `Reading ${files[0].name}`;
    const ready = await settled(`reconciliation/tapes/${tape.tape_id}`, ({ processing_status: status, status: other }) => (status ?? other) !== "processing", { label });
    forgetData();
    if ((ready.processing_status ?? ready.status) === "failed") throw Object.assign(new Error(ready.error_message), { status: 422, errors: [] });
    go(href("deals", id, "reconciliation", { tape: tape.tape_id, compare: "now" }));
  },
  async verify(files) {
    const form = new FormData();
    form.append("file", files[0]);
    const verdict = await upload("exports/verify", form, { label: `Verifying ${files[0].name}` });
    verified.value = { name: files[0].name, ...verdict };
    go(href("exports", { tab: "verify" }));
  },
};

/** The verdict on the file that was verified last; the screen of exports shows it. */
export const verified = signal(null);
