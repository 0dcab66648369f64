// What a verified file is, in words: as exported, changed, not ours.
import { html } from "./html.js";
import { verified } from "./drop.js";
import { Table } from "./table.js";

const WORDS = {
  original: ["pass", "As it was exported"],
  modified: ["fail", "Changed since it was exported"],
  invalid_provenance: ["fail", "Not signed by this service"],
  unknown: ["warning", "Not an export that is on record here"],
};
const DIFFS = [
  { key: "sheet", label: "Sheet" }, { key: "cell", label: "Cell" },
  { key: "expected", label: "As exported", value: (row) => shown(row.expected) },
  { key: "actual", label: "In the file", value: (row) => shown(row.actual ?? row.found) },
];

function shown(value) {
  return value === null || value === undefined ? "empty" : String(value);
}

export function Verdict() {
  const file = verified.value;
  if (!file) return null;
  const [mark, words] = WORDS[file.status] ?? ["warning", file.status];
  return html`<section aria-label="Verdict">
    <div class=${`banner ${mark}`} role="status"><strong class=${mark}>${words}</strong><span>${file.name}</span><p>${file.reason}</p></div>
    ${file.diffs?.length > 0 && html`<h2>Cells that are not as exported${file.diffs_truncated ? " (the first)" : ""}</h2>
      <${Table} caption="Changed cells" rows=${file.diffs} columns=${DIFFS} keyOf=${(row) => `${row.sheet}!${row.cell}`} />`}
    <${List} title="What no export has" items=${(file.findings ?? []).map((one) => one.message ?? String(one))} />
    <${List} title="Sheets that the check leaves out" items=${file.sheets_not_covered ?? []} />
    <${List} title="Not looked at" items=${file.not_looked_at ?? []} />
  </section>`;
}

function List({ title, items }) {
  if (items.length === 0) return null;
  return html`<h3>${title}</h3><ul>${items.map((text) => html`<li>${text}</li>`)}</ul>`;
}
