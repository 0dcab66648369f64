// Alerts: the inbox, the alerts with their history, and webhooks with their deliveries.
import { html, useState } from "../parts/html.js";
import { call, get, post } from "../api.js";
import { can, complain, me, notify } from "../state.js";
import { Act, acts, change, List, Secret, Tabs, when } from "../parts/admin/list.js";
import { useBooks } from "../parts/books.js";
import { refreshData, useData, useTask } from "../parts/data.js";
import { Dialog } from "../parts/dialog.js";
import { Field, Form, Select } from "../parts/form.js";
import { moment, words } from "../parts/format.js";
import { Empty } from "../parts/problem.js";
import { Table } from "../parts/table.js";

const EVENTS = ["workbook.uploaded", "calculation.completed", "compliance.completed", "batch.completed", "alert.triggered"];
const HISTORY = 100;

const named = (text) => Object.fromEntries(text.split(" ").map((name) => [name, words(name)]));
const METRIC = { name: "metric", label: "Figure", options: {
  ...named("single_obligor_concentration top_5_concentration industry_concentration average_rating_factor"),
  ccc_bucket_pct: "CCC bucket", oc_ratio: "OC ratio", ic_ratio: "IC ratio", wal: "Weighted average life", was: "Weighted average spread",
} };
const whole = { kind: "number", min: 0 };
const decimal = { kind: "number", step: "any" };
const list = { kind: "list", hint: "With commas between" };

/** By type: its name, and the fields of its conditions. */
const TYPES = {
  compliance: ["A test fails, or comes close", [
    { name: "status", label: "Statuses", kind: "checks", options: named("fail warning pass"), value: ["fail"] },
    { name: "cushion_threshold", label: "Or a cushion below", ...decimal }, { name: "test_ids", label: "Tests, by identifier; empty: all", ...list },
  ]],
  threshold: ["A figure passes a level", [
    METRIC, { name: "operator", label: "Is", options: { gt: ">", gte: "≥", lt: "<", lte: "≤", eq: "=", ne: "≠" } },
    { name: "value", label: "Level", required: true, ...decimal }, { name: "duration_minutes", label: "For so many minutes", ...whole },
  ]],
  trend: ["A figure moves", [
    METRIC, { name: "direction", options: named("either increasing decreasing") },
    { name: "change_threshold", label: "By at least", required: true, ...decimal }, { name: "lookback_days", label: "Within days", required: true, value: 31, ...whole },
  ]],
  schedule: ["At certain times", [
    { name: "schedule", label: "Times, as cron has them", required: true, value: "0 8 * * 1-5", hint: "Minute, hour, day, month, weekday in your organisation's time zone" },
  ]],
};

/** By channel: its name, and the fields of its configuration. */
const CHANNELS = {
  email: ["E-mail", [
    { name: "recipients", required: true, ...list, value: () => [me.value.email] }, { name: "cc", label: "Copies to", ...list },
    { name: "subject_prefix" }, { name: "include_details", kind: "flag" },
  ]],
  in_app: ["Inbox of Cushion", [
    { name: "user_ids", label: "Whose", kind: "checks", value: () => [me.value.id] }, { name: "priority", options: named("normal low high urgent") },
  ]],
  chat_webhook: ["Chat (Slack's format)", [
    { name: "webhook_url", label: "Webhook URL", required: true }, { name: "channel" }, { name: "username" },
    { name: "icon_emoji", hint: "Such as :warning:" }, { name: "mention_users", ...list },
  ]],
  webhook: ["Webhook", [
    { name: "url", label: "URL", required: true }, { name: "method", options: { POST: "POST", PUT: "PUT", PATCH: "PATCH" } },
    { name: "headers", kind: "pairs", hint: "A line each: Name: value" }, { name: "retry_count", ...whole, value: 3 },
  ]],
};

