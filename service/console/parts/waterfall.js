// From one figure to another by parts that add up to the change: a table whose bars stand on one scale.
import { html } from "./html.js";

const WIDTH = 130;
const HEIGHT = 26;
const MARGIN = 2;

/** `before`, `after`: {label, value}; `parts`: [{label, change}]; `format(value, options)` writes a figure. */
export function Waterfall({ caption, before, parts, after, format }) {
  let level = before.value;
  const steps = parts.map(({ label, change }) => {
    const from = level;
    level += change;
    return { label, from, to: level, text: format(change, { sign: true }), kind: change < 0 ? "down" : "up" };
  });
  const scale = scaleOf([before.value, after.value, ...steps.map(({ to }) => to)]);
  const total = ({ label, value }) => ({ label, from: scale.start, to: value, text: format(value), kind: "total" });
  const rows = [total(before), ...steps, total(after)];
  return html`<table class="waterfall"><caption class="off-screen">${caption}</caption>
    <tbody>${rows.map((row, at) => html`<tr><th scope="row">${row.label}</th>
      <td><${Bar} row=${row} scale=${scale} next=${at < rows.length - 1} /></td><td class="number">${row.text}</td></tr>`)}</tbody></table>`;
}

/** From the least level to the greatest, with room before the least: the totals' bars do not start at zero. */
function scaleOf(levels) {
  const [low, high] = [Math.min(...levels), Math.max(...levels)];
  const span = high - low || Math.abs(high) || 1;
  const start = low - span * 0.25;
  return { start, x: (value) => MARGIN + ((value - start) / (high - start || 1)) * (WIDTH - 2 * MARGIN) };
}

function Bar({ row, scale, next }) {
  const [from, to] = [scale.x(row.from), scale.x(row.to)];
  return html`<svg width=${WIDTH} height=${HEIGHT} viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
    <rect class=${row.kind} x=${Math.min(from, to)} y="6" width=${Math.max(1.5, Math.abs(to - from))} height=${HEIGHT - 12} />
    ${next && html`<path class="step" d=${`M${to} ${HEIGHT - 6}V${HEIGHT}`} />`}${row.kind !== "total" && html`<path class="step" d=${`M${from} 0V6`} />`}
  </svg>`;
}
