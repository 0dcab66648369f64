// What more than one screen knows: who is signed in, the address, notices, and the tenant's ways of writing.
import { computed, signal } from "./parts/html.js";

/** Answer of GET auth/me; null: nobody is signed in; undefined: not known yet. */
export const me = signal(undefined);

/** The address after `#`: {path: ["deals", id, "compliance"], query: URLSearchParams}. */
export const route = signal(parsed(location.hash));

/** Notices at the foot of the page: {id, kind: "good" | "bad" | "plain", text, action: {label, run}, requestId}. */
export const notices = signal([]);

/** Progress of uploads and jobs by key: {label, share (0 to 1, null where unknown)}. */
export const work = signal(new Map());

export const tenant = computed(() => me.value?.tenant ?? {});

/** Whether the tenant requires a second factor that the user lacks: the service refuses all but its enrolment. */
export const mustEnrol = computed(() => Boolean(tenant.value.two_factor_required) && !me.value.two_factor_enabled);

const LABELS = {
  rating_agency_a: "Moody's", rating_agency_b: "S&P", rating_agency_c: "Fitch",
  trustee_a: "Trustee A", trustee_b: "Trustee B", trustee_c: "Trustee C",
};

/** Name that a person uses for `rating_agency_a`, `trustee_b`: the tenant's label. */
export function label(name) {
  return tenant.value.labels?.[name] ?? LABELS[name] ?? name;
}

/** A text or field name with every agency's and trustee's API name replaced by its label. */
export function labelled(text) {
  return String(text).replace(/\b(rating_agency_[abc]|trustee_[abc])\b/g, (name) => label(name));
}

/** Whether the signed-in user may do what an endpoint of this scope does. */
export function can(scope) {
  return (me.value?.scopes ?? []).includes(scope);
}

function parsed(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  let parts;
  try {
    parts = path.split("/").filter(Boolean).map(decodeURIComponent);
  } catch {
    parts = [];
  }
  return { path: parts, query: new URLSearchParams(query) };
}

/** The address of a screen: href("deals", id, "compliance", {test: "ccc"}); empty values are left out. */
export function href(...parts) {
  const query = typeof parts.at(-1) === "object" ? parts.pop() : {};
  const chosen = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const path = parts.map((part) => encodeURIComponent(part)).join("/");
  const search = new URLSearchParams(chosen).toString();
  return `#/${path}${search ? `?${search}` : ""}`;
}

/** Go to an address; `replace` leaves no step for the back button. */
export function go(address, { replace = false } = {}) {
  if (replace) {
    history.replaceState(null, "", address);
    route.value = parsed(address);
  } else {
    location.hash = address;
  }
}

/** Change parts of the present address's query; null takes one away. */
export function setQuery(changes, { replace = true } = {}) {
  const { path, query } = route.value;
  go(href(...path, { ...Object.fromEntries(query), ...changes }), { replace });
}

let next = 0;

/** Show a notice for some seconds (a bad one until it is closed), with a button for an `action` or an `undo`; returns its id. */
export function notify(kind, text, { undo, action = undo && { label: "Undo", run: undo }, requestId } = {}) {
  const id = ++next;
  notices.value = [...notices.value.slice(-3), { id, kind, text, action, requestId }];
  if (kind !== "bad") setTimeout(() => dismiss(id), action ? 10_000 : 5_000);
  return id;
}

/** Show the notice of a refusal. */
export function complain(error) {
  return notify("bad", error.message, { requestId: error.requestId });
}

export function dismiss(id) {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}

export function setWork(key, progress) {
  const map = new Map(work.value);
  if (progress) map.set(key, progress);
  else map.delete(key);
  work.value = map;
}

addEventListener("hashchange", () => {
  route.value = parsed(location.hash);
});