/** What the inputs of a field say, by kind; an empty one is left out. */
const READ = {
  list: ([{ value }]) => value.split(",").map((text) => text.trim()).filter(Boolean),
  checks: (boxes) => boxes.filter(({ checked }) => checked).map(({ value }) => value),
  flag: ([{ checked }]) => checked,
  number: ([{ value }]) => (value === "" ? undefined : Number(value)),
  pairs: ([{ value }]) => Object.fromEntries(value.split("\n").filter((line) => line.includes(":")).map((line) => line.split(/:\s*(.*)/).slice(0, 2))),
  text: ([{ value }]) => value || undefined,
};

function read(set, fields) {
  return Object.fromEntries(fields.map(({ name, kind = "text" }) => [name, READ[kind]([...set.elements].filter((one) => one.name === name))]));
}

function Fields({ title, fields, values, error, people, children }) {
  const draw = ({ name, kind = "text", options = people, value, label = words(name), ...rest }) => {
    const start = values ? values[name] : typeof value === "function" ? value() : value;
    const shared = { label, name, error, ...rest };
    const box = (one, text, checked) => html`<label class="choice" key=${one}><input type="checkbox" name=${name} value=${one} defaultChecked=${checked} /> ${text}</label>`;
    if (kind === "flag") return box(name, label, start ?? true);
    if (kind === "checks") {
      const all = { ...Object.fromEntries((start ?? []).map((one) => [one, "Another person"])), ...options };
      return html`<fieldset><legend>${label}</legend>${Object.entries(all).map(([one, text]) => box(one, text, start?.includes(one)))}</fieldset>`;
    }
    if (kind === "pairs") return html`<${Field} ...${shared}>${(props) => html`<textarea ...${props} defaultValue=${Object.entries(start ?? {}).map((pair) => pair.join(": ")).join("\n")} />`}<//>`;
    if (options !== people) return html`<${Select} ...${shared} value=${start} options=${choices(options)} />`;
    return html`<${Field} ...${shared} type=${kind === "number" ? kind : "text"} value=${kind === "list" ? start?.join(", ") : start} />`;
  };
  return html`<fieldset class="part"><legend>${title}</legend>${fields.map(draw)}${children}</fieldset>`;
}

const choices = (table) => Object.entries(table).map(([value, text]) => ({ value, label: Array.isArray(text) ? text[0] : text }));

export default function AlertsScreen() {
  const admin = ["owner", "admin"].includes(me.value.role);
  return html`<${Tabs} title="Alerts" tabs=${{ inbox: ["Inbox", Inbox], ...(can("alerts:read") && { alerts: ["Alerts", Alerts] }), ...(admin && { webhooks: ["Webhooks", Webhooks] }) }} />`;
}

function Inbox() {
  const columns = [
    when("created_at", "When", "narrow-off"),
    { key: "title", label: "What", className: "wraps", show: (row) => html`<strong class=${["high", "urgent"].includes(row.priority) ? "fail" : ""}>${row.title}</strong><small class="narrow-only">${moment(row.created_at)}</small><span class="block message">${row.message}</span>` },
    acts((row) => (row.read_at ? html`<span class="muted">Read</span>` : html`<${Act} label="Mark as read" of=${row.title} run=${() => change("POST", `notifications/${row.id}/read`, undefined, "Marked as read")} />`)),
  ];
  return html`<p><button onClick=${() => change("POST", "notifications/read-all", undefined, "All are marked as read")}>Mark all as read</button></p>
    <${List} caption="Notifications" path="notifications" columns=${columns}
      empty=${html`<${Empty} title="Nothing here"><p>What alerts have to say comes here.</p><//>`} />`;
}

/** Buttons that alerts and webhooks share. */
const rest = (path, { id, enabled }, name, ask) => html`<${Act} label=${enabled ? "Switch off" : "Switch on"} of=${name} run=${() => change("PATCH", `${path}/${id}`, { enabled: !enabled }, `${name} is ${enabled ? "off" : "on"}`, { enabled })} />
  <${Act} label="Delete" of=${name} ask=${ask} run=${() => change("DELETE", `${path}/${id}`, undefined, `${name} is deleted`)} />`;

