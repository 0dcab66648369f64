// Dialogs over the page, by the browser's own <dialog>: focus stays inside, Escape closes.
import { html, signal, useEffect, useRef } from "./html.js";

/** A dialog that is open while it is drawn. */
export function Dialog({ title, close, children, wide = false }) {
  const element = useRef(null);
  useEffect(() => {
    const before = document.activeElement;
    element.current.showModal();
    return () => before?.focus?.();
  }, []);
  const cancel = (event) => {
    event.preventDefault();
    close();
  };
  return html`<dialog ref=${element} class=${wide ? "wide" : ""} onCancel=${cancel} aria-label=${title}>
    <header><h2>${title}</h2><button class="plain" onClick=${close} aria-label="Close">✕</button></header>
    ${children}
  </dialog>`;
}

const question = signal(null);

/** Ask before something that cannot be undone; resolves to true or false. */
export function confirmed(title, text, action) {
  return new Promise((resolve) => {
    question.value = { title, text, action, resolve };
  });
}

/** Where `confirmed` asks; drawn once by the app. */
export function Question() {
  const asked = question.value;
  if (!asked) return null;
  const answer = (yes) => () => {
    question.value = null;
    asked.resolve(yes);
  };
  return html`<${Dialog} title=${asked.title} close=${answer(false)}>
    <p>${asked.text}</p>
    <footer>
      <button onClick=${answer(false)}>Cancel</button>
      <button class="danger" onClick=${answer(true)}>${asked.action}</button>
    </footer>
  <//>`;
}
