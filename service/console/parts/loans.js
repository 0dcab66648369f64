// The loans of a workbook, read in pages as they come into sight; conditions on their fields, in words and in addresses.
import { useEffect, useMemo, useRef, useState } from "./html.js";
import { get, saveBlob } from "../api.js";
import { setWork } from "../state.js";
import { csv } from "./clipboard.js";

const PAGE = 1_000;
const PAGES_KEPT = 24;
const AHEAD = 250; // rows beyond those in sight that are read, too
const PAUSE_MS = 120; // of scrolling, before a page is read that is far from all others
export const PART = 10_000; // the most that one answer holds

/** What conditions a kind of field can have, the usual one first. */
export const OPERATIONS = {
  string: [["contains", "contains"], ["eq", "is"], ["ne", "is not"]],
  number: [["ge", "≥"], ["le", "≤"], ["gt", ">"], ["lt", "<"], ["eq", "="], ["ne", "≠"]],
  date: [["ge", "from"], ["le", "until"], ["gt", "after"], ["lt", "before"], ["eq", "is"], ["ne", "is not"]],
  rating: [["eq", "is"], ["ne", "is not"], ["gt", "worse than"], ["ge", "this or worse"], ["lt", "better than"], ["le", "this or better"], ["contains", "contains"]],
  boolean: [["eq", "is"]],
};

const CONDITION = /^([^:]*):([a-z]+):([\s\S]*)$/;

/** Conditions of an address, as the service takes them joined by commas: [{field, op, value, text}]. */
export function conditionsOf(filter) {
  const texts = filter ? filter.split(/,(?=\w+:(?:eq|ne|lt|le|gt|ge|contains):)/) : [];
  return texts.map((text) => {
    const [, field = text, op = "", value = ""] = CONDITION.exec(text) ?? [];
    return { field, op, value, text };
  });
}

/**
 * Loans of a workbook by `query`, {fields, filter, sort}: {key, count, par, sample, error, version, cell(index, name),
 * row(index), need(first, last), again}. So many pages are kept; of those on their way what is far from sight is given up.
 */
export function useLoans(workbook, query) {
  const key = JSON.stringify([workbook, query]);
  const store = useMemo(() => ({ pages: new Map(), running: new Map(), failed: new Set(), timer: 0, about: null }), [key]);
  const [version, redraw] = useState(0);
  const fault = useRef(null);
  const before = useRef(store);
  if (store.about) before.current = store;
  const shown = before.current; // the former loans until the first of the new ones are there
  const load = (at) => {
    if (store.pages.has(at) || store.running.has(at) || store.failed.has(at)) return;
    const control = new AbortController();
    store.running.set(at, control);
    get(`workbooks/${workbook}/loans`, { ...query, offset: at * PAGE, limit: PAGE }, { signal: control.signal }).then(
      (page) => {
        store.pages.set(at, page);
        store.about = page;
        if (store.pages.size > PAGES_KEPT) store.pages.delete(store.pages.keys().next().value);
      },
      (error) => {
        if (error.name === "AbortError") return;
        store.failed.add(at); // until somebody asks again
        fault.current = { key, error };
      },
    ).finally(() => { store.running.delete(at); redraw((turn) => turn + 1); });
  };
  useEffect(() => {
    load(0);
    return () => { clearTimeout(store.timer); for (const control of store.running.values()) control.abort(); };
  }, [store]);
  const pageOf = (index) => shown.pages.get(Math.floor(index / PAGE));
  const keep = (at) => {
    const page = store.pages.get(at);
    if (store.pages.delete(at)) store.pages.set(at, page); // the last to be let go of
  };
  const need = (first, last) => {
    if (!store.about) return;
    clearTimeout(store.timer);
    const most = Math.floor((store.about.total - 1) / PAGE);
    const at = (index) => Math.max(0, Math.min(most, Math.floor(index / PAGE)));
    const wanted = [at(first), at(last), at(first - AHEAD), at(last + AHEAD)];
    const read = () => {
      for (const [page, control] of store.running) if (!wanted.includes(page)) control.abort();
      for (const page of wanted) keep(page);
      wanted.forEach(load);
    };
    if (wanted.slice(0, 2).every((page) => store.pages.has(page))) read();
    else store.timer = setTimeout(read, PAUSE_MS);
  };
  const cell = (index, name) => pageOf(index)?.columns[name]?.[index % PAGE];
  const row = (index) => pageOf(index)?.rows[index % PAGE];
  const again = () => {
    store.failed.clear();
    fault.current = null;
    load(0);
    redraw((turn) => turn + 1);
  };
  const { total: count, total_par: par, columns: sample } = shown.about ?? {};
  return { key, count, par, sample, error: fault.current?.key === key ? fault.current.error : null, version: `${shown === store} ${version}`, cell, row, need, again };
}

/** All loans in parts, as rows of values: an asynchronous walk over arrays of rows. */
export async function* parts(workbook, query, most = Infinity) {
  const names = query.fields.split(",");
  for (let offset = 0; offset < most; offset += PART) {
    const { columns, total } = await get(`workbooks/${workbook}/loans`, { ...query, offset, limit: PART });
    yield { rows: (columns[names[0]] ?? []).map((_, at) => names.map((name) => columns[name][at])), total, done: offset + PART };
    if (offset + PART >= total) return;
  }
}

/** Save all loans as CSV, with the progress at the foot of the page. */
export async function saveLoans(workbook, query, heads, name) {
  const key = `csv ${workbook}`;
  const texts = ["﻿", csv([heads])];
  setWork(key, { label: `Writing ${name}`, share: 0 });
  try {
    for await (const { rows, total, done } of parts(workbook, query)) {
      texts.push(csv(rows));
      setWork(key, { label: `Writing ${name}`, share: Math.min(1, done / (total || 1)) });
    }
    saveBlob(new Blob(texts, { type: "text/csv;charset=utf-8" }), name);
  } finally {
    setWork(key, null);
  }
}
