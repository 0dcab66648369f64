// Texts by line: where a value of a JSON document stands, and what differs between two texts.

const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+|\n/g;

/** Line (from 1) of the value at a path such as ["tests", "2", "max"]; of what is nearest above it where it is absent. */
export function lineOf(text, path) {
  const open = []; // {list, at: the key or the place of the value that comes}
  let line = 1;
  let best = { depth: 0, line: 1 };
  let key = null; // a text that is a key if a colon follows
  const starts = () => {
    const depth = open.length;
    if (depth > best.depth && depth <= path.length && open.every(({ at }, level) => String(at) === path[level])) best = { depth, line };
  };
  for (const [token] of text.matchAll(TOKENS)) {
    const top = open.at(-1);
    if (token === "\n") line += 1;
    else if (token === ",") { if (top?.list) top.at += 1; else if (top) top.at = null; }
    else if (token === ":") { if (top) top.at = key; starts(); }
    else if (token === "}" || token === "]") open.pop();
    else {
      if (top?.list) starts();
      if (token === "{" || token === "[") open.push({ list: token === "[", at: token === "[" ? 0 : null });
      else key = unquoted(token);
    }
  }
  return best.line;
}

const unquoted = (token) => (isPlain(token) ? JSON.parse(token) : token);

/** What is wrong with a text as JSON, {line, message}; null where nothing is. Browsers do not always say the line. */
export function syntaxFault(text) {
  const tokens = [...text.matchAll(/\s+|"(?:[^"\\\n]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+|"/g)].filter(([token]) => token.trim());
  let at = 0;
  const here = () => tokens[at]?.[0];
  const fail = (expected) => {
    const place = tokens[at]?.index ?? text.length;
    const line = text.slice(0, at < tokens.length ? place : text.trimEnd().length).split("\n").length;
    throw Object.assign(new Error(`expected ${expected}${at < tokens.length ? `, not ${here()}` : ", and the text ends"}`), { line });
  };
  const value = () => {
    if (here() === "{" || here() === "[") list(here() === "{");
    else if (isPlain(here())) at += 1;
    else fail("a value");
  };
  const list = (keyed) => {
    const end = keyed ? "}" : "]";
    at += 1;
    if (here() !== end) {
      for (;;) {
        if (keyed) {
          if (!here()?.startsWith('"') || !isPlain(here())) fail("a key in double quotes");
          at += 1;
          if (here() !== ":") fail("a colon");
          at += 1;
        }
        value();
        if (here() !== ",") break;
        at += 1;
      }
    }
    if (here() !== end) fail(`a comma or ${end}`);
    at += 1;
  };
  try {
    value();
    if (at < tokens.length) fail("the end of the text");
    return null;
  } catch ({ line, message }) {
    return { line, message };
  }
}

function isPlain(token) {
  try {
    return token !== undefined && JSON.parse(token) !== undefined;
  } catch {
    return false;
  }
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
