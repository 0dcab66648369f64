// A table of up to a few thousand rows: sorted by its headings, copied as TSV, each row a place to click or press Enter.
// Larger ones: grid.js.
import { html, useMemo, useState } from "./html.js";
import { go } from "../state.js";
import { copy, tsv } from "./clipboard.js";

/**
 * `columns`: [{key, label, number (right-aligned), show: (row) => what is drawn, value: (row) => what sorts and copies,
 * className, copied (false: not in the TSV)}]. `open(row)` makes rows clickable; `selected(row)` marks one;
 * `keyOf(row)` identifies it; `shown.current` becomes the rows in the order of the table.
 * `className` of hundreds of rows: "deals" has its rows' columns in the style sheet, and draws those in sight only.
 */
export function Table({ caption, columns, rows, keyOf = (row) => row.id, open, address, selected, copyable = true, start, className, shown }) {
  const [order, setOrder] = useState(start ?? null);
  const sorted = useMemo(() => inOrder(rows, columns, order), [rows, columns, order]);
  if (shown) shown.current = sorted;
  const head = (column) => {
    const way = order?.key === column.key ? order.way : null;
    const turn = () => setOrder({ key: column.key, way: way === "ascending" ? "descending" : "ascending" });
    return html`<th scope="col" role="columnheader" class=${classes(column)} aria-sort=${way ?? undefined}>
      ${column.label && column.sortable !== false
        ? html`<button class="heading" onClick=${turn}>${column.label}${way && (way === "ascending" ? " ↑" : " ↓")}</button>`
        : column.label || html`<span class="off-screen">${column.spoken ?? "More"}</span>`}
    </th>`;
  };
  const take = () => {
    const taken = columns.filter(({ copied }) => copied !== false);
    copy(tsv([taken.map(({ label }) => label), ...sorted.map((row) => taken.map((one) => valueOf(one, row)))]), "Table copied");
  };
  return html`<div class="table-frame">
    ${copyable && rows.length > 0 && html`<button class="plain copy" onClick=${take} title="Copy the table (TSV)">Copy</button>`}
    <div class="scroll" tabindex="0" role="region" aria-label=${caption}>
      <table class=${className} role="table">
        <caption class="off-screen">${caption}</caption>
        <thead role="rowgroup"><tr role="row">${columns.map(head)}</tr></thead>
        <tbody role="rowgroup">${sorted.map((row) => html`<${Row} key=${keyOf(row)} ...${{ row, columns, open, address, marked: selected?.(row) }} />`)}</tbody>
      </table>
    </div>
  </div>`;
}

function Row({ row, columns, open, address, marked }) {
  const enter = open ? () => open(row) : address && ((event) => event.target.closest("a, button") || go(address(row)));
  const first = columns.findIndex((column) => column.opens) === -1 ? 0 : columns.findIndex((column) => column.opens);
  const content = (column, index) => {
    const shown = column.show ? column.show(row) : valueOf(column, row) ?? "–";
    if (address && index === first) return html`<a class="cell" href=${address(row)}>${shown}</a>`;
    return open && index === first
      ? html`<button class="cell" onClick=${(event) => { event.stopPropagation(); open(row); }}>${shown}</button>` : shown;
  };
  return html`<tr role="row" class=${`${enter ? "openable" : ""} ${marked ? "selected" : ""}`} onClick=${enter} aria-current=${marked ? "true" : undefined}>
    ${columns.map((column, index) => html`<td role="cell" class=${classes(column)}>${content(column, index)}</td>`)}
  </tr>`;
}

function classes({ number, className }) {
  return [number && "number", className].filter(Boolean).join(" ");
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
