// A chart of figures by month (uPlot), in the page's colours, with the same figures as a table for who cannot see it.
import { html, useEffect, useRef } from "./html.js";
import { load } from "../api.js";
import { complain } from "../state.js";
import { MONTHS } from "./format.js";

const HEIGHT = 190;
const MONTH_WIDTH = 50; // pixels, at least

/** `series`: [{label, values, kind: "figure" | "limit"}]; `days`: ISO days in order; `format(value)` writes a figure. */
export function Chart({ label, days, series, format }) {
  const place = useRef(null);
  useEffect(() => {
    const frame = place.current; // the reference is empty once the panel is closed
    let chart;
    let gone = false;
    const draw = () => load(() => import("../vendor/uplot.js")).then(({ default: Plot }) => {
      if (gone) return;
      chart?.destroy();
      chart = new Plot(options(frame.clientWidth, days, series, format), rowsOf(days, series), frame);
    }, complain);
    draw();
    const dark = matchMedia("(prefers-color-scheme: dark)"); // the canvas has its colours from when it was drawn
    dark.addEventListener("change", draw);
    const watcher = new ResizeObserver(() => chart?.setSize({ width: frame.clientWidth, height: HEIGHT }));
    watcher.observe(frame);
    return () => {
      gone = true;
      dark.removeEventListener("change", draw);
      watcher.disconnect();
      chart?.destroy();
    };
  }, [days, series]);
  return html`<figure class="chart"><figcaption class="off-screen">${label}</figcaption>
    <div ref=${place} aria-hidden="true"></div>
    <table class="off-screen"><caption>${label}</caption>
      <thead><tr><th scope="col">Day</th>${series.map((one) => html`<th scope="col">${one.label}</th>`)}</tr></thead>
      <tbody>${days.map((at, row) => html`<tr><th scope="row">${at}</th>${series.map((one) => html`<td>${format(one.values[row])}</td>`)}</tr>`)}</tbody>
    </table>
  </figure>`;
}

function rowsOf(days, series) {
  return [days.map((text) => Date.parse(text) / 1000), ...series.map(({ values }) => values)];
}

/** Each month below its own figure, whose day is often the last one; of many, some. */
function monthAxis(days, width) {
  const step = Math.ceil((days.length * MONTH_WIDTH) / width);
  const shown = days.filter((_, at) => (days.length - 1 - at) % step === 0);
  const name = (text, at) => {
    const [year, month] = text.split("-");
    const isNew = at === 0 || year !== shown[at - 1].slice(0, 4);
    return [MONTHS[Number(month) - 1], ...(isNew ? [year] : [])].join("\n"); // no template: its line's end would go as its files are served
  };
  return { splits: () => shown.map((text) => Date.parse(text) / 1000), values: () => shown.map(name) };
}

function options(width, days, series, format) {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const axis = { stroke: colour("--muted"), grid: { stroke: colour("--rule"), width: 1 }, ticks: { show: false }, font: "12px system-ui" };
  return {
    width, height: HEIGHT, legend: { show: false }, cursor: { drag: { x: false, y: false } },
    scales: { x: { time: true } },
    axes: [{ ...axis, ...monthAxis(days, width) }, { ...axis, size: 72, values: (_, ticks) => ticks.map((tick) => format(tick)) }],
    series: [{}, ...series.map(({ label, kind }) => kind === "limit"
      ? { label, stroke: colour("--fail"), width: 1.5, dash: [4, 3], points: { show: false } }
      : { label, stroke: colour("--accent"), width: 2, points: { show: true, size: 6, fill: colour("--paper") } })],
  };
}
