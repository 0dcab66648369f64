// The foot of the page: what happened, with its undo, and what is under way.
import { html } from "./html.js";
import { complain, dismiss, notices, work } from "../state.js";

export function Notices() {
  const act = (notice) => async () => {
    dismiss(notice.id);
    try {
      await notice.action.run();
    } catch (error) {
      complain(error);
    }
  };
  return html`<div class="notices" aria-live="polite" role="status">
    ${[...work.value].map(([key, { label, share }]) => html`<div class="notice" key=${key}>
      <span>${label}</span>${share === null ? html`<progress aria-label=${label}></progress>` : html`<progress max="1" value=${share} aria-label=${label}></progress>`}
    </div>`)}
    ${notices.value.map((notice) => html`<div class=${`notice ${notice.kind}`} key=${notice.id}>
      <span>${notice.text}${notice.requestId && html`<small> Request ${notice.requestId}</small>`}</span>
      ${notice.action && html`<button onClick=${act(notice)}>${notice.action.label}</button>`}
      <button class="plain" aria-label="Close" onClick=${() => dismiss(notice.id)}>✕</button>
    </div>`)}
  </div>`;
}
