/** The usage group after which the next page begins, as the client carries it: base64url of a JSON list in UTF-8. */
import type { UsageGroup } from "../app/read-api";

/** A day is a number; the other keys are strings as they are stored. */
export type GroupKey = number | string;

export function toUsageCursor(keys: readonly GroupKey[]): string {
  const bytes = new TextEncoder().encode(JSON.stringify(keys));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

/** Null when the text is no cursor of a list with these groups. */
export function parseUsageCursor(text: string, groups: readonly UsageGroup[]): readonly GroupKey[] | null {
  const keys = decode(text);
  if (!Array.isArray(keys) || keys.length !== groups.length || groups.length === 0) return null;
  const fits = groups.every((group, index) => (group === "day" ? Number.isSafeInteger(keys[index]) : typeof keys[index] === "string"));
  return fits ? keys : null;
}

function decode(text: string): unknown {
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
    return JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return null;
  }
}
