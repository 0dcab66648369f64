// Reading for a screen: what is on its way, what came, what went wrong; the last answer is shown while it is read anew.
import { useCallback, useEffect, useRef, useState } from "./html.js";
import { get, Refusal } from "../api.js";

const KEPT = 200; // answers
const kept = new Map(); // by key: {data, at}
const pending = new Map(); // by key: {answer, control, readers} of what is asked for now
const shown = new Set(); // {key, read} of what is on the page

/**
 * Read an endpoint: {data, error, loading, reload}. `path` null reads nothing. An answer that was read before is shown
 * at once and replaced when the new one is there; one that is younger than `freshSeconds` is not asked for again.
 */
export function useData(path, query, { freshSeconds = 0 } = {}) {
  const key = path === null ? null : `${path}?${JSON.stringify(query ?? {})}`;
  const [state, setState] = useState(() => ({ key, data: kept.get(key)?.data, error: null, loading: key !== null }));
  const running = useRef(null);
  const read = useCallback((why) => {
    leave(running.current);
    running.current = null;
    if (key === null) {
      setState({ key, data: undefined, error: null, loading: false });
      return;
    }
    const before = kept.get(key);
    if (why === "first" && before && Date.now() - before.at < freshSeconds * 1000) {
      setState({ key, data: before.data, error: null, loading: false });
      return;
    }
    setState({ key, data: before?.data, error: null, loading: true });
    const request = join(key, path, query, why === "reload");
    running.current = request;
    request.answer.then(
      (data) => running.current === request && setState({ key, data, error: null, loading: false }),
      (error) => {
        if (error.name === "AbortError" || running.current !== request) return;
        setState({ key, data: kept.get(key)?.data, error, loading: false });
      },
    );
  }, [key]);
  useEffect(() => {
    const reader = { key, read };
    shown.add(reader);
    read("first");
    return () => {
      shown.delete(reader);
      leave(running.current);
      running.current = null;
    };
  }, [read]);
  const current = state.key === key ? state : { data: kept.get(key)?.data, error: null, loading: key !== null };
  const reload = useCallback(() => read("reload"), [read]);
  return { data: current.data, error: current.error, loading: current.loading, reload };
}

/** The request for a key that is under way, else a new one: two parts of a page that read the same ask once. */
function join(key, path, query, anew) {
  let request = anew ? null : pending.get(key);
  if (!request) {
    const control = new AbortController();
    request = { control, readers: 0 };
    request.answer = get(path, query, { signal: control.signal }).then((data) => {
      keep(key, data);
      return data;
    }).finally(() => {
      if (pending.get(key) === request) pending.delete(key);
    });
    pending.set(key, request);
  }
  request.readers += 1;
  return request;
}

/** Go from a request, which ends once nobody waits for it. */
function leave(request) {
  if (!request) return;
  request.readers -= 1;
  if (request.readers > 0) return;
  for (const [key, other] of pending) if (other === request) pending.delete(key);
  request.control.abort();
}

function keep(key, data) {
  kept.delete(key);
  kept.set(key, { data, at: Date.now() });
  if (kept.size > KEPT) kept.delete(kept.keys().next().value);
}

/** Let go of what was read: of every path that begins so, or of everything. */
export function forgetData(prefix = "") {
  for (const key of kept.keys()) if (key.startsWith(prefix)) kept.delete(key);
}

/** After a change: let go of every path that begins so, and read anew what of it is on the page. */
export function refreshData(...prefixes) {
  const readers = [...shown].filter(({ key }) => key !== null && prefixes.some((prefix) => key.startsWith(prefix)));
  const stay = new Set(readers.map(({ key }) => key)); // shown until the new answer is there
  for (const key of kept.keys()) if (!stay.has(key) && prefixes.some((prefix) => key.startsWith(prefix))) kept.delete(key);
  for (const { key } of readers) pending.delete(key);
  for (const { read } of readers) read("refresh");
}

/** Run a task of a button: {run, busy, error}; a refusal is kept for the form to show. */
export function useTask(task) {
  const [state, setState] = useState({ busy: false, error: null });
  const run = async (...values) => {
    setState({ busy: true, error: null });
    try {
      const result = await task(...values);
      setState({ busy: false, error: null });
      return result;
    } catch (error) {
      setState({ busy: false, error });
      if (!(error instanceof Refusal) && error.name !== "AbortError") throw error;
      return undefined;
    }
  };
  return { run, busy: state.busy, error: state.error, clear: () => setState({ busy: false, error: null }) };
}
