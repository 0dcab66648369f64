// A chart of figures by month (uPlot), in the page's colours, with the same figures as a table for who cannot see it.
import { html, useEffect, useRef } from "./html.js";

const HEIGHT = 190;

/** `series`: [{label, values, kind: "figure" | "limit"}]; `days`: ISO days in order; `format(value)` writes a figure. */
export function Chart({ label, days, series, format }) {
  const place = useRef(null);
  useEffect(() => {
    let chart;
    let gone = false;
    import("../vendor/uplot.js").then(({ default: Plot }) => {
      if (gone) return;
      chart = new Plot(options(place.current.clientWidth, series, format), rowsOf(days, series), place.current);
    });
    const watcher = new ResizeObserver(() => chart?.setSize({ width: place.current.clientWidth, height: HEIGHT }));
    watcher.observe(place.current);
    return () => {
      gone = true;
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

function options(width, series, format) {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const axis = { stroke: colour("--muted"), grid: { stroke: colour("--rule"), width: 1 }, ticks: { show: false }, font: "12px system-ui" };
  return {
    width, height: HEIGHT, legend: { show: false }, cursor: { drag: { x: false, y: false } },
    scales: { x: { time: true } },
    axes: [{ ...axis, space: 60 }, { ...axis, size: 72, values: (_, ticks) => ticks.map((tick) => format(tick)) }],
    series: [{}, ...series.map(({ label, kind }) => kind === "limit"
      ? { label, stroke: colour("--fail"), width: 1.5, dash: [4, 3], points: { show: false } }
      : { label, stroke: colour("--accent"), width: 2, points: { show: true, size: 6, fill: colour("--paper") } })],
  };
}
