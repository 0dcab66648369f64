// A table of any length: only the rows in sight are drawn, and pages of them are read as they come into sight.
import { html, useEffect, useRef, useState } from "./html.js";
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from "../vendor/tanstack-virtual-core.js";

const ROW_HEIGHT = 30;
const OVERSCAN = 12;

/**
 * `columns`: [{key, label, number, width, show(value, index)}]; `count`: rows in all; `cell(index, key)`: the value,
 * undefined while it is on its way; `need(first, last)`: called with the rows in sight; `sort(key)` on a heading; the row `current` is marked and in sight.
 */
export function Grid({ caption, columns, count, cell, need, sort, order, height = "65vh", version, current }) {
  const frame = useRef(null);
  const virtual = useRef(null);
  const [, redraw] = useState(0);
  if (virtual.current === null) {
    virtual.current = new Virtualizer({ count: 0, ...fixed(frame, () => redraw((turn) => turn + 1)) });
  }
  virtual.current.setOptions({ count, ...fixed(frame, () => redraw((turn) => turn + 1)) });
  useEffect(() => virtual.current._didMount(), []);
  useEffect(() => virtual.current._willUpdate());
  const items = virtual.current.getVirtualItems();
  const [first, last] = items.length ? [items[0].index, items.at(-1).index] : [0, -1];
  useEffect(() => {
    if (last >= first) need?.(first, last);
  }, [first, last, version]);
  useEffect(() => {
    if (current >= 0) virtual.current.scrollToIndex(current);
  }, [current]);
  const widths = columns.map(({ width = 140 }) => `${width}px`).join(" ");
  const total = columns.reduce((sum, { width = 140 }) => sum + width, 0);
  return html`<div class="grid" role="table" aria-label=${caption} aria-rowcount=${count + 1} aria-colcount=${columns.length}>
    <div class="grid-scroll" ref=${frame} style=${{ height }} tabindex="0" role="rowgroup">
      <div class="grid-row grid-head" role="row" aria-rowindex="1" style=${{ gridTemplateColumns: widths, width: `${total}px` }}>
        ${columns.map((column) => html`<div role="columnheader" class=${column.number ? "number" : ""} aria-sort=${order?.key === column.key ? order.way : undefined}>
          ${sort ? html`<button class="heading" onClick=${() => sort(column.key)}>${column.label}${order?.key === column.key && (order.way === "ascending" ? " ↑" : " ↓")}</button>` : column.label}</div>`)}
      </div>
      <div class="grid-body" role="presentation" style=${{ height: `${virtual.current.getTotalSize()}px`, width: `${total}px` }}>
        ${items.map(({ index, start, key }) => html`<div key=${key} class=${index === current ? "grid-row selected" : "grid-row"} role="row" aria-current=${index === current ? "true" : undefined} aria-rowindex=${index + 2} style=${{ gridTemplateColumns: widths, transform: `translateY(${start}px)` }}>
          ${columns.map((column) => {
            const value = cell(index, column.key);
            return html`<div role="cell" class=${column.number ? "number" : ""}>${value === undefined ? "…" : column.show ? column.show(value, index) : value ?? "–"}</div>`;
          })}
        </div>`)}
      </div>
    </div>
  </div>`;
}

function fixed(frame, onChange) {
  return {
    getScrollElement: () => frame.current, estimateSize: () => ROW_HEIGHT, overscan: OVERSCAN, scrollToFn: elementScroll,
    observeElementRect, observeElementOffset, onChange, scrollPaddingEnd: ROW_HEIGHT, initialRect: { width: 800, height: 600 },
  };
}
