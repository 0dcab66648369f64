// A test's limit, set in place for the deal or for one file; the tests run again, and it can be undone.
import { html, useEffect, useRef, useState } from "./html.js";
import { get, post, remove } from "../api.js";
import { labelled, notify, route, setQuery } from "../state.js";
import { useTask } from "./data.js";
import { Field, Form, Select } from "./form.js";
import { figure } from "./format.js";

const SCOPES = [{ value: "deal", label: "This deal" }, { value: "workbook", label: "This month's file" }];

export function Limit({ row, run, deal, changed }) {
  const [scope, setScope] = useState(row.threshold_source === "workbook" ? "workbook" : "deal");
  const open = route.value.query.get("edit") === "limit";
  const form = useRef(null);
  useEffect(() => (open ? form.current.querySelector("input").select() : document.querySelector(".drill h2").focus()), [open]);
  const show = (edit) => setQuery({ edit });
  const target = { test_id: row.test_id, ...(scope === "deal" ? { deal_id: deal.id } : { workbook_id: run.workbook_id }) };
  const task = useTask(async ({ threshold_value: text }) => {
    const value = Number(text);
    const former = await present(target);
    await post("compliance/thresholds", { ...target, threshold_value: value, threshold_type: row.threshold_type });
    await after(`Limit of ${labelled(row.test_name)}: ${figure(value, row.unit, row.decimals)}`, former);
  });
  const taking = useTask(async () => {
    const former = await present(target);
    if (former) await remove(`compliance/thresholds/${former.id}`);
    await after(`Limit of ${labelled(row.test_name)}: as before it was set`, former);
  });
  const after = async (text, former) => {
    show(null);
    await changed();
    notify("good", text, { undo: () => undo(target, former, changed) });
  };
  if (!open) {
    const own = ["deal", "workbook"].includes(row.threshold_source);
    return html`<p><button onClick=${() => show("limit")}>Change the limit (e)</button>
      ${own && html` <button disabled=${taking.busy} onClick=${taking.run}>Back to the former limit</button>`}</p>`;
  }
  return html`<div ref=${form}><${Form} task=${task} action="Set the limit" onSubmit=${task.run} cancel=${() => show(null)}>
    <${Field} label="Limit" name="threshold_value" type="number" step="any" required value=${row.threshold_value} error=${task.error} />
    <${Select} label="For" name="scope" value=${scope} options=${SCOPES} onChange=${setScope} />
  <//></div>`;
}

/** The limit that is set for just this deal or file. */
async function present(target) {
  const { items } = await get("compliance/thresholds", target);
  return items[0] ?? null;
}

async function undo(target, former, changed) {
  const now = await present(target);
  if (former) {
    const { threshold_value, threshold_type, warning_threshold, enabled } = former;
    await post("compliance/thresholds", { ...target, threshold_value, threshold_type, warning_threshold, enabled });
  } else if (now) await remove(`compliance/thresholds/${now.id}`);
  await changed();
}