function Alerts() {
  const [shown, setShown] = useState({}); // {form: an alert, or null for a new one} or {history: an alert}
  const close = () => setShown({});
  const act = (label, row, task) => html`<${Act} label=${label} of=${row.name} run=${() => task(row).catch(complain)} />`;
  const show = (name) => async ({ id }) => setShown({ [name]: await get(`alerts/${id}`, { include_history: true, history_limit: HISTORY }) });
  const test = async ({ id }) => {
    for (const { channel, status, message } of (await post(`alerts/${id}/test`, undefined)).results) {
      notify(status === "failed" ? "bad" : "good", `${CHANNELS[channel][0]}: ${message}`);
    }
  };
  const columns = [
    { key: "name", label: "Name", className: "wraps" },
    { key: "alert_type", label: "Tells when", className: "wraps narrow-off", value: (row) => TYPES[row.alert_type][0] },
    { key: "enabled", label: "Status", value: ({ enabled }) => (enabled ? "On" : "Off") },
    when("last_triggered", "Last triggered", "narrow-off"), { key: "trigger_count", label: "Times", number: true, className: "narrow-off" },
    acts((row) => html`${act("History", row, show("history"))}${can("alerts:write")
      && html`${act("Edit", row, show("form"))}${act("Test", row, test)}${rest("alerts", row, row.name, "Its history is deleted with it.")}`}`),
  ];
  return html`${can("alerts:write") && html`<p><button class="primary" onClick=${() => setShown({ form: null })}>Make an alert</button></p>`}
    <${List} caption="Alerts" path="alerts" columns=${columns} empty=${html`<${Empty} title="No alerts yet"><p>An alert watches each month that comes in.</p><//>`} />
    ${"form" in shown && html`<${AlertForm} alert=${shown.form} close=${close} />`}
    ${shown.history && html`<${Dialog} title=${shown.history.name} close=${close} wide><${History} alert=${shown.history} /><//>`}`;
}

function History({ alert }) {
  return html`${alert.history.length === 0 ? html`<p>It has not triggered yet.</p>` : html`<${Table} caption="Triggers, the newest first" rows=${alert.history} columns=${[
      when("triggered_at", "When"), { key: "what", label: "What", className: "wraps", value: ({ details }) => details.sentence },
      { key: "told", label: "Told by", className: "wraps", value: ({ deliveries }) => deliveries.map((one) => `${CHANNELS[one.channel][0]}: ${one.error ?? one.status}`).join("; ") },
    ]} />`}`;
}

/** Make an alert, or change the one that is there. */
function AlertForm({ alert, close }) {
  const books = useBooks();
  const users = useData(["owner", "admin"].includes(me.value.role) ? "admin/users" : null);
  const people = Object.fromEntries((users.data?.items ?? [me.value]).map(({ id, full_name: name }) => [id, name]));
  const [type, setType] = useState(alert?.alert_type ?? "compliance");
  const [channels, setChannels] = useState(alert?.channels ?? [{ type: "email" }]);
  const task = useTask(async ({ name, cooldown_minutes: pause, workbook }, form) => {
    const [watched, ...sets] = form.querySelectorAll(".part");
    const body = {
      name, cooldown_minutes: Number(pause), conditions: read(watched, TYPES[type][1]),
      channels: channels.map((one, at) => ({ id: one.id, type: one.type, config: read(sets[at], CHANNELS[one.type][1]) })),
    };
    if (alert) await call("PATCH", `alerts/${alert.id}`, { body });
    else await call("POST", "alerts/configure", { body: { ...body, alert_type: type, workbook_id: workbook || null } });
    close();
    refreshData("alerts");
  });
  const { error } = task;
  return html`<${Dialog} title=${alert ? alert.name : "Make an alert"} close=${close} wide><${Form} task=${task} action=${alert ? "Save" : "Make the alert"} onSubmit=${task.run} cancel=${close}>
    <div class="columns"><div><${Field} label="Name" name="name" required maxlength="200" value=${alert?.name} error=${error} />
      ${!alert && html`<${Select} label="Watches" name="workbook" options=${[{ value: "", label: "Every workbook" }, ...books.options]} />
        <${Select} label="Tells when" name="alert_type" value=${type} onChange=${setType} options=${choices(TYPES)} />`}
      <${Fields} key=${type} title=${TYPES[type][0]} fields=${TYPES[type][1]} values=${alert?.conditions} error=${error} />
      <${Field} label="Quiet afterwards, minutes" name="cooldown_minutes" type="number" min="0" required value=${alert?.cooldown_minutes ?? 60} error=${error} /></div>
    <div>${channels.map((one, at) => html`<${Fields} key=${one.id ?? one.key} title=${CHANNELS[one.type][0]} fields=${CHANNELS[one.type][1]} values=${one.config} people=${people} error=${error}>
      ${channels.length > 1 && html`<button type="button" onClick=${() => setChannels(channels.filter((other) => other !== one))}>Leave out</button>`}<//>`)}
      <p class="row">${choices(CHANNELS).map(({ value, label }) => html`<button type="button" key=${value} onClick=${() => setChannels([...channels, { type: value, key: Math.random() }])}>Add: ${label}</button>`)}</p></div></div><//><//>`;
}

