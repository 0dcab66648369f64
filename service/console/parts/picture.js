// A sheet as a picture: letters, row numbers, the header marked, each column with the field that it feeds.
import { html, useEffect, useRef } from "./html.js";
import { day, number, pageLine, words } from "./format.js";
import { isLeftOut } from "./draft.js";

const GROUPED_FROM = 10_000; // smaller numbers may be years, days or counts
const DECIMALS_MAX = 6;
const KINDS = { fed: "feeds", ambiguous: "could be two things", out: "left out", none: "feeds nothing" };
const UNUSED = { runner_up: "", margin: null, is_ambiguous: false, evidence: { reasons: [] } }; // a column that lost to another

/** By letter what became of each column of a sheet: {letter, header, kind, fields, unit, found}. */
export function columnsOf(detection, sheet) {
  const found = new Map();
  const doubted = new Set(detection.warnings.filter(({ code }) => code === "ambiguous_column").flatMap(({ fields = [] }) => fields));
  const put = (one, fields, unit = "") => {
    const out = fields.length > 0 && fields.every(isLeftOut);
    const doubt = one.is_ambiguous || (sheet === detection.sheet && fields.some((field) => doubted.has(field)));
    const kind = out ? "out" : doubt ? "ambiguous" : fields.length > 0 ? "fed" : "none";
    found.set(one.column, { letter: one.column, header: one.header, kind, fields, unit, found: one });
  };
  if (sheet === detection.sheet) {
    for (const one of detection.columns.flatMap(({ alternatives }) => alternatives)) put({ ...UNUSED, ...one }, []);
    for (const one of detection.unmapped) put(one, []);
    for (const one of detection.columns) put(one, [...(found.get(one.column)?.fields ?? []), one.target], one.unit);
  }
  for (const page of detection.page_columns.filter((one) => one.sheet === sheet)) for (const one of page.columns) put(one, one.fields);
  return found;
}

/** What each row of a sheet is, where it is more than one of loans: {kind, why} by its number. */
function rowsOf(detection, sheet) {
  const rows = new Map();
  const put = (numbers, kind, why) => numbers.forEach((row) => row && rows.set(row, { kind, why }));
  for (const page of detection.page_columns.filter((one) => one.sheet === sheet)) put(page.header_rows, "header", "Header");
  if (sheet !== detection.sheet || !detection.header) return rows;
  for (const { reason, rows: some } of detection.left_out) put(some, "quiet", `No loan: ${words(reason).toLowerCase()}`);
  put(detection.header.rows, "header", "Header");
  put([detection.header.units_row], "header", "Units");
  put([detection.header.numbers_row], "header", "Numbers of the columns");
  return rows;
}

/** `data`: rows by letter; `named(field)`: what people call it; `open(letter)` chooses a column, `chosen` is one. */
export function Picture({ sheet, data, detection, columns, named, open, chosen, corrected, cell }) {
  const marked = useRef(null);
  useEffect(() => marked.current?.scrollIntoView({ block: "center", inline: "center" }), [cell, data]);
  const rows = rowsOf(detection, sheet);
  const isLoans = sheet === detection.sheet && detection.first_row !== null;
  const beyond = (row) => isLoans && (row < detection.first_row || row > detection.last_row);
  const dated = new Set(data.columns.filter(({ type }) => type === "date" || type === "mixed").map(({ name }) => name));
  const letters = data.columns.map(({ name }) => name);
  const kindOf = (letter) => `${columns.get(letter)?.kind ?? ""} ${letter === chosen ? "chosen" : ""} ${corrected(columns.get(letter)?.header) ? "corrected" : ""}`;
  return html`<div class="scroll picture" tabindex="0" role="region" aria-label=${`The sheet ${sheet}`}><table>
    <caption class="off-screen">The sheet ${sheet} with the field that each column feeds</caption>
    <thead><tr><th scope="col"><span class="off-screen">Row</span></th>${letters.map((letter) => html`<th key=${letter} scope="col" class=${kindOf(letter)}><${Head} ...${{ letter, column: columns.get(letter), named, open, chosen }} /></th>`)}</tr></thead>
    <tbody>${data.rows.map((row) => {
      const at = row._row_number;
      const { kind, why } = rows.get(at) ?? (beyond(at) ? { kind: "quiet", why: null } : {});
      const place = [pageLine(row._page, row._line), why].filter(Boolean).join(": ");
      return html`<tr key=${at} class=${kind ?? ""}><th scope="row" title=${place || null}>${at}${place && html`<span class="off-screen"> ${place}</span>`}</th>
        ${letters.map((letter) => html`<td key=${letter} ref=${cell === `${letter}${at}` ? marked : null} aria-current=${cell === `${letter}${at}` ? "true" : undefined} class=${`${kindOf(letter)} ${typeof row[letter] === "number" ? "number" : ""}`}>${shown(row[letter], dated.has(letter))}</td>`)}</tr>`;
    })}</tbody></table></div>`;
}

function Head({ letter, column, named, open, chosen }) {
  if (!column) return html`<span class="letter">${letter}</span>`;
  const { kind, fields, unit } = column;
  const text = kind === "out" ? "Left out" : fields.map(named).join(", ") || "–";
  return html`<button class="column-head" aria-pressed=${String(letter === chosen)} onClick=${() => open(letter)}>
    <span class="letter">${letter}</span> <span class="off-screen">${KINDS[kind]}</span> <strong>${kind === "ambiguous" && html`<span class="doubt" aria-hidden="true">? </span>`}${text}</strong>${unit && html`<small>${unit}</small>`}${kind === "ambiguous" && column.found.runner_up && html`<small>or ${named(column.found.runner_up)}</small>`}</button>`;
}

/** A cell's value as a person reads it. */
export function shown(value, dated) {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return String(value).toUpperCase();
  if (typeof value !== "number") return dated && /^\d{4}-\d\d-\d\d$/.test(value) ? day(value) : value;
  const decimals = Math.min(DECIMALS_MAX, (String(value).split(".")[1] ?? "").length);
  return Math.abs(value) < GROUPED_FROM ? String(Number(value.toFixed(DECIMALS_MAX))) : number(value, Math.min(2, decimals));
}
