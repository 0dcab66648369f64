// A tape's issues as a queue: read as they come into sight, taken out as they are worked, brought back by undo.
import { useEffect, useRef, useState } from "./html.js";
import { get, patch } from "../api.js";
import { dismiss, notify } from "../state.js";
import { counted } from "./format.js";

const PATH = "reconciliation/issues";
const PAGE = 200;
const AHEAD = 50; // rows below those in sight that are read
const EMPTY = { items: [], total: null, error: null };

/** The issues of a query with one status: {items, total, error, see, review, undo, reload}; `worked` runs after a change. */
export function useQueue(query, { wanted, worked }) {
  const [state, setState] = useState(EMPTY);
  const now = useRef({ turn: 0, reading: null, changes: Promise.resolve(), reviews: [], notice: null }).current;
  const key = JSON.stringify(query);
  const start = (next = EMPTY) => {
    now.turn += 1; // an answer to what was asked before counts for nothing
    setState(next);
  };
  useEffect(() => start(), [key]);
  const [last, see] = useState(0);
  const read = async () => {
    const { turn } = now;
    now.reading = turn;
    const page = Math.floor(state.items.length / PAGE) + 1;
    await now.changes;
    const next = await get(PATH, { ...query, page, page_size: PAGE }).then(
      ({ items, total }) => (before) => ({ items: [...before.items.slice(0, (page - 1) * PAGE), ...items], total, error: null }),
      (error) => (before) => ({ ...before, error }),
    );
    if (turn !== now.turn) return;
    now.reading = null;
    setState(next);
  };
  useEffect(() => {
    const least = wanted(state.items) ? Infinity : last + AHEAD;
    if (!state.error && now.reading !== now.turn && state.items.length < Math.min(least, state.total ?? 1)) read();
  });
  /** One change after the other: what fails is said, and the queue read again. */
  const change = (task) => {
    now.changes = now.changes.then(task).catch((error) => {
      notify("bad", error.message, { requestId: error.requestId });
      start();
    }).finally(worked);
  };
  const undo = () => change(async () => {
    const review = now.reviews.pop();
    if (!review) return;
    dismiss(now.notice);
    await patch(PATH, { status: review.from, filter: { tape_id: review.tape_id, reviewed_at: review.reviewed_at } });
    start();
  });
  /** Set the status of issues, or of all that the query finds (null). */
  const review = (status, words, issues) => {
    const ids = issues?.map(({ id }) => id);
    const gone = new Set(ids);
    const items = state.items.filter(({ id }) => issues && !gone.has(id));
    start({ ...state, items, total: issues ? state.total - ids.length : 0 });
    change(async () => {
      const { updated, reviewed_at } = await patch(PATH, { status, ...(ids ? { ids } : { filter: query }) });
      now.reviews.push({ from: query.status, tape_id: query.tape_id, reviewed_at });
      dismiss(now.notice);
      now.notice = notify("good", `${counted(updated, "issue")} ${words}`, { action: { label: "Undo (u)", run: undo } });
    });
  };
  return { ...state, see: (_, end) => see(end), review, undo, reload: () => start() };
}
