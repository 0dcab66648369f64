// The public API: tokens, refusals, waiting. The access token lives in memory, the refresh token in a cookie that
// no script can read.
import { go, href, me, setWork } from "./state.js";

const BASE = "/api/v1/";
const EARLY_MS = 30_000; // a token is renewed so long before it ends, at most a third of its life
const PATIENCE_SECONDS = 5; // a limit that is open again by then is waited for
const TRIES = 8; // of a read that finds no service: a restart takes some seconds
const PAUSE_MS = 2_000; // at most, between two tries
const BUSY = new Set([502, 503, 504]); // a read is tried again
const WAIT_SECONDS = 20; // of one question about a state
const ENROL = "Two-factor enrolment required"; // a refusal's message
const HINT = "cushion.session"; // whether a cookie may be there: without one nothing is asked

let access = null;
let renewAt = 0;
let renewing = null;
const channel = "BroadcastChannel" in self ? new BroadcastChannel("cushion") : null;

/** A refusal of the service, or the lack of an answer (status 0). */
export class Refusal extends Error {
  constructor(status, body, requestId) {
    const detail = body.detail ?? "The service cannot be reached. Check the connection and try again.";
    super(typeof detail === "string" ? detail : "The request was refused");
    this.status = status;
    this.code = body.error_code ?? null;
    this.requestId = body.request_id ?? requestId ?? null;
    this.errors = body.errors ?? [];
    this.retryAfter = body.retry_after ?? null;
  }
}

/** Call an endpoint: `path` is below /api/v1/. Gives the JSON, or null for an answer without a body. */
export async function call(method, path, { query, body, form, signal, headers } = {}) {
  const answer = await send(method, path, { query, body, form, signal, headers });
  if (answer.status === 204) return null;
  const type = answer.headers.get("content-type") ?? "";
  return type.includes("json") ? answer.json() : answer.text();
}

export const get = (path, query, options = {}) => call("GET", path, { query, ...options });
export const post = (path, body = {}, options = {}) => call("POST", path, { body, ...options });
export const put = (path, body, options = {}) => call("PUT", path, { body, ...options });
export const patch = (path, body, options = {}) => call("PATCH", path, { body, ...options });
export const remove = (path, options = {}) => call("DELETE", path, options);

async function send(method, path, options) {
  for (let attempt = 1; ; attempt += 1) {
    const token = await fresh();
    let answer;
    try {
      answer = await fetch(address(path, options.query), request(method, token, options));
    } catch (problem) {
      if (problem.name === "AbortError") throw problem;
      if (method !== "GET" || attempt >= TRIES) throw new Refusal(0, {});
      await pause(pauseFor(attempt), options.signal);
      continue;
    }
    if (answer.ok || answer.status === 304) return answer;
    const refusal = await refused(answer);
    if (token !== null && attempt === 1 && ofToken(refusal)) {
      if (access === token) access = null;
      if (await renew()) continue;
    }
    if (refusal.message === ENROL) reload().catch(() => {}); // the organisation requires a second factor since a moment ago
    const waits = refusal.status === 429 || (BUSY.has(refusal.status) && method === "GET");
    const seconds = refusal.retryAfter ?? 1;
    if (!waits || seconds > PATIENCE_SECONDS || attempt >= TRIES) throw refusal;
    await pause(seconds * 1000, options.signal);
  }
}

/** Whether a refusal is about the access token; other 401s are about a password or a code. */
function ofToken({ status, code }) {
  return status === 401 && (code ?? "").includes("TOKEN");
}

const pauseFor = (attempt) => Math.min(250 * 2 ** attempt, PAUSE_MS);

function request(method, token, { body, form, signal, headers = {} }) {
  const sent = { "X-Session": "cookie", ...headers };
  if (token) sent.Authorization = `Bearer ${token}`;
  if (body !== undefined && !form) sent["Content-Type"] = "application/json";
  return { method, headers: sent, body: form ?? (body === undefined ? undefined : JSON.stringify(body)), signal };
}

