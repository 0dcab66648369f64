// How a workbook's loans are read: the sheet as a picture, corrections of its columns, and what they change.
import { html } from "../parts/html.js";
import { can, notify, route, setQuery } from "../state.js";
import { Column } from "../parts/column.js";
import { refreshData, useData, useTask } from "../parts/data.js";
import { DealScreen, unready } from "../parts/deal.js";
import { leftOut, stored, useTrial } from "../parts/draft.js";
import { counted, fieldName, number, words } from "../parts/format.js";
import { useKeys } from "../parts/keys.js";
import { columnsOf, Picture } from "../parts/picture.js";
import { Loaded } from "../parts/problem.js";
import { About, Corrections, effectOf, Findings, Pages, Summary } from "../parts/reading.js";

const ROWS = 30;
const ABOVE = 8; // rows shown above a cell that is looked for
const COLUMNS_MAX = 100;
const SCOPES = ["mappings:read", "mappings:write", "workbooks:write", "compliance:write"];

export default function Mapping({ id }) {
  return html`<${DealScreen} id=${id} title="Mapping">${({ deal, month, months }) => {
    return unready(month, "what its columns are read as stands here") || html`<${Reading} key=${month.id} ...${{ deal, month, months }} />`;
  }}<//>`;
}

/** Unsaved corrections {heading: field} of the address. */
function fixesOf(query) {
  try {
    const fixes = JSON.parse(query.get("fix") ?? "{}");
    return Object.fromEntries(Object.entries(fixes).filter(([, target]) => typeof target === "string"));
  } catch {
    return {};
  }
}

function Reading({ deal, month, months }) {
  const fixes = fixesOf(route.value.query);
  const detection = useData(`workbooks/${month.id}/detection`);
  const may = SCOPES.every(can);
  const mapping = useData(may && detection.data ? `mappings/${detection.data.mapping_id}` : null);
  const trial = useTrial(month.id, mapping.data, fixes);
  const sheets = useData(`workbooks/${month.id}/sheets`);
  const both = { ...detection, data: detection.data && sheets.data, error: detection.error ?? sheets.error, reload: () => { detection.reload(); sheets.reload(); } };
  return html`<${Loaded} from=${both} what="Looking at the file">${() => html`<${Read} ...${{ deal, month, months, fixes, trial, sheets: sheets.data, stands: detection.data, tried: detection.loading || Object.keys(fixes).length > 0, mapping: mapping.data }} />`}<//>`;
}

function Read({ deal, month, months, fixes, trial, sheets, stands, tried, mapping }) {
  const { query } = route.value;
  const read = (tried && trial.data) || stands;
  const { detection } = read;
  const cell = cellOf(query.get("cell"));
  const chosenName = query.get("sheet") ?? cell?.sheet ?? detection.sheet;
  const sheet = sheets.find(({ name }) => name === chosenName) ?? sheets[0];
  const columns = columnsOf(detection, sheet.name);
  const named = namer(read.fields);
  const letter = columns.has(query.get("col")) ? query.get("col") : null;
  const open = (to) => setQuery({ col: to }, { replace: letter !== null && to !== null });
  const next = (step) => {
    const letters = [...columns.keys()].sort((one, other) => placeOf(one) - placeOf(other));
    open(letters[Math.max(0, Math.min(letters.length - 1, letters.indexOf(letter) + step))]);
  };
  useKeys([
    { key: "j", what: "Next column", run: () => next(1) }, { key: "k", what: "Previous column", run: () => next(-1) },
    ...(letter ? [{ key: "Escape", what: "Close the column", run: () => open(null) }] : []),
  ]);
  const fix = (header, target) => {
    const rest = Object.fromEntries(Object.entries(fixes).filter(([name]) => name !== header));
    const all = target === null ? rest : { ...rest, [header]: target || leftOut(header) };
    setQuery({ fix: Object.keys(all).length > 0 ? JSON.stringify(all) : null });
  };
  const before = letter && columnsOf(stands.detection, sheet.name).get(letter);
  const task = useTask(async () => {
    const { back, id } = await stored(mapping, fixes, deal, month);
    const anew = () => refreshData("workbooks", "deals", ...(id === mapping.id ? [`mappings/${id}`] : []));
    anew();
    setQuery({ fix: null, saved: 1 });
    const undo = () => back().then(() => { anew(); setQuery({ saved: null }); });
    notify("good", "The deal's mapping is saved", { undo });
  });
  return html`
    <${Summary} ...${{ read, named, deal, month, saved: query.get("saved") }} />
    <${Corrections} ...${{ fixes, trial, named, fix, task, may: mapping !== undefined, months: followers(months, month, deal) }} />
    <nav class="tabs" aria-label="Sheets">${sheets.map(({ name }) => html`<button key=${name} aria-current=${name === sheet.name ? "page" : undefined} onClick=${() => setQuery({ sheet: name, cell: null, col: null, from: null }, { replace: false })}>${name} <small class="muted">${kindOf(detection, name)}</small></button>`)}</nav>
    <${Sheet} ...${{ month, sheet, detection, columns, named, open, letter, fixes, cell: cell && (cell.sheet === null || cell.sheet === sheet.name) ? cell : null }} />
    <${About} detection=${detection} sheet=${sheet.name} named=${named} />
    <${Findings} read=${read} named=${named} />
    <${Pages} detection=${detection} named=${named} />
    ${letter && html`<${Column} column=${columns.get(letter)} former=${before?.header in fixes ? words(before.fields.map(named).join(", ") || "no field") : null} fields=${read.fields} named=${named}
      feeds=${(name) => detection.columns.find(({ target }) => target === name)?.column} choose=${mapping && ((target) => fix(columns.get(letter).header, target))} effect=${Object.keys(fixes).length > 0 && !trial.busy && !trial.error && effectOf(trial.data)} close=${() => open(null)} next=${next} />`}`;
}

