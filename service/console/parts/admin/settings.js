// What an organisation chooses: how things are written and named, who gets in, limits and tolerances.
import { html } from "../html.js";
import { patch, reload } from "../../api.js";
import { notify } from "../../state.js";
import { useData, useTask } from "../data.js";
import { confirmed } from "../dialog.js";
import { Field, Form } from "../form.js";
import { number } from "../format.js";
import { Loaded } from "../problem.js";

const zones = () => Intl.supportedValuesOf?.("timeZone") ?? [];
const dates = () => ["YYYY-MM-DD", "DD.MM.YYYY", "DD/MM/YYYY", "MM/DD/YYYY", "DD-MMM-YYYY"];
const locales = () => ["en-US", "en-GB", "de-DE", "de-CH", "fr-FR", "es-ES", "it-IT", "nl-NL"];
const TOLERANCES = { par_value: ["Par", "In currency"], price: ["Price", "In points"], spread: ["Spread", "In basis points"], all_in_rate: ["All-in rate", "In basis points"], maturity_date: ["Maturity", "In days"] };

/** By group and name: label, hint, what is proposed. How a setting is edited follows from its stored value. */
const GROUPS = {
  Organisation: { name: ["Name"] },
  Writing: {
    timezone: ["Time zone", "", zones], date_format: ["Dates", "", dates], number_format: ["Numbers", "A locale: en-US writes 1,234.5", locales],
    default_currency: ["Currency"], default_date_format: ["Dates that formulas write", "", dates], default_number_format: ["Numbers that formulas write", "", locales],
  },
  Names: {
    rating_agency_a_label: ["First agency"], rating_agency_b_label: ["Second agency"], rating_agency_c_label: ["Third agency"],
    trustee_a_label: ["First trustee"], trustee_b_label: ["Second trustee"], trustee_c_label: ["Third trustee"],
  },
  Access: {
    two_factor_required: ["Everybody needs two-factor login"],
    session_timeout_minutes: ["A session ends after so many minutes without a request", "15 to 1,440; empty: never by itself"],
    allowed_ip_ranges: ["Only these address ranges get in", "One a line, such as 203.0.113.0/24; empty: everywhere"],
  },
  Limits: { max_workbook_size_mb: ["Largest file, in MB"], max_users: ["Most people", "Empty: as many as the tier permits"] },
  "A difference from the trustee is none up to": TOLERANCES,
};
const QUOTAS = { storage_gb: "GB of files", api_keys: "API keys", calculations: "formulas evaluated this month" };

export function Settings() {
  const tenant = useData("admin/tenant");
  const store = async (body) => {
    await patch("admin/tenant", body);
    tenant.reload();
    await reload();
  };
  const task = useTask(async (fields) => {
    const [body, before] = changes(fields, tenant.data);
    if (Object.keys(body).length === 0) return;
    try {
      await store(body);
    } catch (error) {
      if (error.status !== 409) throw error;
      if (!(await confirmed("Shut yourself out?", "Your own address is in none of these ranges: you are refused from now on.", "Save all the same"))) return;
      await store({ ...body, confirm: true });
    }
    notify("good", "The settings are saved", { undo: () => store({ ...before, confirm: true }) });
  });
  return html`<${Loaded} from=${tenant}>${(data) => html`<p class="muted">${usage(data)}</p>
    <${Form} key=${data.updated_at} task=${task} action="Save" onSubmit=${task.run}><div class="settings">
      ${Object.entries(GROUPS).map(([title, rows]) => html`<fieldset key=${title}><legend>${title}</legend>
        ${Object.entries(rows).map(([name, row]) => html`<${Setting} key=${name} name=${name} row=${row} value=${flat(data)[name]} error=${task.error} />`)}</fieldset>`)}</div><//>`}<//>`;
}

/** "Tier premium · workbooks 3 of 100 · ...". */
function usage({ subscription_tier: tier, quotas }) {
  const parts = Object.entries(quotas).map(([name, { used, limit }]) => `${QUOTAS[name] ?? name} ${number(used, name === "storage_gb" ? 1 : 0)}${limit < 0 ? "" : ` of ${number(limit)}`}`);
  return [`Tier ${tier}`, ...parts].join(" · ");
}

const flat = ({ name, settings }) => ({ name, ...settings, ...settings.reconciliation_tolerances });

/** What a field shows of a stored value, and the value that its text says. */
const textOf = (value) => (Array.isArray(value) ? value.join("\n") : value === true ? "on" : value === false || value === -1 ? "" : String(value ?? ""));
function valueOf(text, stored) {
  if (Array.isArray(stored)) return text.split(/[\s,]+/).filter(Boolean);
  if (typeof stored === "boolean") return text === "on";
  if (typeof stored === "string") return text.trim();
  return text === "" ? null : Number(text);
}

function Setting({ name, row: [label, hint, proposed], value, error }) {
  if (typeof value === "boolean") return html`<p><label><input type="checkbox" name=${name} defaultChecked=${value} /> ${label}</label></p>`;
  const more = { label, name, hint, error };
  if (Array.isArray(value)) return html`<${Field} ...${more}>${(props) => html`<textarea ...${props} rows="3" defaultValue=${textOf(value)}></textarea>`}<//>`;
  const input = typeof value === "string" ? { required: true, maxlength: 200, list: proposed && `of-${name}` } : { type: "number", step: "any" };
  if (name in TOLERANCES) input.placeholder = "As the deployment has it";
  return html`<${Field} ...${more} ...${input} value=${textOf(value)} />${proposed && html`<datalist id=${input.list}>${proposed().map((one) => html`<option value=${one}></option>`)}</datalist>`}`;
}

/** What of a form differs from the tenant, as PATCH takes it, and what brings it back; of tolerances all or none. */
function changes(fields, tenant) {
  const stored = flat(tenant);
  const text = (name) => (fields[name] ?? "").replaceAll("\r\n", "\n");
  const settings = {};
  const old = {};
  for (const name of Object.values(GROUPS).flatMap(Object.keys).filter((each) => text(each) !== textOf(stored[each]))) {
    const key = name in TOLERANCES ? "reconciliation_tolerances" : name;
    const given = () => Object.fromEntries(Object.keys(TOLERANCES).filter(text).map((each) => [each, Number(text(each))]));
    settings[key] = key === name ? valueOf(text(name), stored[name]) : given();
    old[key] = key === name ? stored[name] : tenant.settings[key];
  }
  return [settings, old].map(({ name, ...rest }) => ({ ...(name !== undefined && { name }), ...(Object.keys(rest).length > 0 && { settings: rest }) }));
}
