// A file dropped anywhere, or chosen: to which deal, as what, of which day; the likeliest is chosen already.
import { html, signal, useEffect, useState } from "./html.js";
import { get, post, Refusal, settled, upload } from "../api.js";
import { can, complain, go, href, label, notify, route } from "../state.js";
import { refreshData, useData, useTask } from "./data.js";
import { Dialog } from "./dialog.js";
import { Field, Form, Select } from "./form.js";
import { counted, day } from "./format.js";
import { Loaded } from "./problem.js";

/** Files that wait for a choice: File[] with what opened them ({deal, kind}), and which opening it is. */
const waiting = signal(null);
let openings = 0;

/** Open the choice for files; without files the browser's chooser opens first. */
export function addFiles(files, chosen = {}) {
  if (files?.length) {
    waiting.value = { files: [...files], opening: ++openings, ...chosen };
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
    ${waiting.value && html`<${Choice} key=${waiting.value.opening} ...${waiting.value} close=${() => { waiting.value = null; }} />`}`;
}

/** What files may be: `fits` says it of their names, the first that fits is chosen. */
const KINDS = [
  { value: "verify", label: "Export of Cushion, to verify", scope: "reports:read", most: 1, fits: ([name]) => /export|cushion[-_]/i.test(name) && !/\.pdf$/i.test(name) },
  { value: "tape", label: "Trustee's tape, to reconcile", scope: "workbooks:write", most: 1, fits: (names) => /tape|statement/i.test(names[0]) },
  { value: "months", label: "Months of a deal, each file one", scope: "workbooks:write", least: 2, fits: (names) => new Set(names.map(dayIn)).size === names.length },
  { value: "holdings", label: "Month of a deal: holdings or trustee report", scope: "workbooks:write", fits: () => true },
];
const TRUSTEES = ["trustee_a", "trustee_b", "trustee_c"];
const NEW = "new";

function Choice(props) {
  const { files, close } = props;
  const deals = useData(can("compliance:read") ? "console/overview" : null);
  const title = files.length === 1 ? files[0].name : counted(files.length, "file");
  const kinds = KINDS.filter(({ scope, least = 1, most = Infinity }) => can(scope) && least <= files.length && files.length <= most);
  if (kinds.length === 0) return html`<${Dialog} title=${title} close=${close}><p>Ask an administrator of your organisation for the right to add files.</p><//>`;
  return html`<${Dialog} title=${title} close=${close}>
    <${Loaded} from=${can("compliance:read") ? deals : NONE}>${({ items }) => html`<${Choices} ...${props} kinds=${kinds} deals=${items} />`}<//><//>`;
}

const NONE = { data: { items: [] } };

function Choices({ files, deal, kind, kinds, deals, close }) {
  const names = files.map(({ name }) => name);
  const [chosen, setChosen] = useState({
    kind: kinds.some(({ value }) => value === kind) ? kind : (kinds.find(({ fits }) => fits(names)) ?? kinds[0]).value,
    deal, trustee: TRUSTEES[0],
  });
  const place = chosen.deal ?? likeliestDeal(names[0], deals) ?? NEW;
  const set = (changes) => setChosen((before) => ({ ...before, ...changes }));
  const task = useTask(async (fields) => {
    const one = { ...chosen, deal: place, ...fields };
    if (one.deal === NEW && one.kind !== "verify") {
      one.deal = (await post("deals", { name: one.name })).id;
      set({ deal: one.deal, made: { id: one.deal, name: one.name } }); // a second try adds to the same deal
      refreshData("console/overview");
    }
    const rest = await SEND[one.kind](files, one);
    close();
    rest?.().catch(failed);
  });
  const known = chosen.made ? [chosen.made, ...deals] : deals;
  const month = deals.find(({ id }) => id === place)?.latest?.as_of;
  const options = [...known.map(({ id, name }) => ({ value: id, label: name })), ...(can("compliance:write") ? [{ value: NEW, label: "A new deal" }] : [])];
  return html`<${Form} task=${task} action=${chosen.kind === "verify" ? "Verify" : "Add"} onSubmit=${task.run} cancel=${close}>
    <fieldset><legend>What it is</legend>${kinds.map(({ value, label: text }) => html`<label class="choice" key=${value}>
      <input type="radio" name="kind" value=${value} checked=${chosen.kind === value} onChange=${() => set({ kind: value })} /> ${text}</label>`)}</fieldset>
    ${chosen.kind !== "verify" && html`<${Select} label="Deal" name="deal" value=${place} options=${options} onChange=${(value) => set({ deal: value })} />
      ${place === NEW && html`<${Field} label="Name of the deal" name="name" required maxlength="255" error=${task.error} value=${dealName(names[0])} />`}`}
    ${chosen.kind === "holdings" && html`<${Field} label="As of" name="as_of" type="date" error=${task.error} hint="Empty: the day that the file says" />`}
    ${chosen.kind === "months" && html`<p class="muted">Each file's day is the one in its name, else the one that it says.</p>`}
    ${chosen.kind === "tape" && html`<${Select} label="Trustee" name="trustee_name" value=${chosen.trustee} onChange=${(value) => set({ trustee: value })}
        options=${TRUSTEES.map((value) => ({ value, label: label(value) }))} />
      <${Field} label="Statement date" name="statement_date" type="date" required error=${task.error} value=${dayIn(names[0]) ?? month ?? today()} hint=${month ? `The deal's newest month is ${day(month)}` : undefined} />`}
  <//>`;
}

/** What goes wrong once the dialog is closed; a file that could not be read stands with its deal, too. */
function failed(error) {
  refreshData("workbooks", "console/overview");
  complain(error);
}

const today = () => new Date().toISOString().slice(0, 10);

/** The deal's name in a file's: without its ending, its day, underlines and hyphens at its ends. */
function dealName(name) {
  const text = name.replace(/\.[^.]+$/, "").replace(DAY, " ").replace(/[_\s]+/g, " ").replace(/^[-\s]+|[-\s]+$/g, "");
  return (text || name).slice(0, 255);
}

/** The deal whose name shares the most words with the file's. */
function likeliestDeal(file, deals) {
  const words = (text) => text.toLowerCase().split(/[^a-z0-9]+/).filter((word) => word.length > 1 && word !== "clo");
  const named = new Set(words(file));
  const shared = ({ name }) => words(name).filter((word) => named.has(word)).length;
  const best = deals.reduce((most, deal) => (shared(deal) > (most ? shared(most) : 0) ? deal : most), null);
  return best?.id ?? (deals.length === 1 ? deals[0].id : null);
}

const DAY = /(20\d\d)[-_.]?(0[1-9]|1[0-2])[-_.]?(0[1-9]|[12]\d|3[01])/;

/** The day in a file's name as YYYY-MM-DD. */
function dayIn(name) {
  const parts = DAY.exec(name);
  return parts ? parts.slice(1).join("-") : null;
}

function formOf(files, fields) {
  const form = new FormData();
  files.forEach((file) => form.append("files", file));
  for (const [name, value] of Object.entries(fields)) if (value) form.append(name, value);
  return form;
}

/** Lead to an address where nobody went on meanwhile, else say that it is there. */
function arrive(begun, text, address) {
  refreshData("");
  if (route.peek() === begun) go(address);
  else notify("good", text, { action: { label: "Open", run: () => go(address) } });
}

async function addMonth(files, deal, asOf) {
  const [{ name }] = files;
  const { id } = await upload(`deals/${deal}/files`, formOf(files, { as_of: asOf }), { label: `Uploading ${name}` });
  return async () => {
    const ready = await settled(`workbooks/${id}`, ({ status }) => status === "ready" || status === "error", { label: `Reading ${name}` });
    if (ready.status === "error") throw new Refusal(422, { detail: `${name} could not be read: ${ready.error_message}` });
    return ready.id;
  };
}

/** By kind: send the files; gives what is left to do when the service has them, in the background. */
const SEND = {
  async holdings(files, { deal, as_of: asOf }) {
    const begun = route.peek();
    const reading = await addMonth(files, deal, asOf);
    return async () => {
      const workbook = await reading();
      arrive(begun, `${files[0].name} is there`, href("deals", deal, "compliance", { workbook, run: "now" }));
    };
  },
  async months(files, { deal }) {
    const begun = route.peek();
    const readings = [];
    for (const file of files) readings.push(await addMonth([file], deal, dayIn(file.name)));
    return async () => {
      const { definition_version: version } = await get(`deals/${deal}`);
      const run = (id) => can("compliance:write") && post("compliance/run", { workbook_id: id, test_suite: version > 0 ? "deal" : "enhanced" });
      for (const reading of readings) await reading().then(run).catch(failed);
      arrive(begun, `${counted(files.length, "month")} are there`, href("deals", deal, "compliance"));
    };
  },
  async tape(files, { deal, trustee, statement_date: date }) {
    const begun = route.peek();
    const [{ name }] = files;
    const fields = { kind: "tape", trustee_name: trustee, statement_date: date };
    const { tape } = await upload(`deals/${deal}/files`, formOf(files, fields), { label: `Uploading ${name}` });
    return async () => {
      const ready = await settled(`reconciliation/tapes/${tape.tape_id}`, ({ processing_status: state }) => state !== "processing", { label: `Reading ${name}` });
      if (ready.processing_status === "failed") throw new Refusal(422, { detail: `${name} could not be read: ${ready.error_message}` });
      arrive(begun, `${name} is there`, href("deals", deal, "reconciliation", { tape: tape.tape_id, compare: "now" }));
    };
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