function address(path, query) {
  const url = new URL(BASE + path, location.origin);
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined || value === null || value === "") continue;
    for (const one of Array.isArray(value) ? value : [value]) url.searchParams.append(name, one);
  }
  return url;
}

async function refused(answer) {
  let body = {};
  try {
    body = await answer.json();
  } catch {
    body = { detail: `The service answered ${answer.status}` };
  }
  const after = Number(answer.headers.get("retry-after"));
  return new Refusal(answer.status, { retry_after: after || null, ...body }, answer.headers.get("x-request-id"));
}

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new DOMException("aborted", "AbortError"));
    });
  });
}

// Sessions -----------------------------------------------------------------------------------------------------------

async function fresh() {
  if (access !== null && Date.now() > renewAt) await renew();
  return access;
}

/** Have the next access token, once for all tabs; false where the session has ended. */
function renew() {
  renewing ??= exclusively(renewed).finally(() => {
    renewing = null;
  });
  return renewing;
}

function exclusively(task) {
  return navigator.locks ? navigator.locks.request("cushion.refresh", task) : task();
}

async function renewed() {
  if (access !== null && Date.now() < renewAt) return true; // another tab was first
  for (let attempt = 1; ; attempt += 1) {
    let answer;
    try {
      answer = await fetch(`${BASE}auth/refresh`, { method: "POST", headers: { "X-Session": "cookie" } });
    } catch {
      if (attempt >= TRIES) throw new Refusal(0, {});
      await pause(pauseFor(attempt));
      continue;
    }
    if (answer.ok) {
      adopt((await answer.json()).access_token, true);
      return true;
    }
    if (answer.status === 429 || answer.status >= 500) throw await refused(answer);
    forget(true);
    return false;
  }
}

function adopt(token, tell) {
  access = token;
  const { iat = 0, exp = 60 } = claims(token);
  const life = (exp - iat) * 1000; // by this machine's clock only its length counts, so a clock that is wrong does no harm
  renewAt = Date.now() + life - Math.min(EARLY_MS, life / 3);
  remember("1");
  if (tell) channel?.postMessage({ access: token });
}

