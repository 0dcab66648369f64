// What a deal is: its record, its definition, its versions; the end of it.
import { html } from "../parts/html.js";
import { patch, remove } from "../api.js";
import { can, go, href, notify, route, setQuery } from "../state.js";
import { refreshData, useData, useTask } from "../parts/data.js";
import { DealScreen } from "../parts/deal.js";
import { Definition, Versions } from "../parts/definition.js";
import { confirmed } from "../parts/dialog.js";
import { Field, Form, Pills, Select } from "../parts/form.js";

const PARTS = [["", "Deal"], ["definition", "Definition"], ["versions", "Versions"]];

export default function DealSettings({ id }) {
  const { query } = route.value;
  const part = query.get("part") ?? "";
  const choose = (name) => setQuery({ part: name, version: null, against: null }, { replace: false });
  return html`<${DealScreen} id=${id} title="Settings" months=${false}>${({ deal, month}) => html`
    <${Pills} label="Part of the settings" value=${part} rows=${PARTS} onChange=${choose} />
    ${part === "definition" && html`<${Definition} deal=${deal} month=${month} />`}
    ${part === "versions" && html`<${Versions} deal=${deal} version=${query.get("version")} against=${query.get("against")} />`}
    ${part === "" && html`<${Record} key=${deal.updated_at} deal=${deal} />
      ${can("compliance:write") && html`<${End} deal=${deal} />`}`}`}<//>`;
}

const DAYS = [
  ["closing_date", "Closing date"], ["reinvestment_end", "End of the reinvestment period"],
  ["stated_maturity", "Stated maturity"], ["next_payment_date", "Next payment"],
];

/** The fields of the form as the deal has them; empty is null where a deal may have none. */
function fieldsOf(form) {
  const countries = form.home_countries.toUpperCase().split(/[^A-Z]+/).filter(Boolean);
  const days = Object.fromEntries(DAYS.map(([name]) => [name, form[name] || null]));
  return { name: form.name, currency: form.currency.toUpperCase(), home_countries: countries, mapping_id: form.mapping_id || null, ...days };
}

function Record({ deal}) {
  const may = can("compliance:write");
  const mappings = useData(can("mappings:read") ? "mappings" : null, { include_system: true, page_size: 100 });
  const store = async (changes) => {
    await patch(`deals/${deal.id}`, changes);
    refreshData("");
  };
  const task = useTask(async (form) => {
    const fields = fieldsOf(form);
    const changes = Object.fromEntries(Object.entries(fields).filter(([name, value]) => String(value ?? "") !== String(deal[name] ?? "")));
    if (Object.keys(changes).length === 0) return void notify("plain", "Nothing was changed");
    const before = Object.fromEntries(Object.keys(changes).map((name) => [name, deal[name]]));
    await store(changes);
    return void notify("good", "The deal is saved", { undo: () => store(before) });
  });
  const field = { error: task.error, disabled: !may };
  const names = (mappings.data?.items ?? []).map((one) => ({ value: one.id, label: one.name }));
  if (deal.mapping_id && !names.some(({ value }) => value === deal.mapping_id)) names.push({ value: deal.mapping_id, label: "The present one" });
  return html`<${may ? Form : Shown} task=${task} action="Save" onSubmit=${task.run}>
    <div class="columns deal-record"><div>
      <${Field} label="Name" name="name" required maxlength="255" value=${deal.name} ...${field} />
      <${Field} label="Currency" name="currency" required maxlength="3" value=${deal.currency} hint="Three letters: USD" ...${field} />
      <${Field} label="Home countries" name="home_countries" value=${deal.home_countries.join(", ")} hint="Codes of two letters: US, CA" ...${field} />
      <${Select} label="Mapping" name="mapping_id" value=${deal.mapping_id ?? ""} options=${[{ value: "", label: "The built-in one" }, ...names]} hint="Of months to come; a month that names its own keeps it" ...${field} />
    </div><div>${DAYS.map(([name, label]) => html`<${Field} key=${name} label=${label} name=${name} type="date" value=${deal[name] ?? ""} ...${field} />`)}</div></div>
  <//>`;
}

const Shown = ({ children }) => children;

function End({ deal }) {
  const task = useTask(async () => {
    const text = `Its definition with all versions and its limits are deleted for good. Its files, tapes and runs stay, as those of no deal.`;
    if (!(await confirmed(`Delete ${deal.name}?`, text, "Delete the deal"))) return;
    await remove(`deals/${deal.id}`);
    go(href("deals"), { replace: true });
    refreshData("console/overview", "workbooks");
    notify("good", `${deal.name} is deleted`);
  });
  return html`<h3>Delete the deal</h3><p class="muted">Its definition and its limits are deleted with it; its files stay.</p>
    <button class="danger" disabled=${task.busy} onClick=${task.run}>Delete the deal</button>
    ${task.error && html`<p class="fault" role="alert">${task.error.message}</p>`}`;
}
