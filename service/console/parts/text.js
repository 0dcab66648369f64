// Texts by line: where the values of a JSON document stand, what is wrong with it, what differs between two texts.

const TOKENS = /\s+|"(?:[^"\\\n]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+|"/g;

/**
 * Read a text as JSON: {lines, fault}. `lines`: the line (from 1) of each value by its path such as "/tests/2/max";
 * `fault`: {line, message} of the first thing that is wrong, else null. Browsers do not always say a line.
 */
export function readJson(text) {
  const tokens = [];
  let line = 1;
  for (const [token] of text.matchAll(TOKENS)) {
    if (token.trim()) tokens.push({ token, line });
    else line += token.split("\n").length - 1;
  }
  const lines = new Map();
  let at = 0;
  const here = () => tokens[at]?.token;
  const fail = (expected) => {
    const message = `expected ${expected}, ${at < tokens.length ? `not ${here()}` : "and the text ends"}`;
    throw Object.assign(new Error(message), { line: (tokens[at] ?? tokens.at(-1))?.line ?? 1 });
  };
  const take = (token, expected) => (here() === token ? (at += 1) : fail(expected));
  const value = (path) => {
    const opening = here();
    const end = { "{": "}", "[": "]" }[opening];
    if (!end && !isPlain(opening)) fail("a value");
    at += 1;
    if (!end) return;
    for (let place = 0; here() !== end || place > 0; place += 1) {
      const begun = tokens[at]?.line;
      let name = place;
      if (opening === "{") {
        if (!here()?.startsWith('"') || !isPlain(here())) fail("a key in double quotes");
        name = JSON.parse(here());
        at += 1;
        take(":", "a colon");
      }
      lines.set(`${path}/${name}`, begun);
      value(`${path}/${name}`);
      if (here() !== ",") break;
      at += 1;
    }
    take(end, `a comma or ${end}`);
  };
  try {
    value("");
    if (at < tokens.length) fail("the end of the text");
    return { lines, fault: null };
  } catch (fault) {
    return { lines, fault: { line: fault.line ?? 1, message: fault.message } };
  }
}

function isPlain(token) {
  try {
    return token !== undefined && JSON.parse(token) !== undefined;
  } catch {
    return false;
  }
}

/** Line of the value at a path such as ["tests", "2", "max"]; of what is nearest above it where it is absent. */
export function lineOf(lines, path) {
  for (let depth = path.length; depth > 0; depth -= 1) {
    const line = lines.get(`/${path.slice(0, depth).join("/")}`);
    if (line) return line;
  }
  return 1;
}

const COMPARED_MAX = 4_000_000; // pairs of lines

/** Lines of both texts in order: [{kind: "same" | "old" | "new", text, old, new}] with their numbers. */
export function difference(before, after) {
  const [old, now] = [before, after].map((text) => (text ? text.split("\n") : []));
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  const kept = common(old.slice(head, old.length - tail), now.slice(head, now.length - tail));
  const rows = [];
  let [left, right] = [0, 0];
  const take = (kind) => {
    rows.push({ kind, text: kind === "new" ? now[right] : old[left], old: kind === "new" ? null : left + 1, new: kind === "old" ? null : right + 1 });
    if (kind !== "new") left += 1;
    if (kind !== "old") right += 1;
  };
  const same = [...range(0, head).map((at) => [at, at]), ...kept.map(([one, other]) => [one + head, other + head]),
    ...range(0, tail).map((at) => [old.length - tail + at, now.length - tail + at])];
  for (const [one, other] of same) {
    while (left < one) take("old");
    while (right < other) take("new");
    take("same");
  }
  while (left < old.length) take("old");
  while (right < now.length) take("new");
  return rows;
}

const range = (first, end) => Array.from({ length: end - first }, (_, at) => first + at);

/** Pairs of places of the longest common lines; none where the texts are too long to tell. */
function common(old, now) {
  if (old.length * now.length > COMPARED_MAX) return [];
  const width = now.length + 1;
  const lengths = new Uint32Array((old.length + 1) * width);
  for (let one = old.length - 1; one >= 0; one -= 1) {
    for (let other = now.length - 1; other >= 0; other -= 1) {
      lengths[one * width + other] = old[one] === now[other] ? lengths[(one + 1) * width + other + 1] + 1
        : Math.max(lengths[(one + 1) * width + other], lengths[one * width + other + 1]);
    }
  }
  const pairs = [];
  for (let one = 0, other = 0; one < old.length && other < now.length;) {
    if (old[one] === now[other]) pairs.push([one++, other++]);
    else if (lengths[(one + 1) * width + other] >= lengths[one * width + other + 1]) one += 1;
    else other += 1;
  }
  return pairs;
}
