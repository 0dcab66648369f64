// A tape's issues as a queue: read as they come into sight, taken out as they are worked, brought back by undo.
import { useEffect, useRef, useState } from "./html.js";
import { get, patch } from "../api.js";
import { dismiss, notify } from "../state.js";
import { refreshData } from "./data.js";
import { counted, words } from "./format.js";

const PATH = "reconciliation/issues";
const PAGE = 200;
const AHEAD = 50; // rows below those in sight that are read
const PAUSE_MS = 400; // the counts are read once after many keys

/** The issues of a query with one status: {items, total, error, see, review, undo, again}; `all(items)`: whether all are wanted. */
export function useQueue(query, all) {
  const [state, setState] = useState({ items: [] });
  const [last, see] = useState(0);
  const now = useRef({ turn: 0, changes: Promise.resolve(), reviews: [] }).current;
  const start = (next) => {
    now.turn += 1; // an answer to what was asked before counts for nothing
    setState(next);
  };
  const again = () => start({ items: [] });
  useEffect(again, [JSON.stringify(query)]);
  const read = async (turn) => {
    now.reading = turn;
    const page = Math.floor(state.items.length / PAGE) + 1;
    await now.changes;
    const next = await get(PATH, { ...query, page, page_size: PAGE }).catch((error) => ({ error, items: [] }));
    if (turn !== now.turn) return;
    now.reading = null;
    setState({ ...next, items: [...state.items.slice(0, (page - 1) * PAGE), ...next.items] });
  };
  useEffect(() => {
    const least = all(state.items) ? Infinity : last + AHEAD;
    if (!state.error && now.reading !== now.turn && state.items.length < Math.min(least, state.total ?? 1)) read(now.turn);
  });
  /** One change after the other: what fails is said, and the queue read again. */
  const change = (task) => {
    now.changes = now.changes.then(task).catch((error) => {
      notify("bad", error.message, { requestId: error.requestId });
      again();
    });
    clearTimeout(now.timer);
    now.timer = setTimeout(() => now.changes.then(() => refreshData(`${PATH}/summary`)), PAUSE_MS);
  };
  const undo = () => change(async () => {
    const review = now.reviews.pop();
    if (!review) return;
    dismiss(now.notice);
    await patch(PATH, review);
    again();
  });
  /** Set the status of issues, or of all that the query finds (null). */
  const review = (status, issues) => {
    const ids = issues?.map(({ id }) => id);
    const items = state.items.filter((one) => issues && !issues.includes(one));
    start({ items, total: issues && state.total - ids.length });
    change(async () => {
      const { updated, reviewed_at } = await patch(PATH, ids ? { status, ids } : { status, filter: query });
      now.reviews.push({ status: query.status, filter: { tape_id: query.tape_id, reviewed_at } });
      dismiss(now.notice);
      now.notice = notify("good", `${counted(updated, "issue")}: ${words(status)}`, { action: { label: "Undo (u)", run: undo } });
    });
  };
  return { ...state, see, review, undo, again };
}
