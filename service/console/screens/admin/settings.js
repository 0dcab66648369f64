// What an organisation chooses: how things are written and named, who gets in, limits and tolerances.
import { html } from "../../parts/html.js";
import { patch, reload } from "../../api.js";
import { notify } from "../../state.js";
import { AdminScreen, forAdmins } from "../../parts/admin/tabs.js";
import { useData, useTask } from "../../parts/data.js";
import { confirmed } from "../../parts/dialog.js";
import { Field, Form } from "../../parts/form.js";
import { number } from "../../parts/format.js";
import { Loaded } from "../../parts/problem.js";

const zones = () => Intl.supportedValuesOf?.("timeZone") ?? [];
const DATES = ["YYYY-MM-DD", "DD.MM.YYYY", "DD/MM/YYYY", "MM/DD/YYYY", "DD-MMM-YYYY"];
const LOCALES = ["en-US", "en-GB", "de-DE", "de-CH", "fr-FR", "es-ES", "it-IT", "nl-NL"];
const label = (name, text) => ({ name, label: text, maxlength: 60, required: true });

/** `kind` says how a setting is shown and sent; `choices` proposes values. */
const GROUPS = [
  { title: "Writing", rows: [
    { name: "timezone", label: "Time zone", choices: zones, required: true },
    { name: "date_format", label: "Dates", choices: () => DATES, required: true },
    { name: "number_format", label: "Numbers", choices: () => LOCALES, required: true, hint: "A locale: en-US writes 1,234.5" },
    { name: "default_currency", label: "Currency", maxlength: 3, required: true },
    { name: "default_date_format", label: "Dates that formulas write", choices: () => DATES, required: true },
    { name: "default_number_format", label: "Numbers that formulas write", choices: () => LOCALES, required: true },
  ] },
  { title: "Names", rows: [
    label("rating_agency_a_label", "First agency"), label("rating_agency_b_label", "Second agency"), label("rating_agency_c_label", "Third agency"),
    label("trustee_a_label", "First trustee"), label("trustee_b_label", "Second trustee"), label("trustee_c_label", "Third trustee"),
  ] },
  { title: "Access", rows: [
    { name: "two_factor_required", label: "Everybody needs two-factor login", kind: "check" },
    { name: "session_timeout_minutes", label: "A session ends after so many minutes without a request", kind: "count", min: 15, max: 1440, hint: "15 to 1,440; empty: never by itself" },
    { name: "allowed_ip_ranges", label: "Only these address ranges get in", kind: "lines", hint: "One a line, such as 203.0.113.0/24; empty: everywhere" },
  ] },
  { title: "Limits", rows: [
    { name: "max_workbook_size_mb", label: "Largest file, in MB", kind: "count", min: 1, max: 1000000, required: true },
    { name: "max_users", label: "Most people", kind: "count", min: -1, max: 1000000, hint: "Empty: as many as the tier permits" },
  ] },
  { title: "A difference from the trustee is none up to", tolerances: true, rows: [
    { name: "par_value", label: "Par", kind: "amount", hint: "In currency" }, { name: "price", label: "Price", kind: "amount", hint: "In points" },
    { name: "spread", label: "Spread", kind: "amount", hint: "In basis points" }, { name: "all_in_rate", label: "All-in rate", kind: "amount", hint: "In basis points" },
    { name: "maturity_date", label: "Maturity", kind: "amount", hint: "In days" },
  ] },
];
/** How a setting stands in its field, and what a field's text is as a setting. */
const KINDS = {
  text: { input: { type: "text", spellcheck: false }, read: (text) => text.trim() },
  check: { write: (value) => (value ? "on" : ""), read: (text) => text === "on" },
  count: { input: { type: "number", step: 1 }, write: (value) => (value < 0 ? "" : value), read: (text) => (text === "" ? null : Number(text)) },
  amount: { input: { type: "number", min: 0, step: "any", placeholder: "As the deployment has it" }, read: (text) => (text === "" ? undefined : Number(text)) },
  lines: { write: (value) => value.join("\n"), read: (text) => text.split(/[\s,]+/).filter(Boolean) },
};
const kindOf = (row) => KINDS[row.kind ?? "text"];
const textOf = (row, value) => (value === null || value === undefined ? "" : String(kindOf(row).write?.(value) ?? value));

