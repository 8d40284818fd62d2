/** The result of checking a value by a schema, and the checks that need no other schema. */
import type { Fields } from "./schema-parts";

/** The value under check, and its place in the arguments. */
export interface Place {
  readonly value: unknown;
  /** Property name or index in the parent. Null for the whole value. */
  readonly key: string | number | null;
  readonly within: Place | null;
  readonly nesting: number;
}

/** `text` is called only when the fault is reported, because most faults belong to alternatives that need not match. */
interface Fault {
  readonly place: Place;
  readonly text: () => string;
}

export interface Verdict {
  readonly faults: readonly Fault[];
  /** Whether a fault may have been missed. */
  readonly unsure: boolean;
}

/** The most faults to report; more do not help a model. */
const MAX_FAULTS = 5;

export const FINE: Verdict = { faults: [], unsure: false };
export const UNSURE: Verdict = { faults: [], unsure: true };

export const fault = (place: Place, text: () => string): Verdict => ({ faults: [{ place, text }], unsure: false });
export const failIf = (isFault: boolean, place: Place, text: () => string): Verdict => (isFault ? fault(place, text) : FINE);

/** Collects several verdicts on one value. */
export class Findings implements Verdict {
  readonly faults: Fault[] = [];
  unsure = false;

  add(verdict: Verdict): void {
    if (verdict === FINE) return;
    this.faults.push(...verdict.faults.slice(0, MAX_FAULTS - this.faults.length));
    this.unsure ||= verdict.unsure;
  }

  /** True when further faults would not be reported. */
  get isFull(): boolean {
    return this.faults.length >= MAX_FAULTS;
  }
}

export const fails = ({ faults }: Verdict): boolean => faults.length > 0;
export const isSure = (verdict: Verdict): boolean => !fails(verdict) && !verdict.unsure;

/** The verdict as the model reads it: each fault with the path of its field. */
export const describeFaults = ({ faults }: Verdict): readonly string[] => [
  ...new Set(faults.map(({ place, text }) => `${formatPath(place)}: ${text()}`)),
];

const MAX_PATH = 400;
function formatPath(place: Place): string {
  const keys: (string | number)[] = [];
  for (let at: Place | null = place; at; at = at.within) if (at.key !== null) keys.unshift(at.key);
  const path = keys.join(".");
  return path.length > MAX_PATH ? `${path.slice(0, MAX_PATH).toWellFormed()}…` : path || "arguments";
}

export const toArray = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const part = (within: Place, key: string | number, value: unknown): Place => ({ value, key, within, nesting: within.nesting });

/** The verdict when no schema of several matched: the faults of each say most. */
export function none(verdicts: readonly Verdict[], place: Place): Verdict {
  const inner = new Findings();
  for (const verdict of verdicts) inner.add(verdict);
  return fails(inner) ? inner : fault(place, () => "must match one of several schemas, and none is given");
}

const TYPES: readonly unknown[] = ["null", "boolean", "object", "array", "number", "string", "integer"];

export function typeFault(types: readonly unknown[], place: Place): Verdict {
  const wanted = types.filter((each) => TYPES.includes(each));
  const actual = toJsonType(place.value);
  const isWanted = (each: unknown): boolean => each === actual || (each === "integer" && Number.isInteger(place.value));
  return failIf(wanted.length > 0 && !wanted.some(isWanted), place, () => `must be ${wanted.join(" or ")}, not ${actual}`);
}

function toJsonType(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

export function numberFaults(schema: Fields, value: number, place: Place): Verdict {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  const found = new Findings();
  const check = (isFault: boolean, text: () => string): void => found.add(failIf(isFault, place, text));
  check(typeof minimum === "number" && value < minimum, () => `must be ${minimum} or more`);
  check(typeof maximum === "number" && value > maximum, () => `must be ${maximum} or less`);
  check(typeof exclusiveMinimum === "number" && value <= exclusiveMinimum, () => `must be more than ${exclusiveMinimum}`);
  check(typeof exclusiveMaximum === "number" && value >= exclusiveMaximum, () => `must be less than ${exclusiveMaximum}`);
  check(typeof multipleOf === "number" && !isMultiple(value, multipleOf), () => `must be a multiple of ${multipleOf}`);
  return found;
}

/** Decimal steps, for example 0.01, are not exact in binary. */
function isMultiple(value: number, step: number): boolean {
  if (step <= 0) return true;
  const times = value / step;
  // A quotient that is too large to decide is no fault.
  return !(Math.abs(times - Math.round(times)) > Number.EPSILON * Math.max(1, Math.abs(times)) * 4);
}

const MAX_LISTED = 200;
export function listed(allowed: readonly unknown[]): string {
  const text = allowed
    .slice(0, MAX_LISTED)
    .map((each) => JSON.stringify(each))
    .join(", ");
  const shown = text.length > MAX_LISTED * 4 ? `${text.slice(0, MAX_LISTED * 4).toWellFormed()}…` : text;
  return allowed.length === 1 ? shown : `one of ${shown}`;
}