function Webhooks() {
  const [shown, setShown] = useState({}); // {make: true}, {secret: the new webhook} or {of: a webhook}
  const close = () => setShown({});
  const make = useTask(async ({ url }, form) => {
    setShown({ secret: await post("webhooks", { url, events: new FormData(form).getAll("events") }) });
    refreshData("webhooks");
  });
  const test = async ({ id, url }) => {
    const { status, error } = await post(`webhooks/${id}/test`, undefined);
    notify(error ? "bad" : "good", `${url}: ${error ?? status}`);
  };
  const columns = [
    { key: "url", label: "URL", className: "wraps" }, { key: "events", label: "Events", className: "narrow-off wraps", value: ({ events }) => events.join(", ") },
    { key: "enabled", label: "Status", value: ({ enabled, failing_since: failing, disabled_reason: why }) => (enabled ? (failing ? "Failing" : "On") : why ?? "Off") },
    acts((row) => html`<${Act} label="Deliveries" of=${row.url} run=${() => setShown({ of: row })} /><${Act} label="Test" of=${row.url} run=${() => test(row).catch(complain)} />
      ${rest("webhooks", row, row.url, "What waits is not sent.")}`),
  ];
  return html`<p><button class="primary" onClick=${() => setShown({ make: true })}>Make a webhook</button></p>
    <${List} caption="Webhooks" path="webhooks" columns=${columns} empty=${html`<${Empty} title="No webhooks yet"><p>A webhook tells a program what happened here.</p><//>`} />
    ${shown.make && html`<${Dialog} title="Make a webhook" close=${close}><${Form} task=${make} action="Make it" onSubmit=${make.run} cancel=${close}>
      <${Field} label="URL" name="url" type="url" required error=${make.error} />
      <fieldset><legend>Events</legend>${EVENTS.map((name) => html`<label class="choice" key=${name}><input type="checkbox" name="events" value=${name} defaultChecked /> ${name}</label>`)}</fieldset><//><//>`}
    ${shown.secret && html`<${Secret} title=${shown.secret.url} what="Secret" text=${shown.secret.secret} close=${close}><p>The receiver verifies messages by it.</p><//>`}
    ${shown.of && html`<${Dialog} title=${shown.of.url} close=${close} wide><${List} caption="Deliveries" path=${`webhooks/${shown.of.id}/deliveries`} columns=${DELIVERIES} /><//>`}`;
}

const DELIVERIES = [
  when("created_at", "When"), { key: "event", label: "Event" },
  { key: "status", label: "Status", className: "wraps", value: ({ status, error }) => error ?? words(status) }, { key: "tries", label: "Attempts", number: true, value: ({ attempts }) => attempts.length },
];
