// What went wrong, what to do about it, and the number to quote.
import { html } from "./html.js";

const ADVICE = {
  0: "The service cannot be reached. It may be starting again; try once more in a moment.",
  403: "Ask an administrator of your organisation for access.",
  429: "Too many requests for now.",
  503: "The service is busy or under maintenance. Try again in a moment.",
};

function advice(error) {
  if (error.retryAfter > 60) return `Try again in ${Math.ceil(error.retryAfter / 60)} minutes.`;
  if (error.retryAfter) return `Try again in ${error.retryAfter} s.`;
  return ADVICE[error.status] ?? null;
}

/** `except(fault)`: whether a fault shows elsewhere, at its field. */
export function Problem({ error, retry, except = () => false }) {
  if (!error) return null;
  const advised = error.status === 0 ? null : advice(error);
  const general = (error.errors ?? []).filter((fault) => !except(fault)).map(({ message }) => message);
  return html`<div class="problem" role="alert">
    <p><strong>${error.message}</strong>${advised && html` ${advised}`}</p>
    ${general.length > 0 && html`<ul>${general.slice(0, 10).map((text) => html`<li>${text}</li>`)}</ul>`}
    ${retry && html`<button onClick=${retry}>Try again</button>`}
    ${error.requestId && html`<small>Request ${error.requestId}</small>`}
  </div>`;
}

/** The usual frame of what is read: its refusal, a line while it comes, else its content. */
export function Loaded({ from, children, what = "Loading" }) {
  if (from.error && from.data === undefined) return html`<${Problem} error=${from.error} retry=${from.reload} />`;
  if (from.data === undefined) return html`<p class="waiting" role="status">${what}</p>`;
  return html`${from.error && html`<${Problem} error=${from.error} retry=${from.reload} />`}${children(from.data)}`;
}

/** A place with nothing in it yet, and the next step. */
export function Empty({ title, children }) {
  return html`<div class="empty"><h2>${title}</h2>${children}</div>`;
}
