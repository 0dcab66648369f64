// Formulas: type one over a sheet's columns, try it on rows, apply it as a column; a stored one's graph, versions and runs.
import { html, useRef, useState } from "../parts/html.js";
import { post, put, settled } from "../api.js";
import { can, href, notify, route } from "../state.js";
import { change, List, when } from "../parts/admin/list.js";
import { useBooks } from "../parts/books.js";
import { refreshData, useData, useTask } from "../parts/data.js";
import { Field, Form, Select } from "../parts/form.js";
import { number, words, written } from "../parts/format.js";
import { Empty, Loaded, Problem } from "../parts/problem.js";
import { Table } from "../parts/table.js";

const [WIDTH, HEIGHT, APART, LETTERS] = [150, 34, 50, 20]; // of a block, between blocks, of its text
const EXPRESSION = "expression";
const graphOf = (formula) => ({ nodes: [{ id: "result", type: EXPRESSION, params: { formula } }], edges: [] });
const textOf = ({ nodes }) => (nodes.length === 1 && nodes[0].type === EXPRESSION ? nodes[0].params.formula : null);

export default function Formulas() {
  const id = route.value.query.get("formula");
  const chosen = useData(id && `formulas/${id}`);
  return html`<h1>Formulas</h1>${id ? html`<p><a href=${href("formulas")}>All formulas</a></p><${Loaded} from=${chosen}>${(config) => html`<${Stored} key=${config.current_version} config=${config} />`}<//>`
    : html`<${Editor} /><h2 class="apart">Formulas that are kept</h2><${List} caption="Formulas" path="formulas" address=${(row) => href("formulas", { formula: row.id })} columns=${[
      { key: "name", label: "Name", className: "wraps" }, { key: "status", label: "Status", value: ({ status }) => words(status) },
      { key: "version_count", label: "Versions", number: true }, when("updated_at", "Changed", "narrow-off"),
    ]} empty=${html`<${Empty} title="None yet"><p>A formula that is applied is kept, with its versions and runs.</p><//>`} />`}`;
}

function Stored({ config }) {
  const [status, text] = { draft: ["active", "Activate"], active: ["archived", "Archive"], archived: ["active", "Activate"] }[config.status];
  const turn = () => change("PATCH", `formulas/${config.id}`, { status }, `${config.name} is ${status}`);
  return html`<h2>${config.name}</h2><p>${[config.description, words(config.status)].filter(Boolean).join(" · ")} ${can("workbooks:write") && html`<button onClick=${turn}>${text}</button>`}</p>
    <${Graph} graph=${config.graph} />${config.status === "active" && html`<${Editor} config=${config} />`}
    <h3>Versions</h3><${List} caption="Versions" path=${`formulas/${config.id}/versions`} keyOf=${(row) => row.version_id} columns=${[{ key: "version_id", label: "Version" }, { key: "text", label: "Formula", className: "wraps", value: ({ graph }) => textOf(graph) ?? `${graph.nodes.length} blocks` }, when("created_at", "Made")]} />
    <h3>Runs</h3><${List} caption="Runs" path=${`formulas/${config.id}/runs`} keyOf=${(row) => row.run_id} columns=${[
      when("started_at", "When"), { key: "target_column", label: "Column", className: "wraps" }, { key: "version_id", label: "Version" },
      { key: "status", label: "Status", className: "wraps", value: (run) => run.error_details ?? words(run.status) }, { key: "rows_affected", label: "Rows", number: true, show: (run) => number(run.rows_affected) },
    ]} empty=${html`<p class="muted">It was applied to no sheet yet.</p>`} />`;
}

