// Figures, days and names as a person writes them: the tenant's number and date formats.
import { label, tenant } from "../state.js";

export const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const formats = new Map();

/** A number with so many decimals; a dash where there is none. */
export function number(value, decimals = 0, { sign = false } = {}) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const locale = tenant.value.number_format || "en-US";
  const key = `${locale} ${decimals} ${sign}`;
  if (!formats.has(key)) formats.set(key, formatter(locale, decimals, sign));
  return formats.get(key).format(value).replace("-", "−");
}

function formatter(locale, decimals, sign) {
  const options = {
    minimumFractionDigits: decimals, maximumFractionDigits: decimals, signDisplay: sign ? "exceptZero" : "negative",
  };
  try {
    return new Intl.NumberFormat(locale, options);
  } catch {
    return new Intl.NumberFormat("en-US", options);
  }
}

const UNITS = { percent: " %", years: " y", x: "x" };

/** A test's figure in its unit: 11.67 %, 5.75 y, 2,913. */
export function figure(value, unit, decimals = 2, options = {}) {
  const text = number(value, decimals, options);
  return text === "–" ? text : `${text}${UNITS[unit] ?? ""}`;
}

/** A test's limit with its direction: ≤ 7.50 %. */
export function limit(row) {
  const mark = { max: "≤", min: "≥", exact: "=" }[row.threshold_type] ?? "";
  return `${mark} ${figure(row.threshold_value, row.unit, row.decimals)}`;
}

/** A day (YYYY-MM-DD, or a moment) in the tenant's date format. */
export function day(text) {
  if (!text) return "–";
  const [year, month, date] = text.slice(0, 10).split("-");
  const parts = { YYYY: year, YY: year.slice(2), MMM: MONTHS[Number(month) - 1], MM: month, DD: date };
  return (tenant.value.date_format || "YYYY-MM-DD").replace(/YYYY|YY|MMM|MM|DD/g, (part) => parts[part]);
}

/** A moment (ISO 8601, UTC) in the tenant's time zone. */
export function moment(text) {
  if (!text) return "–";
  const when = new Date(text);
  const options = { timeZone: tenant.value.timezone || "UTC", hour12: false };
  const parts = Object.fromEntries(
    new Intl.DateTimeFormat("en-GB", { ...options, dateStyle: "short", timeStyle: "short" })
      .formatToParts(when).map(({ type, value }) => [type, value]),
  );
  return `${day(`${parts.year}-${parts.month}-${parts.day}`)} ${parts.hour}:${parts.minute}`;
}

export function bytes(count) {
  if (count === null || count === undefined) return "–";
  const units = ["B", "kB", "MB", "GB"];
  let size = count;
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${number(size, unit ? 1 : 0)} ${units[unit]}`;
}

/** `par_value` as `Par value`. */
export function words(name) {
  const text = String(name ?? "").replaceAll("_", " ").trim();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A cell's value: a number with the decimals that it has, a day in the tenant's format. */
export function written(value) {
  if (typeof value === "number") return number(value, Math.min(6, String(value).split(".")[1]?.length ?? 0));
  if (/^\d{4}-\d\d-\d\d$/.test(value)) return day(value);
  return value === "" || value === null || value === undefined ? "–" : String(value);
}

const SPELT = { cusip: "CUSIP", isin: "ISIN", loanx_id: "LoanX ID" };

/** A field's name: `rating_agency_b_issuer` as "S&P issuer rating", `industry_a` as "Moody's industry". */
export function fieldName(name) {
  const rating = /^(facility_)?(rating_agency_[abc])_?(\w*)$/.exec(name);
  if (rating) return [label(rating[2]), rating[1] && "facility", rating[3].replaceAll("_", " "), "rating"].filter(Boolean).join(" ");
  const other = /^(\w+)_([abc])$/.exec(name);
  return other ? `${label(`rating_agency_${other[2]}`)} ${other[1].replaceAll("_", " ")}` : SPELT[name] ?? words(name);
}

/** Where a row of a document stands: "page 3, line 12"; empty without pages. */
export function pageLine(page, line) {
  return page ? `page ${page}, line ${line}` : "";
}

/** A place as a spreadsheet names it: 'Tests'!C7 of "'Tests'!C7 (page 3, line 12)". */
export function withoutPages(place) {
  return place.replace(/ \(pages? \d+[^()]*\)$/, "");
}

/** "1 loan", "2 loans". */
export function counted(count, noun, plural = `${noun}s`) {
  return `${number(count)} ${count === 1 ? noun : plural}`;
}
