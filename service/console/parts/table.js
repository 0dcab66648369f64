// A table of up to a few thousand rows: sorted by its headings, copied as TSV, each row a place to click or press Enter.
// Larger ones: grid.js.
import { html, useMemo, useState } from "./html.js";
import { copy, tsv } from "./clipboard.js";

/**
 * `columns`: [{key, label, number (right-aligned), show: (row) => what is drawn, value: (row) => what sorts and copies,
 * className}]. `open(row)` makes rows clickable; `selected(row)` marks one; `keyOf(row)` identifies it.
 */
export function Table({ caption, columns, rows, keyOf = (row) => row.id, open, selected, copyable = true, start }) {
  const [order, setOrder] = useState(start ?? null);
  const sorted = useMemo(() => inOrder(rows, columns, order), [rows, columns, order]);
  const head = (column) => {
    const way = order?.key === column.key ? order.way : null;
    const turn = () => setOrder({ key: column.key, way: way === "ascending" ? "descending" : "ascending" });
    return html`<th scope="col" class=${column.number ? "number" : ""} aria-sort=${way ?? undefined}>
      ${column.label && column.sortable !== false
        ? html`<button class="heading" onClick=${turn}>${column.label}${way && (way === "ascending" ? " ↑" : " ↓")}</button>`
        : column.label || html`<span class="off-screen">${column.spoken ?? "More"}</span>`}
    </th>`;
  };
  const take = () => copy(tsv([columns.map(({ label }) => label), ...sorted.map((row) => columns.map((one) => valueOf(one, row)))]), "Table copied");
  return html`<div class="table-frame">
    ${copyable && rows.length > 0 && html`<button class="plain copy" onClick=${take} title="Copy the table (TSV)">Copy</button>`}
    <div class="scroll" tabindex="0" role="region" aria-label=${caption}>
      <table>
        <caption class="off-screen">${caption}</caption>
        <thead><tr>${columns.map(head)}</tr></thead>
        <tbody>${sorted.map((row) => html`<${Row} key=${keyOf(row)} ...${{ row, columns, open, marked: selected?.(row) }} />`)}</tbody>
      </table>
    </div>
  </div>`;
}

function Row({ row, columns, open, marked }) {
  const first = columns.findIndex((column) => column.opens) === -1 ? 0 : columns.findIndex((column) => column.opens);
  const content = (column, index) => {
    const shown = column.show ? column.show(row) : valueOf(column, row) ?? "–";
    return open && index === first
      ? html`<button class="cell" onClick=${(event) => { event.stopPropagation(); open(row); }}>${shown}</button>` : shown;
  };
  return html`<tr class=${`${open ? "openable" : ""} ${marked ? "selected" : ""}`} onClick=${open && (() => open(row))} aria-current=${marked ? "true" : undefined}>
    ${columns.map((column, index) => html`<td class=${`${column.number ? "number " : ""}${column.className ?? ""}`}>${content(column, index)}</td>`)}
  </tr>`;
}

export function valueOf(column, row) {
  return column.value ? column.value(row) : row[column.key];
}

function inOrder(rows, columns, order) {
  const column = order && columns.find(({ key }) => key === order.key);
  if (!column) return rows;
  const sign = order.way === "descending" ? -1 : 1;
  return [...rows].sort((one, other) => {
    const [left, right] = [valueOf(column, one), valueOf(column, other)];
    if (left === right) return 0;
    if (left === null || left === undefined) return 1;
    if (right === null || right === undefined) return -1;
    return sign * (typeof left === "number" ? left - right : String(left).localeCompare(String(right)));
  });
}
