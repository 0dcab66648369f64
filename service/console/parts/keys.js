// Keys: each screen registers its own, and `?` lists them all.
import { html, signal, useLayoutEffect } from "./html.js";

/** What is registered: {key, what, run}, the newest last. */
const registered = signal([]);
export const listed = signal(false);

/** Have keys while a part is shown: [{key: "j", what: "Next issue", run}]. */
export function useKeys(rows) {
  useLayoutEffect(() => { // before the next key
    registered.value = [...registered.peek(), ...rows];
    return () => {
      registered.value = registered.peek().filter((row) => !rows.includes(row));
    };
  });
}

function typing(target) {
  return target.isContentEditable || target.matches("input:not([type=checkbox]), textarea, select");
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (typing(event.target) && event.key !== "Escape") return;
  if (document.querySelector("dialog[open]")) return;
  if (event.key === "?") {
    listed.value = true;
    return;
  }
  const row = registered.peek().findLast(({ key }) => key === event.key);
  if (!row) return;
  event.preventDefault();
  row.run(event);
});

export function KeyList() {
  const rows = [{ key: "?", what: "This list" }, ...registered.value];
  return html`<dl class="keys">
    ${rows.map(({ key, what }) => html`<div><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`)}
  </dl>`;
}
