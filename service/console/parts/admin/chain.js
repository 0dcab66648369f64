// Whether an exported audit log is whole, worked out in the browser: the rules of `cushion audit`.
import { lines, Refusal } from "../../api.js";

const START = "0".repeat(64);
const REDACTED = "user.redacted";
const HASHED = [
  "tenant_id", "sequence", "id", "timestamp", "user_id", "user_email", "api_key_id", "action", "resource_type", "resource_id",
  "resource_name", "ip_address", "user_agent", "request_id", "details",
];
const encoder = new TextEncoder();

/** Read every entry: {count, hash, redacted, fault: {sequence, reason} | null}. */
export async function checkChain() {
  if (!crypto.subtle) {
    throw new Refusal(0, { detail: "A browser checks hashes over https only. Save the log as JSON lines and run `cushion audit FILE`." });
  }
  const changed = new Map(); // entries that do not give their hash, with the one that they give: a later entry may name it
  let before = null;
  let redacted = 0;
  for await (const line of lines("admin/audit-logs/export", { format: "jsonl" })) {
    const entry = record(line);
    const reason = misfit(before, entry);
    if (reason) return { fault: { sequence: entry.sequence, reason } };
    const hash = await hashOf(entry);
    if (hash !== entry.hash) changed.set(entry.sequence, hash);
    else if (entry.action === REDACTED) {
      for (const [sequence, other] of JSON.parse(entry.details).entries ?? []) {
        if (changed.get(sequence) === other && changed.delete(sequence)) redacted += 1;
      }
    }
    before = entry;
  }
  const fault = changed.size ? { sequence: changed.keys().next().value, reason: "it is not the entry that was hashed" } : null;
  return { count: before?.sequence ?? 0, hash: before?.hash ?? START, redacted, fault };
}

/** An entry with its details as the text that is hashed; a quotation mark inside a text is escaped, so both marks are unique. */
function record(line) {
  const begin = line.indexOf(',"details":') + ',"details":'.length;
  const end = line.lastIndexOf(',"previous_hash":');
  return { ...JSON.parse(line), details: line.slice(begin, end) };
}

function misfit(before, entry) {
  if (entry.sequence !== (before?.sequence ?? 0) + 1) return "entries before it are missing";
  if (before && entry.tenant_id !== before.tenant_id) return "it belongs to another organisation";
  return entry.previous_hash === (before?.hash ?? START) ? null : "the entry before it is not the one that it follows";
}

async function hashOf(entry) {
  const pieces = [Uint8Array.from(entry.previous_hash.match(/../g), (pair) => parseInt(pair, 16))];
  for (const name of HASHED) {
    const value = entry[name];
    const octets = value === null ? null : encoder.encode(String(value));
    pieces.push(octets === null ? encoder.encode("-") : encoder.encode(`${octets.length}:`), octets ?? new Uint8Array());
  }
  const digest = await crypto.subtle.digest("SHA-256", await new Blob(pieces).arrayBuffer());
  return Array.from(new Uint8Array(digest), (octet) => octet.toString(16).padStart(2, "0")).join("");
}
