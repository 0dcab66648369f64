// Reading for a screen: what is on its way, what came, what went wrong; the last answer is shown while it is read anew.
import { useCallback, useEffect, useRef, useState } from "./html.js";
import { get, Refusal } from "../api.js";

const KEPT = 200; // answers
const kept = new Map();

/**
 * Read an endpoint: {data, error, loading, reload}. `path` null reads nothing. An answer that was read before is shown
 * at once and replaced when the new one is there.
 */
export function useData(path, query) {
  const key = path === null ? null : `${path}?${JSON.stringify(query ?? {})}`;
  const [state, setState] = useState(() => ({ key, data: kept.get(key), error: null, loading: key !== null }));
  const running = useRef(null);
  const read = useCallback(() => {
    running.current?.abort();
    if (key === null) {
      setState({ key, data: undefined, error: null, loading: false });
      return;
    }
    const control = new AbortController();
    running.current = control;
    setState({ key, data: kept.get(key), error: null, loading: true });
    get(path, query, { signal: control.signal }).then(
      (data) => {
        keep(key, data);
        if (running.current === control) setState({ key, data, error: null, loading: false });
      },
      (error) => {
        if (error.name === "AbortError" || running.current !== control) return;
        setState({ key, data: kept.get(key), error, loading: false });
      },
    );
  }, [key]);
  useEffect(() => {
    read();
    return () => running.current?.abort();
  }, [read]);
  const current = state.key === key ? state : { data: kept.get(key), error: null, loading: key !== null };
  return { data: current.data, error: current.error, loading: current.loading, reload: read };
}

function keep(key, data) {
  kept.delete(key);
  kept.set(key, data);
  if (kept.size > KEPT) kept.delete(kept.keys().next().value);
}

/** Let go of what was read: of every path that begins so, or of everything. */
export function forgetData(prefix = "") {
  for (const key of kept.keys()) if (key.startsWith(prefix)) kept.delete(key);
}

/** Run a task of a button: {run, busy, error}; a refusal is kept for the form to show. */
export function useTask(task) {
  const [state, setState] = useState({ busy: false, error: null });
  const run = async (...given) => {
    setState({ busy: true, error: null });
    try {
      const result = await task(...given);
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
