// A figure on a scale with its limit, as the reports draw it: the failing side is hatched, the warning band is darker.
import { html } from "./html.js";

const WIDTH = 150;
const HEIGHT = 14;
const MARGIN = 4;
const MAXIMUM_AT = 0.72; // where a maximum stands, as a part of the width
const LEAST_AT = 0.22; // where a minimum stands
const LEAST_SPAN = 0.12; // of the limit, to the farther side: a thin cushion looks thin
const STRIPE = 5;

const MARKS = { max: 1 - LEAST_AT, min: LEAST_AT, exact: 0.5 };

/** From a figure to its place: from zero for a maximum, else around the limit. */
function scaleOf({ value, limit, direction, warning }) {
  const known = [value, warning ?? value];
  if (direction === "max" && limit > 0 && Math.min(...known) >= 0) return { low: 0, high: limit / MAXIMUM_AT, fromZero: true };
  const mark = MARKS[direction] ?? 0.5;
  const sides = known.map((one) => Math.abs(one - limit) / (one < limit ? mark : 1 - mark));
  const unit = Math.max(...sides, Math.abs(limit) * LEAST_SPAN, 1e-9) * 1.1;
  return { low: limit - mark * unit, high: limit + (1 - mark) * unit, fromZero: false };
}

export function Against({ row }) {
  const { current_value: value, threshold_value: limit, threshold_type: direction, status, doubtful } = row;
  const warning = row.details?.breakdown?.warning_threshold ?? null;
  const scale = scaleOf({ value, limit, direction, warning });
  const x = (one) => MARGIN + Math.min(1, Math.max(0, (one - scale.low) / (scale.high - scale.low))) * (WIDTH - 2 * MARGIN);
  const [at, mark] = [x(value), x(limit)];
  const [from, to] = direction === "max" ? [mark, WIDTH] : [0, direction === "min" ? mark : 0];
  const start = scale.fromZero ? 0 : mark;
  const band = warning !== null && direction !== "exact" ? [x(warning), mark].sort((one, other) => one - other) : null;
  return html`<svg class=${`against ${doubtful ? "doubtful" : status}`} width=${WIDTH} height=${HEIGHT} viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
    <rect class="ground" y="4" width=${WIDTH} height="6" />
    ${band && html`<rect class="band" x=${band[0]} y="4" width=${band[1] - band[0]} height="6" />`}
    <path class="hatch" d=${hatch(from, to)} />
    <path class="line" d=${`M${start} 7H${at}`} />
    <path class="limit" d=${`M${mark} 1V13`} />
    <${Marker} at=${at} status=${doubtful ? "doubtful" : status} />
  </svg>`;
}

/** A disc passes, a triangle warns, a square fails, a ring is doubtful: the shape says it without the colour. */
function Marker({ at, status }) {
  if (status === "fail") return html`<rect class="dot" x=${at - 3} y="4" width="6" height="6" />`;
  if (status === "warning") return html`<path class="dot" d=${`M${at} 3L${at + 4} 10H${at - 4}Z`} />`;
  return html`<circle class=${status === "pass" ? "dot" : "ring"} cx=${at} cy="7" r="3" />`;
}

function hatch(from, to) {
  let path = "";
  for (let at = from; at < to; at += STRIPE) path += `M${at} 10L${Math.min(at + 3, to)} 4`;
  return path;
}
