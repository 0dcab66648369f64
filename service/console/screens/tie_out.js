// Our figures beside the trustee's: agreed, differing and why, not matched; how the file was read.
import { html } from "../parts/html.js";
import { can, href, labelled, route, setQuery } from "../state.js";
import { useData } from "../parts/data.js";
import { DealScreen } from "../parts/deal.js";
import { Known } from "../parts/drill.js";
import { addFiles } from "../parts/drop.js";
import { Status } from "../parts/figures.js";
import { Pills } from "../parts/form.js";
import { counted, day, figure, number, words } from "../parts/format.js";
import { Empty, Loaded } from "../parts/problem.js";
import { Table } from "../parts/table.js";

export default function TieOut({ id }) {
  return html`<${DealScreen} id=${id} title="Tie-out">${({ deal, month }) => (month
    ? html`<${Month} key=${month.id} deal=${deal} month=${month} />`
    : html`<${Empty} title="No file yet"><p>Add the trustee's report of a month: its figures are set beside ours.</p><//>`)}<//>`;
}

function Month({ deal, month }) {
  const tied = useData(`deals/${deal.id}/tie-out`, { workbook_id: month.id });
  return html`<${Loaded} from=${tied} what="The file's figures are measured anew">${(found) => html`
    ${found.items.length ? html`<${Figures} deal=${deal} found=${found} />` : html`<${Nothing} deal=${deal} found=${found} />`}
    <${Reading} interpretation=${found.interpretation} /><${Notes} found=${found} />`}<//>`;
}

function Nothing({ deal, found }) {
  return html`<${Empty} title="Nothing published">
    <p>The file${found.as_of && ` of ${day(found.as_of)}`} prints no test and no figure of its own, so there is nothing to set ours beside. Holdings files often print none; the trustee's report of the month does.</p>
    ${can("workbooks:write") && html`<p><button class="primary" onClick=${() => addFiles(null, { deal: deal.id, kind: "holdings" })}>Add the trustee's report</button></p>`}<//>`;
}

/** What a row is: the first that fits. */
const VERDICTS = [
  { name: "differs", label: "Differing", mark: "■", style: "fail", fits: (row) => row.agrees === false },
  { name: "unmatched", label: "Not matched", mark: "○", style: "muted", fits: (row) => row.test_id === null },
  { name: "agrees", label: "Agreed", mark: "●", style: "pass", fits: (row) => row.agrees === true },
  { name: "open", label: "Not comparable", mark: "○", style: "muted", fits: () => true },
];
const verdictOf = (row) => VERDICTS.find(({ fits }) => fits(row));

function Figures({ deal, found }) {
  const only = route.value.query.get("only") ?? "";
  const counts = VERDICTS.map((one) => [one, found.items.filter((row) => verdictOf(row) === one).length]).filter(([one, count]) => count > 0 || one.name === only);
  const differing = counts.find(([{ name }]) => name === "differs")?.[1] ?? 0;
  const rows = found.items.map((row, at) => ({ ...row, at })).filter((row) => !only || verdictOf(row).name === only);
  return html`<p class=${`banner ${differing ? "fail" : "pass"}`} role="status"><strong>${differing ? `${number(differing)} of ${counted(found.items.length, "published figure")} differ` : `${counted(found.items.length, "published figure")}, none differs`}</strong></p>
    <${Pills} label="Which figures" value=${only} onChange=${(name) => setQuery({ only: name })} rows=${[["", `All ${number(found.items.length)}`], ...counts.map(([{ name, label }, count]) => [name, `${label} ${number(count)}`])]} />
    <${Table} caption="Published figures beside ours" columns=${columnsOf(deal, found)} rows=${rows} keyOf=${({ at }) => at} />`;
}

const figured = (row, value, options) => figure(value, row.unit, row.decimals, options);

function columnsOf(deal, found) {
  return [
    { key: "trustee_name", label: "In the file", show: (row) => html`${row.trustee_name} <small class="muted place">${row.cell}</small><small class="narrow-only">${reasonOf(row)}</small>` },
    { key: "verdict", label: "Verdict", className: "verdict", value: (row) => verdictOf(row).label, show: (row) => html`<${Verdict} row=${row} />` },
    { key: "trustee_value", label: "Published", number: true, show: (row) => figured(row, row.trustee_value) },
    { key: "our_value", label: "Ours", number: true, show: (row) => html`<${Ours} ...${{ deal, found, row }} />` },
    { key: "difference", label: "Difference", number: true, show: (row) => (row.agrees === false ? figured(row, row.difference, { sign: true }) : html`<span class="muted">${figured(row, row.difference, { sign: true })}</span>`) },
    { key: "trigger", label: "Limit", number: true, className: "narrow-off", show: (row) => figured(row, row.trigger) },
    { key: "status", label: "Published, ours", className: "narrow-off", value: (row) => `${row.trustee_status ?? "–"}, ${row.our_status ?? "–"}`, show: (row) => html`<${Outcomes} row=${row} />` },
    { key: "why", label: "Why", className: "why narrow-off", value: reasonOf, show: (row) => reasonOf(row) },
  ];
}