function claims(token) {
  try {
    return JSON.parse(atob(token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/")));
  } catch {
    return {};
  }
}

function forget(tell) {
  access = null;
  remember(null);
  if (tell) channel?.postMessage({ access: null });
  me.value = null;
}

function remember(hint) {
  try {
    if (hint === null) localStorage.removeItem(HINT);
    else localStorage.setItem(HINT, hint);
  } catch {
    // without storage a page that is loaded anew asks for its session once more
  }
}

channel?.addEventListener("message", ({ data }) => {
  if (data.access) {
    adopt(data.access, false);
    if (me.value !== undefined && claims(data.access).sub !== me.value?.id) reload().catch(() => {}); // somebody signed in there
  } else if (me.value) {
    forget(false);
  }
});

/** Enter with the answer of login, register or accept-invitation. */
export async function enter(tokens) {
  adopt(tokens.access_token, true);
  await reload();
}

/** Read who is signed in again. */
export async function reload() {
  me.value = await get("auth/me");
}

/** Find the session that the browser may have; `me` is null where there is none. */
export async function resume() {
  let hinted = true;
  try {
    hinted = localStorage.getItem(HINT) !== null;
  } catch {
    // asked, then
  }
  if (hinted && (await renew())) await reload();
  else me.value = null;
}

/** Sign out here, or everywhere; where the service cannot be reached the session goes on, and the caller says so. */
export async function leave({ everywhere = false } = {}) {
  try {
    await post(everywhere ? "auth/revoke-all-tokens" : "auth/logout", undefined);
  } catch (error) {
    if (error.status !== 401) throw error;
  }
  sessionStorage.clear(); // tickets of trades
  endSession();
  go(href("sign-in"), { replace: true });
}

/** Forget the session, which has ended at the service. */
export const endSession = () => forget(true);

// Files and jobs -----------------------------------------------------------------------------------------------------

/** Send a form with files, and show how far it is; gives the JSON of the answer. */
export async function upload(path, form, { label = "Uploading" } = {}) {
  const token = await fresh();
  const key = `${path} ${Math.random()}`;
  return new Promise((resolve, reject) => {
    const sender = new XMLHttpRequest();
    sender.open("POST", address(path));
    sender.setRequestHeader("X-Session", "cookie");
    if (token) sender.setRequestHeader("Authorization", `Bearer ${token}`);
    sender.upload.onprogress = (event) => setWork(key, { label, share: event.loaded / event.total });
    sender.onloadend = () => {
      setWork(key, null);
      const body = json(sender.responseText);
      if (sender.status >= 200 && sender.status < 300) resolve(body);
      else reject(new Refusal(sender.status, body, sender.getResponseHeader("x-request-id")));
    };
    setWork(key, { label, share: 0 });
    sender.send(form);
  });
}

function json(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** Read a record until `done(record)`: the service answers when its state changes. Shows `label` meanwhile. */
export async function settled(path, done, { label, signal } = {}) {
  const key = `${path} ${Math.random()}`;
  if (label) setWork(key, { label, share: null });
  try {
    let record = await get(path, {}, { signal });
    while (!done(record)) {
      const begun = Date.now();
      record = await get(path, { wait: WAIT_SECONDS }, { signal });
      if (!done(record) && Date.now() - begun < 500) await pause(500, signal); // too many wait: answered at once
    }
    return record;
  } finally {
    if (label) setWork(key, null);
  }
}

/** Fetch a file and hand it to the browser to save; gives its name. */
export async function download(path, { query, name } = {}) {
  const answer = await send("GET", path, { query });
  const names = /filename\*=UTF-8''([^;]+)|filename="([^"]+)"/i.exec(answer.headers.get("content-disposition") ?? "");
  const file = name ?? (names ? decodeURIComponent(names[1] ?? names[2]) : "download");
  saveBlob(await answer.blob(), file);
  return file;
}

/** The lines of an answer that is text, one after the other. */
export async function* lines(path, query) {
  const answer = await send("GET", path, { query });
  let rest = "";
  for await (const piece of answer.body.pipeThrough(new TextDecoderStream())) {
    const whole = (rest + piece).split("\n");
    rest = whole.pop();
    yield* whole;
  }
  if (rest) yield rest;
}

/** Hand bytes to the browser to save under a name. */
export function saveBlob(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// The console's own files -------------------------------------------------------------------------------------------

const RELOADED = "cushion.reloaded"; // when the page was loaded anew because its files are of another version
const RELOAD_APART_MS = 10_000;
const LOAD_TRIES = 8;
const LOAD_PAUSE_MS = 1_500;

/**
 * Import a module once it is needed: `take(again)` imports it, where it may with `again` at the end of its address. While
 * the service is away it is tried again; files of a replaced version load the page anew, once.
 */
export async function load(take) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await take(attempt > 1 ? `?${attempt}` : ""); // a browser may keep a failure by its address
    } catch {
      const page = await servedPage();
      if (page === "other" && mayReload()) return reloaded();
      if (page === "other" || attempt >= (page === "this" ? 2 : LOAD_TRIES)) throw new Refusal(0, { detail: "The page could not be loaded" });
    }
    await pause(LOAD_PAUSE_MS);
  }
}

/** Which page the service has by now: "this", one of "other" files, or none while it is "away". */
async function servedPage() {
  try {
    const answer = await fetch("/console/");
    if (!answer.ok) return "away";
    return (await answer.text()).includes(new URL(".", import.meta.url).pathname) ? "this" : "other";
  } catch {
    return "away";
  }
}

/** Whether the page was not loaded anew just now: two versions behind one address would do so for ever. */
function mayReload() {
  return Date.now() - Number(sessionStorage.getItem(RELOADED) ?? 0) > RELOAD_APART_MS;
}

function reloaded() {
  sessionStorage.setItem(RELOADED, String(Date.now()));
  location.reload();
  return new Promise(() => {});
}
