/** Parses a look-up's arguments as a model or a client writes them, before anything is read. */
import { type ExecutionId, parseId, type SessionId } from "../../domain/ids";
import { err, ok, type Result } from "../../lib/result";

export interface PositionRange {
  readonly from: number;
  readonly to: number;
}

export type RecallRequest =
  | { readonly kind: "words"; readonly query: string; readonly range: PositionRange | null }
  | { readonly kind: "execution"; readonly execution: ExecutionId; readonly offset: number }
  | { readonly kind: "range"; readonly range: PositionRange; readonly offset: number }
  /** The newest items that left the view. */
  | { readonly kind: "newest" };

/** `field`: the invalid argument. */
export interface RecallFault {
  readonly field: string;
  readonly detail: string;
}

export type RecallArguments = Readonly<Record<string, unknown>>;

/** What the model writes as `session_id`. It need not know the id, which no session's request holds in front of the conversation. */
export const THIS_SESSION = "current";

/** The session whose record is searched, and its last position. */
export interface RecallScope {
  readonly session: SessionId | null;
  readonly last: number;
}

type Parsed<T> = Result<T, RecallFault>;
const fault = (field: string, detail: string): Result<never, RecallFault> => err({ field, detail });

/** Models leave an argument out by sending an empty string or position 0, so both count as absent. */
export function parseRecall(given: RecallArguments, scope: RecallScope): Parsed<RecallRequest> {
  const wrong = findWrongType(given) ?? findForeign(given, scope);
  if (wrong) return err(wrong);
  const query = parseText(given.query);
  const offset = parseNumber(given.offset) ?? 0;
  if (parseText(given.execution_id)) return parseExecution(given, offset);
  const range = parseRange(given, scope);
  if (!range.ok) return range;
  if (query && offset > 0) return fault("offset", "not with query: it skips characters of an execution or of a range of positions");
  if (query) return ok({ kind: "words", query, range: range.value });
  if (range.value) return ok({ kind: "range", range: range.value, offset });
  if (parseText(given.session_id)) return ok({ kind: "newest" });
  return fault("query", "missing: say words to look for, an execution_id, or from and to");
}

const TEXTS = ["query", "execution_id", "session_id"] as const;
const NUMBERS = ["from", "to", "offset"] as const;

function findWrongType(given: RecallArguments): RecallFault | null {
  for (const field of TEXTS) {
    if (given[field] !== undefined && given[field] !== null && typeof given[field] !== "string")
      return { field, detail: "must be a string" };
  }
  for (const field of NUMBERS) {
    const value = given[field];
    if (value !== undefined && value !== null && !(Number.isSafeInteger(value) && Number(value) >= 0)) {
      return { field, detail: "must be a whole number that is not negative" };
    }
  }
  return null;
}

/** Rejects every other session's id, so that no caller can search another session's record. The answer says this session's. */
function findForeign(given: RecallArguments, { session }: RecallScope): RecallFault | null {
  const asked = parseText(given.session_id);
  return asked === null || asked === THIS_SESSION || asked === session
    ? null
    : { field: "session_id", detail: `only this session can be looked up: "${THIS_SESSION}", or ${session ?? ""}` };
}

function parseExecution(given: RecallArguments, offset: number): Parsed<RecallRequest> {
  const other = parseText(given.query) ? "query" : parseNumber(given.from) ? "from" : parseNumber(given.to) ? "to" : null;
  if (other) return fault(other, "not together with execution_id");
  const execution = parseId("exe", parseText(given.execution_id) ?? "");
  return execution ? ok({ kind: "execution", execution, offset }) : fault("execution_id", "must be an id of the form exe_…");
}

function parseRange(given: RecallArguments, { last }: RecallScope): Parsed<PositionRange | null> {
  const [from, to] = [parseNumber(given.from) || null, parseNumber(given.to) || null];
  if (from === null && to === null) return ok(null);
  const range = { from: from ?? 1, to: Math.min(to ?? last, last) };
  if (range.from > last) return fault("from", `the last position is ${last}`);
  if (to !== null && to < range.from) return fault("to", "must not be less than from");
  return ok(range);
}

const parseText = (value: unknown): string | null => (typeof value === "string" && value.trim() !== "" ? value.trim() : null);
const parseNumber = (value: unknown): number | null => (typeof value === "number" ? value : null);