function Verdict({ row }) {
  const { label, mark, style } = verdictOf(row);
  return html`<span class=${`status ${style}`}><span aria-hidden="true">${mark}</span> <span class="narrow-quiet">${label}</span></span>`;
}

/** A test of ours leads to what is behind its figure; one that was made for the comparison has no place to lead to. */
function Ours({ deal, found, row }) {
  const text = figured(row, row.our_value);
  if (row.our_value === null || !row.test_id || /^published_\d+$/.test(row.test_id)) return text;
  return html`<a href=${href("deals", deal.id, "compliance", { workbook: found.workbook_id, test: row.test_id })}>${text}</a>`;
}

function Outcomes({ row }) {
  const outcome = (status) => (status ? html`<${Status} status=${status} />` : "–");
  return html`${outcome(row.trustee_status)} ${outcome(row.our_status)}`;
}

const EXPLANATIONS = {
  masked_ratings: "masked ratings counted in another way", rounding: "rounding of the last printed digit", principal_cash: "principal cash",
  classification: "another list of industries", defaulted_in_denominator: "defaulted loans in the denominator", recovery_agency: "another agency's recovery rates",
  haircuts: "haircuts of the numerator", as_of: "another day", blank_inputs: "blanks of the file, which leave our figure open",
};

/** Why a row is not agreed, in words; empty where it is. */
function reasonOf(row) {
  if (row.test_id === null) return labelled([row.why_not ?? row.reason, row.nearest && `Nearest of ours: ${words(row.nearest)}.`].filter(Boolean).join(". "));
  if (row.reason) return labelled(row.reason);
  if (row.agrees !== false) return "";
  if (row.explained_by.length) return `Explained by ${row.explained_by.map((name) => EXPLANATIONS[name] ?? words(name)).join(", or by ")}`;
  const [published, ours] = row.differs === "value" ? [null, null] : [row[`trustee_${row.differs}`], row[`our_${row.differs}`]];
  if (published !== null && ours !== null) return `The ${row.differs} is another: ${number(published, 2)} published, ${number(ours, 2)} ours`;
  return "No single rule explains it";
}

function Reading({ interpretation }) {
  if (!interpretation) return null;
  const { choices, figures, tied, tied_before: before, hold_out: held } = interpretation;
  const groups = [
    ["Read as the file's own figures decide", choices.filter(({ state }) => state === "taken" || state === "proposed")],
    ["As the definition says", choices.filter(({ state }) => state === "stated")],
    ["Open: no figure decides, the market's reading stays", choices.filter(({ state }) => state === "open")],
  ].filter(([, list]) => list.length > 0);
  return html`<h2 class="apart">How the file was read</h2>
    <p>${number(tied)} of ${counted(figures, "printed figure")} tie by these readings, ${number(before)} by the market's alone.
      ${held && held.figures > 0 && ` Left out of the search one at a time, ${number(held.right)} of ${number(held.figures)} still come out right.`}</p>
    ${groups.map(([title, list]) => html`<h3>${title}</h3><ul class="readings">${list.map((choice) => html`<${Choice} key=${choice.name} choice=${choice} />`)}</ul>`)}`;
}

function Choice({ choice: { state, reading, runner_up: next, changed, differs } }) {
  const ties = reading.ties.map(({ name, place }) => `${name} (${place})`).join(", ");
  return html`<li>${changed ? html`<strong>${labelled(reading.words)}</strong>` : labelled(reading.words)}
    ${state === "proposed" && html` <span class="warning">by one amount alone</span>`}${differs && html` <span class="warning">but the file's figures tie by: ${labelled(next?.words)}</span>`}
    ${ties && html`<small class="muted"> Ties: ${ties}.</small>`}${next && !differs && html`<small class="muted"> Else: ${labelled(next.words)}.</small>`}</li>`;
}

function Notes({ found: { not_printed: absent, warnings } }) {
  return html`${absent.length > 0 && html`<details class="apart"><summary>${counted(absent.length, "test")} of ours that the file does not print</summary>
      <p class="muted">${absent.map(words).join(", ")}</p></details>`}
    <${Known} warnings=${warnings} />`;
}
