// A mapping with corrections of columns that is not stored yet: what it says, what it changes, how it is stored.
import { useEffect, useRef, useState } from "./html.js";
import { get, patch, post, remove } from "../api.js";

const PAUSE_MS = 300;
const LEFT_OUT = "left_out_"; // fields of one's own that no test reads
const NAME_MAX = 64;
const NAMED_MAX = 180; // of a mapping's name, with room for a number
const PAGE = 100;

/** A heading as the reader compares it: case, accents and signs do not count. */
export function keyOf(text) {
  return text.normalize("NFKD").replace(/[\p{M}\p{Cf}]/gu, "").toLowerCase().replaceAll("&", " and ").split(/[^\p{L}\p{N}]+/u).filter(Boolean).join(" ");
}

export const isLeftOut = (target) => target.startsWith(LEFT_OUT);

/** The field of one's own that takes a column away from all others. */
export function leftOut(header) {
  const plain = keyOf(header).replace(/[^a-z0-9]+/g, "_");
  const sum = [...header].reduce((total, sign) => (total * 31 + sign.codePointAt(0)) % 2 ** 31, 7).toString(36);
  return `${LEFT_OUT}${plain.slice(0, NAME_MAX - LEFT_OUT.length - sum.length - 1)}_${sum}`;
}

/** What POST mappings takes: a stored mapping with corrections {heading: field}; on top of a built-in one by itself. */
function draftOf(mapping, fixes) {
  const own = mapping.created_by !== "system";
  let columns = own ? mapping.mappings : {};
  for (const [header, target] of Object.entries(fixes)) columns = corrected(columns, header, target);
  return {
    source_type: mapping.source_type, profile_id: own ? mapping.profile_id : mapping.id, mappings: columns,
    transforms: own ? mapping.transforms : [], validation_rules: own ? mapping.validation_rules : [],
  };
}

/** Columns of a mapping of which one feeds another field: it comes first among those of that field. */
function corrected(columns, header, target) {
  const rest = {};
  let former = {};
  const names = [];
  for (const [source, column] of Object.entries(columns)) {
    const others = [source, ...column.aliases].filter((name) => keyOf(name) !== keyOf(header));
    if (column.target === target) {
      former = column;
      names.push(...others);
    } else if (others.length > 0) {
      rest[others[0]] = { ...column, aliases: others.slice(1) };
    }
  }
  return { [header]: { ...former, target, aliases: names }, ...rest };
}

const UNTRIED = { data: null, error: null, busy: false, over: true };

/**
 * Try corrections on a workbook: {data, error, busy}; it waits until nobody chooses, and has one request in flight. The
 * last answer stays when there are none any more, until the file is read by what was saved.
 */
export function useTrial(workbook, mapping, fixes) {
  const [state, setState] = useState(UNTRIED);
  const running = useRef(null);
  const wanted = JSON.stringify(fixes);
  useEffect(() => {
    if (!mapping || wanted === "{}") {
      setState((before) => ({ ...UNTRIED, data: before.data }));
      return undefined;
    }
    setState((before) => ({ ...(before.over ? UNTRIED : before), busy: true, over: false }));
    const control = new AbortController();
    const timer = setTimeout(async () => {
      await running.current;
      if (control.signal.aborted) return;
      running.current = post(`workbooks/${workbook}/detection`, { mapping: draftOf(mapping, fixes) }).then(
        (data) => control.signal.aborted || setState({ ...UNTRIED, data, over: false }),
        (error) => control.signal.aborted || setState((before) => ({ ...before, error, busy: false })),
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [workbook, mapping, wanted]);
  return state;
}

/** Store corrections as the deal's mapping; gives its id and what takes them back. One that other deals use stays as it is. */
export async function stored(mapping, fixes, deal, month) {
  const steps = []; // what takes each change back, the last one first
  const back = async () => {
    for (const step of steps) await step();
  };
  const change = async (path, name, value, before) => {
    await patch(path, { [name]: value });
    steps.unshift(() => patch(path, { [name]: before }));
  };
  const draft = draftOf(mapping, fixes);
  let id = mapping.id;
  try {
    if (mapping.created_by !== "system" && deal.mapping_id === id && !(await isShared(id, deal))) {
      await change(`mappings/${id}`, "mappings", draft.mappings, mapping.mappings);
    } else {
      ({ id } = await created(`Mapping of ${deal.name}`.slice(0, NAMED_MAX), draft));
      steps.push(() => remove(`mappings/${id}`));
    }
    if (deal.mapping_id !== id) await change(`deals/${deal.id}`, "mapping_id", id, deal.mapping_id);
    if (month.mapping_id) await change(`workbooks/${month.id}`, "mapping_id", null, month.mapping_id);
  } catch (error) {
    await back();
    throw error;
  }
  return { back, id };
}

/** A new mapping under a name that is free. */
async function created(name, draft) {
  const { items } = await get("mappings", { search: name, page_size: PAGE });
  const taken = new Set(items.map((one) => one.name));
  let free = name;
  for (let number = 2; taken.has(free); number += 1) free = `${name} ${number}`;
  return post("mappings", { name: free, ...draft });
}

async function isShared(id, deal) {
  for (let page = 1; ; page += 1) {
    const { items, total_pages: pages } = await get("deals", { page, page_size: PAGE });
    if (items.some((one) => one.mapping_id === id && one.id !== deal.id)) return true;
    if (page >= pages) return false;
  }
}