function Settings() {
  const tenant = useData("admin/tenant");
  const task = useTask(async (fields) => {
    const wanted = changes(fields, tenant.data);
    if (Object.keys(wanted).length === 0) return;
    const before = reverse(wanted, tenant.data);
    if (!(await store(wanted))) return;
    tenant.reload();
    await reload();
    const undo = async () => {
      await patch("admin/tenant", before);
      tenant.reload();
      await reload();
    };
    notify("good", "The settings are saved", { action: { label: "Undo", run: undo } });
  });
  return html`<${AdminScreen} title="Settings"><${Loaded} from=${tenant}>${(data) => html`
    <p class="muted">${used(data)}</p>
    <${Form} key=${data.updated_at} task=${task} action="Save" onSubmit=${task.run}>
      <div class="settings"><fieldset><legend>Organisation</legend>
        <${Field} label="Name" name="name" value=${data.name} required maxlength="200" error=${task.error} />
        <p class="muted">Short name: ${data.slug}</p></fieldset>
      ${GROUPS.map((group) => html`<fieldset key=${group.title}><legend>${group.title}</legend>
        ${group.rows.map((row) => html`<${Setting} key=${row.name} row=${row} value=${valueOf(group, row, data.settings)} error=${task.error} />`)}</fieldset>`)}</div>
    <//>`}<//><//>`;
}

const QUOTAS = { storage_gb: "GB of files", api_keys: "API keys", calculations: "formulas evaluated this month" };

/** "Tier premium · workbooks 3 of 100 · ...". */
function used({ subscription_tier: tier, quotas }) {
  const parts = Object.entries(quotas).map(([name, { used: count, limit }]) => `${QUOTAS[name] ?? name} ${number(count, name === "storage_gb" ? 1 : 0)}${limit < 0 ? "" : ` of ${number(limit)}`}`);
  return [`Tier ${tier}`, ...parts].join(" · ");
}

const valueOf = (group, row, settings) => (group.tolerances ? settings.reconciliation_tolerances[row.name] : settings[row.name]);

function Setting({ row, value, error }) {
  const { name, label: text, hint, kind = "text", choices, ...rest } = row;
  if (kind === "check") return html`<p><label><input type="checkbox" name=${name} defaultChecked=${value} /> ${text}</label></p>`;
  const written = textOf(row, value);
  if (kind === "lines") {
    return html`<${Field} label=${text} name=${name} hint=${hint} error=${error}>${(props) => html`<textarea ...${props} rows="3" spellcheck=${false} defaultValue=${written}></textarea>`}<//>`;
  }
  const list = choices && `choices-${name}`;
  return html`<${Field} label=${text} name=${name} hint=${hint} error=${error} value=${written} list=${list} ...${kindOf(row).input} ...${rest} />
    ${list && html`<datalist id=${list}>${choices().map((one) => html`<option value=${one}></option>`)}</datalist>`}`;
}

/** What of a form differs from the stored tenant, as PATCH takes it; of tolerances all, or none. */
function changes(fields, { name, settings }) {
  const patched = {};
  const text = (row) => (fields[row.name] ?? "").replaceAll("\r\n", "\n");
  for (const group of GROUPS) {
    const changed = group.rows.filter((row) => text(row) !== textOf(row, valueOf(group, row, settings)));
    if (changed.length === 0) continue;
    const read = (rows) => Object.fromEntries(rows.map((row) => [row.name, kindOf(row).read(text(row))]));
    if (group.tolerances) patched.reconciliation_tolerances = read(group.rows); // JSON leaves out what is undefined
    else Object.assign(patched, read(changed));
  }
  return { ...(fields.name !== name && { name: fields.name }), ...(Object.keys(patched).length > 0 && { settings: patched }) };
}

function reverse(wanted, { name, settings }) {
  const back = Object.fromEntries(Object.keys(wanted.settings ?? {}).map((key) => [key, settings[key]]));
  return { ...(wanted.name && { name }), ...(wanted.settings && { settings: back }), confirm: true };
}

/** Send the changes; ranges that would shut oneself out are asked for once more. */
async function store(wanted) {
  try {
    await patch("admin/tenant", wanted);
    return true;
  } catch (error) {
    if (error.status !== 409 || !wanted.settings?.allowed_ip_ranges) throw error;
    if (!(await confirmed("Shut yourself out?", "Your own address is in none of these ranges: you are refused from now on.", "Save all the same"))) return false;
    await patch("admin/tenant", { ...wanted, confirm: true });
    return true;
  }
}

export default forAdmins(Settings);