/** The months that a deal's mapping reads: those that name none of their own, and the one that is looked at. */
const followers = (months, month, deal) => months.filter((one) => one.id === month.id || !one.mapping_id || one.mapping_id === deal.mapping_id);

function namer(fields) {
  const labels = new Map(fields.map(({ name, label }) => [name, label]));
  return (name) => labels.get(name) ?? fieldName(name.replace(/^x_/, "another_"));
}

/** What a sheet is, and of a document with pages which of them it fills. */
function kindOf(detection, sheet) {
  const { kind = "", first_page: first, last_page: last } = detection.sheets.find(({ name }) => name === sheet) ?? {};
  return [kind, first && (first === last ? `page ${first}` : `pages ${first}–${last}`)].filter(Boolean).join(", ");
}

/** A cell of the address: Holdings!F12, 'A sheet'!F12 or F12; of a range its first. */
function cellOf(text) {
  const parts = /^(?:(?:'((?:[^']|'')+)'|([^!]+))!)?\$?([A-Z]{1,3})\$?(\d{1,7})/.exec(text ?? "");
  return parts && { sheet: parts[1]?.replaceAll("''", "'") ?? parts[2] ?? null, letter: parts[3], row: Number(parts[4]) };
}

const placeOf = (letters) => [...letters].reduce((place, letter) => place * 26 + letter.charCodeAt(0) - 64, 0);

function lettersOf(place) {
  return place > 0 ? lettersOf(Math.floor((place - 1) / 26)) + String.fromCharCode(65 + ((place - 1) % 26)) : "";
}

function Sheet({ month, sheet, cell, detection, columns, named, open, letter, fixes }) {
  const { query } = route.value;
  const asked = Number(query.get("from")) || (cell && cell.row > ROWS ? cell.row - ABOVE : 1);
  const from = Math.max(1, Math.min(asked, sheet.row_count));
  const to = Math.min(from + ROWS - 1, sheet.row_count);
  const beside = Number(query.get("left")) || (cell && placeOf(cell.letter) > COLUMNS_MAX ? placeOf(cell.letter) - ABOVE : 1);
  const left = Math.max(1, Math.min(beside, sheet.column_count));
  const right = Math.min(left + COLUMNS_MAX - 1, sheet.column_count);
  const part = sheet.column_count > COLUMNS_MAX && Array.from({ length: right - left + 1 }, (_, at) => lettersOf(left + at)).join(",");
  const empty = sheet.row_count === 0 || sheet.column_count === 0;
  const data = useData(empty ? null : `workbooks/${month.id}/sheets/${sheet.id}/data`, { letters: true, start_row: from, end_row: to, page_size: ROWS, columns: part || undefined });
  const turn = (changes) => setQuery({ ...changes, cell: null });
  useKeys([{ key: "n", what: "Further rows", run: () => to < sheet.row_count && turn({ from: to + 1 }) }, { key: "p", what: "Rows before", run: () => from > 1 && turn({ from: Math.max(1, from - ROWS) }) }]);
  if (empty) return html`<p class="muted">The sheet is empty.</p>`;
  return html`<${Loaded} from=${data}>${(page) => html`<${Picture} sheet=${sheet.name} data=${page} detection=${detection} columns=${columns} named=${named} open=${open} chosen=${letter}
      corrected=${(header) => header in fixes} cell=${cell && `${cell.letter}${cell.row}`} />`}<//>
    <p class="row pager"><span>Rows ${number(from)}–${number(to)} of ${counted(sheet.row_count, "row")}</span>
      <button disabled=${from <= 1} onClick=${() => turn({ from: Math.max(1, from - ROWS) })}>Rows before</button><button disabled=${to >= sheet.row_count} onClick=${() => turn({ from: to + 1 })}>Further rows</button>
      ${part && html`<span>Columns ${lettersOf(left)}–${lettersOf(right)} of ${lettersOf(sheet.column_count)}</span>
        <button disabled=${left <= 1} onClick=${() => turn({ left: Math.max(1, left - COLUMNS_MAX) })}>Columns before</button><button disabled=${right >= sheet.column_count} onClick=${() => turn({ left: right + 1 })}>Further columns</button>`}</p>`;
}
