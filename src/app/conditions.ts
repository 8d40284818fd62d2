/**
 * Conditional requests (RFC 9110 §13): a client changes a resource only if it is as the client read it. Etags are computed alike where a
 * resource is shown and where it is changed, and the owner compares them in the transaction of the change.
 */
import { err, type Result } from "../lib/result";

/** `*`: any state of a resource that exists. */
type Tags = "*" | readonly string[];

/** The conditions of a request. Null: the request does not name it. */
export interface Condition {
  /** The resource must exist and have one of these etags. */
  readonly match: Tags | null;
  /** The resource must have none of these etags; with `*` it must not exist. */
  readonly none_match: Tags | null;
}

/** `etag`: of the resource as it is. Null: it does not exist. */
export interface UnmetCondition {
  readonly code: "precondition_failed";
  readonly etag: string | null;
}

/** Null when the change may be made. `etag`: of the resource as it is; null: it does not exist. */
export function refuseUnmet(condition: Condition | undefined, etag: string | null): Result<never, UnmetCondition> | null {
  if (!condition) return null;
  const { match, none_match } = condition;
  const isMet = (match === null || isAmong(match, etag)) && (none_match === null || !isAmong(none_match, etag));
  return isMet ? null : err({ code: "precondition_failed", etag });
}

const isAmong = (tags: Tags, etag: string | null): boolean => etag !== null && (tags === "*" || tags.includes(etag));

/** The entity tag of what `shown` holds, whatever the order of its properties. */
export function toEtag(shown: object): string {
  return `"${hashText(JSON.stringify(shown, sortProperties))}"`;
}

function sortProperties(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/**
 * Two multiplicative hashes over UTF-16 units, 64 bits in hexadecimal. It is not for security, and synchronous because a transaction
 * cannot wait for a digest.
 */
function hashText(text: string): string {
  let [one, other] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    one = Math.imul(one ^ unit, 2_654_435_761);
    other = Math.imul(other ^ unit, 1_597_334_677);
  }
  const first = mix(one, other);
  return toHex(first) + toHex(mix(other, first));
}

const mix = (one: number, other: number): number =>
  Math.imul(one ^ (one >>> 16), 2_246_822_507) ^ Math.imul(other ^ (other >>> 13), 3_266_489_909);
const toHex = (bits: number): string => (bits >>> 0).toString(16).padStart(8, "0");
