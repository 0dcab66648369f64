// A table of any length: only the rows in sight are drawn, and pages of them are read as they come into sight.
import { html, useEffect, useMemo, useRef, useState } from "./html.js";
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from "../vendor/virtual-core.js";

const ROW_HEIGHT = 30;
const OVERSCAN = 8;
const WIDTH = 140;

/**
 * `columns`: [{key, label, number, width, show(value, index)}]; `count`: rows in all; `cell(index, key)`: the value,
 * undefined while it is on its way; `need(first, last)`: called with the rows in sight; `sort(key)` on a heading;
 * `version`: another one for other values of cells; `start`: another one goes to the first row. A row is drawn once
 * for `columns` and `version`. The row `current` is marked, and comes into sight.
 */
export function Grid({ caption, columns, count, cell, need, sort, order, height = "65vh", version, start, current = -1 }) {
  const frame = useRef(null);
  const virtual = useRef(null);
  const [, redraw] = useState(0);
  virtual.current ??= new Virtualizer({ count: 0, ...fixed(frame, () => {}) });
  virtual.current.setOptions({ count, ...fixed(frame, () => redraw((turn) => turn + 1)) });
  useEffect(() => virtual.current._didMount(), []);
  useEffect(() => virtual.current._willUpdate());
  const items = [...virtual.current.getVirtualItems()];
  const [first, last] = items.length ? [items[0].index, items.at(-1).index] : [0, -1];
  useEffect(() => {
    if (last >= first) need?.(first, last);
  }, [first, last, version]);
  useEffect(() => {
    frame.current.scrollTop = 0;
  }, [start]);
  useEffect(() => {
    if (current >= 0) virtual.current.scrollToIndex(current);
  }, [current]);
  const widths = columns.map(({ width = WIDTH }) => `${width}px`).join(" ");
  const total = columns.reduce((sum, { width = WIDTH }) => sum + width, 0);
  const drawn = useMemo(() => new Map(), [columns, version, current]);
  const row = (index) => html`<div key=${index} class=${index === current ? "grid-row selected" : "grid-row"} aria-current=${index === current ? "true" : undefined} role="row" aria-rowindex=${index + 2} style=${{ gridTemplateColumns: widths, transform: `translateY(${index * ROW_HEIGHT}px)` }}>
    ${columns.map((column) => {
      const value = cell(index, column.key);
      return html`<div role="cell" class=${column.number ? "number" : ""}>${value === undefined ? "…" : column.show ? column.show(value, index) : value ?? "–"}</div>`;
    })}</div>`;
  const rows = items.map(({ index }) => drawn.get(index) ?? row(index)); // the same node again is not compared
  drawn.clear();
  items.forEach(({ index }, at) => drawn.set(index, rows[at]));
  return html`<div class="grid" role="table" aria-label=${caption} aria-rowcount=${count + 1} aria-colcount=${columns.length}>
    <div class="grid-scroll" ref=${frame} style=${{ height }} tabindex="0" role="rowgroup" aria-label=${caption}>
      <div class="grid-row grid-head" role="row" aria-rowindex="1" style=${{ gridTemplateColumns: widths, width: `${total}px` }}>
        ${columns.map((column) => html`<div role="columnheader" class=${column.number ? "number" : ""} aria-sort=${order?.key === column.key ? order.way : undefined}>
          ${sort && column.sortable !== false ? html`<button class="heading" onClick=${() => sort(column.key)}>${column.label}${order?.key === column.key && (order.way === "ascending" ? " ↑" : " ↓")}</button>` : column.label}</div>`)}
      </div>
      <div class="grid-body" role="presentation" style=${{ height: `${count * ROW_HEIGHT}px`, width: `${total}px` }}>${rows}</div>
    </div>
  </div>`;
}

function fixed(frame, onChange) {
  return {
    getScrollElement: () => frame.current, estimateSize: () => ROW_HEIGHT, overscan: OVERSCAN, scrollToFn: elementScroll,
    observeElementRect, observeElementOffset, onChange, initialRect: { width: 800, height: 600 },
  };
}
