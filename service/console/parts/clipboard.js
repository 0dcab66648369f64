// Tables to the clipboard (TSV) and to files (CSV); text that a spreadsheet would run as a formula is made text.
import { notify } from "../state.js";

/** A text as a cell: with an apostrophe before what a spreadsheet takes for a formula. */
function neutral(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = String(value);
  return /^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text;
}

export function tsv(rows) {
  const cell = (value) => {
    const text = neutral(value).replace(/[\t\r\n]+/g, " ");
    return text.startsWith('"') ? quoted(text) : text; // a spreadsheet takes away the quotes, and would run what is in them
  };
  return rows.map((row) => row.map(cell).join("\t")).join("\n");
}

const quoted = (text) => `"${text.replaceAll('"', '""')}"`;

export function csv(rows) {
  const cell = (value) => {
    const text = neutral(value);
    return /[",\r\n]/.test(text) ? quoted(text) : text;
  };
  return `${rows.map((row) => row.map(cell).join(",")).join("\r\n")}\r\n`;
}

/** Copy a text; over plain http, where the clipboard is closed, by way of a selected field. */
export async function copy(text, what = "Copied") {
  try {
    if (navigator.clipboard) await navigator.clipboard.writeText(text);
    else selected(text);
    notify("good", what);
  } catch {
    notify("bad", "The browser did not allow the copy");
  }
}

function selected(text) {
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "off-screen";
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}
