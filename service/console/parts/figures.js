// Small pictures in tables: a status, the bullet of a cushion, a line of months. SVG in the colours of the reports.
import { html } from "./html.js";

const MARKS = { pass: "●", warning: "▲", fail: "■" };

/** A status in shape, colour and word; a doubtful one says so. */
export function Status({ status, doubtful, short }) {
  return html`<span class=${`status ${status}`}><span aria-hidden="true">${MARKS[status] ?? "○"}</span> ${short ? html`<span class="off-screen">${status}</span>` : status}${doubtful && html` <span class="doubt" title="The status may be wrong">?<span class="off-screen"> doubtful</span></span>`}</span>`;
}

/** A cushion as a bar to the right of the limit, or to the left where the test fails; `share` is cushion / limit. */
export function Bullet({ share, status, width = 72, label }) {
  const middle = width / 2;
  const span = 0.25; // a quarter of the limit fills half of the bar
  const length = share === null || share === undefined ? 0 : Math.max(-1, Math.min(1, share / span)) * (middle - 1);
  return html`<svg class=${`bullet ${status}`} width=${width} height="14" viewBox=${`0 0 ${width} 14`} role="img" aria-label=${label}>
    <rect class="ground" x="0" y="3" width=${width} height="8" rx="1" />
    <rect class="bar" x=${length < 0 ? middle + length : middle} y="4" width=${Math.max(1, Math.abs(length))} height="6" />
    <line class="limit" x1=${middle} x2=${middle} y1="1" y2="13" />
  </svg>`;
}

/** A line through months with its limit dotted; `values` and `limits` in order, null where a month has none. */
export function Sparkline({ values, limits = [], width = 88, height = 20, label }) {
  const all = [...values, ...limits].filter((value) => value !== null && value !== undefined);
  if (all.length === 0) return html`<span class="muted">–</span>`;
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const y = (value) => (high === low ? height / 2 : height - 2 - ((value - low) / (high - low)) * (height - 4));
  const x = (index, count) => (count < 2 ? width / 2 : 1 + (index / (count - 1)) * (width - 2));
  const line = (list) => list.map((value, index) => [value, index]).filter(([value]) => value !== null && value !== undefined)
    .map(([value, index], at) => `${at ? "L" : "M"}${x(index, list.length).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  return html`<svg class="sparkline" width=${width} height=${height} viewBox=${`0 0 ${width} ${height}`} role="img" aria-label=${label}>
    ${limits.length > 0 && html`<path class="limit" d=${line(limits)} />`}<path class="line" d=${line(values)} />
    ${values.length === 1 && html`<circle class="dot" cx=${width / 2} cy=${y(values[0])} r="2" />`}
  </svg>`;
}