/** Type a formula and try it; `config` is the formula that gets a version by it. */
function Editor({ config }) {
  const books = useBooks();
  const [place, setPlace] = useState({});
  const workbook = place.workbook ?? books.options[0]?.value;
  const sheets = useData(workbook && can("calculations:execute") ? `workbooks/${workbook}/sheets` : null);
  const sheet = place.sheet ?? sheets.data?.toSorted((one, other) => other.row_count - one.row_count)[0]?.id;
  const rows = useData(sheet ? `workbooks/${workbook}/sheets/${sheet}/data` : null, { page_size: 1 });
  const columns = rows.data?.columns.map(({ name }) => name) ?? [];
  const before = config && textOf(config.graph);
  const field = useRef(null);
  const graph = () => (before === null ? config.graph : graphOf(field.current.value));
  const [shown, setShown] = useState(null);
  const preview = useTask(async () => setShown(await post("formulas/preview", { graph: graph(), workbook_id: workbook, sheet_id: sheet })));
  const apply = useTask(async ({ target }) => {
    const of = await version(config, graph(), before === field.current?.value, target);
    const mode = columns.includes(target) ? "overwrite" : "new";
    await post(`formulas/${of.id}/apply`, { version_id: of.version, workbook_id: workbook, sheet_id: sheet, target_column: target, output_mode: mode });
    const { items: [end] } = await settled(`formulas/${of.id}/runs`, ({ items: [{ completed_at: ended }] }) => ended, { label: `Filling ${target}` });
    notify(end.status === "failed" ? "bad" : "good", end.error_details ?? `${target}: ${number(end.rows_affected)} rows`);
    refreshData("formulas", "workbooks");
  });
  if (!can("calculations:execute")) return null;
  if (!workbook) return html`<${Loaded} from=${books}>${() => html`<${Empty} title="No workbook yet"><p>Drop a month of a deal anywhere on the page first.</p><//>`}<//>`;
  const insert = (name) => field.current.setRangeText(`[@[${name.replace(/['[\]#@]/g, "'$&")}]]`, field.current.selectionStart, field.current.selectionEnd, "end");
  return html`<div class="row"><${Select} label="Workbook" value=${workbook} options=${books.options} onChange=${(to) => setPlace({ workbook: to })} />
      <${Select} label="Sheet" value=${sheet} options=${(sheets.data ?? []).map(({ id, name }) => ({ value: id, label: name }))} onChange=${(to) => setPlace({ workbook, sheet: to })} /></div>
    ${before !== null && html`<${Field} label="Formula" name="formula" hint="Such as [@[Par Value]] * 0.7; a column below puts its name in">${(props) => html`<textarea ...${props} ref=${field} defaultValue=${before ?? ""} />`}<//>
      <p class="row">${columns.map((name) => html`<button key=${name} class="pill" onClick=${() => insert(name)}>${name}</button>`)}</p>`}
    <button disabled=${preview.busy} onClick=${preview.run}>Try it</button><${Problem} error=${preview.error} />
    ${shown && html`<p><code>${shown.compiled_formula}</code></p><${Table} caption="The first rows" rows=${shown.sample_results} keyOf=${(row) => row.row} columns=${[
      { key: "row", label: "Row", number: true }, ...Object.keys(shown.sample_results[0]?.input ?? {}).map((name) => ({ key: name, label: name, number: typeof shown.sample_results[0].input[name] === "number", value: ({ input }) => input[name], show: ({ input }) => written(input[name]) })),
      { key: "output", label: "Result", number: true, value: ({ output, error }) => error ?? output, show: ({ output, error }) => error ?? written(output) },
    ]} />`}
    ${can("workbooks:write") && html`<${Form} task=${apply} action="Apply as a column" onSubmit=${apply.run}><${Field} label="Column" name="target" required maxlength="255" hint="A new name, or a column to overwrite" error=${apply.error} /><//>`}`;
}

/** The formula and its version that has a graph: {id, version}; made where there is none. */
async function version(config, graph, same, name) {
  if (!config) {
    const { id } = await post("formulas", { name, template_id: "custom", graph, status: "active" });
    return { id, version: "v1" };
  }
  if (same || graph === config.graph) return { id: config.id, version: config.current_version };
  return { id: config.id, version: (await put(`formulas/${config.id}/versions`, { graph })).version_id };
}

/** Blocks from left to right in the order in which they are worked out. */
function Graph({ graph: { nodes, edges } }) {
  const levels = Object.fromEntries(nodes.map(({ id }) => [id, 0]));
  for (const _ of nodes) for (const { source, target } of edges) levels[target.nodeId] = Math.max(levels[target.nodeId], levels[source.nodeId] + 1);
  const filled = nodes.map(() => 0); // blocks of each level
  const places = Object.fromEntries(nodes.map(({ id }) => [id, { x: levels[id] * (WIDTH + APART) + 1, y: (filled[levels[id]]++) * (HEIGHT + 12) + 1 }]));
  const nodeText = ({ type, params }) => String(Object.values(params)[0] ?? words(type));
  const [width, height] = [(Math.max(...Object.values(levels)) + 1) * (WIDTH + APART), Math.max(...filled) * (HEIGHT + 12)];
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Graph"><svg class="graph" width=${width} height=${height} role="img" aria-label=${nodes.map(nodeText).join(", ")}>
    ${edges.map(({ id, source, target }) => { const [from, to] = [places[source.nodeId], places[target.nodeId]]; return html`<path key=${id} d=${`M${from.x + WIDTH} ${from.y + HEIGHT / 2}L${to.x} ${to.y + HEIGHT / 2}`} />`; })}
    ${nodes.map((node) => html`<g key=${node.id} transform=${`translate(${places[node.id].x} ${places[node.id].y})`}><title>${nodeText(node)}</title><rect width=${WIDTH} height=${HEIGHT} rx="5" /><text x="8" y="21">${nodeText(node).slice(0, LETTERS)}</text></g>`)}</svg></div>`;
}
