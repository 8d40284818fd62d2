/**
 * Says zod's issues in the words of this API: what a value must be, never what it is. A schema's own message comes first. Importing this
 * module sets the words for every schema.
 */
import { z } from "zod";
import { assertNever } from "./assert-never";

type RawIssue = z.core.$ZodRawIssue;

const KINDS: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
  null: "null",
};

const FORMATS: Readonly<Record<string, string>> = {
  url: "a URL",
  uuid: "a UUID",
  datetime: "a time in ISO 8601",
  base64: "base64",
};

const UNITS: Readonly<Record<string, string>> = { string: "characters", array: "entries", set: "entries", map: "entries" };

const count = (origin: string, bound: number | bigint): string => {
  const unit = UNITS[origin];
  if (unit === undefined) return String(bound);
  return Number(bound) === 1 ? `1 ${unit.replace(/ies$/, "y").replace(/s$/, "")}` : `${bound} ${unit}`;
};

function describeTooBig({ origin, maximum, inclusive, exact }: z.core.$ZodRawIssue<z.core.$ZodIssueTooBig>): string {
  if (exact) return `must have exactly ${count(origin, maximum)}`;
  if (origin in UNITS) return `must have at most ${count(origin, maximum)}`;
  return `must be ${inclusive === false ? "less than" : "at most"} ${maximum}`;
}

function describeTooSmall({ origin, minimum, inclusive, exact }: z.core.$ZodRawIssue<z.core.$ZodIssueTooSmall>): string {
  if (exact) return `must have exactly ${count(origin, minimum)}`;
  if (origin in UNITS) return Number(minimum) === 1 ? "must not be empty" : `must have at least ${count(origin, minimum)}`;
  return `must be ${inclusive === false ? "more than" : "at least"} ${minimum}`;
}

const quote = (value: unknown): string => (typeof value === "string" ? value : String(value));

function describeIssue(issue: RawIssue): string {
  if (issue.input === undefined) return "required";
  switch (issue.code) {
    case "invalid_type":
      return `must be ${KINDS[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return issue.values.length === 1 ? `must be ${quote(issue.values[0])}` : `must be one of ${issue.values.map(quote).join(", ")}`;
    case "too_big":
      return describeTooBig(issue);
    case "too_small":
      return describeTooSmall(issue);
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`;
    case "invalid_format":
      return issue.format in FORMATS ? `must be ${FORMATS[issue.format]}` : `must match ${issue.pattern ?? issue.format}`;
    case "invalid_key":
      return "has a name that is not allowed";
    case "invalid_union":
      return "has none of the forms that are allowed here";
    case "unrecognized_keys":
      return `unknown ${issue.keys.length === 1 ? "field" : "fields"} ${issue.keys.join(", ")}`;
    case "invalid_element":
    case "custom":
      return "not valid";
    default:
      return assertNever(issue);
  }
}

z.config({ localeError: describeIssue });
