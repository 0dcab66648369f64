// A text as a QR code, as SVG of our own: dark on light in both colour schemes, since readers want that.
import { html } from "./html.js";
import { generate } from "../vendor/lean-qr-nano.js";

const QUIET = 4; // modules of blank margin that the standard asks for

export function QrCode({ text, label }) {
  const code = generate(text);
  const side = code.size + 2 * QUIET;
  return html`<svg class="qr" viewBox=${`0 0 ${side} ${side}`} role="img" aria-label=${label} shape-rendering="crispEdges">
    <rect class="light" width=${side} height=${side} /><path class="dark" d=${outline(code)} />
  </svg>`;
}

function outline(code) {
  let path = "";
  for (let y = 0; y < code.size; y += 1) {
    for (let x = 0; x < code.size; x += 1) if (code.get(x, y)) path += `M${x + QUIET} ${y + QUIET}h1v1h-1z`;
  }
  return path;
}
