/**
 * An endpoint that refuses requests by rules of its own, in each of the ways of which real ones are known (`test/contract/quirks.test.ts`), and
 * the invariant that no conversation dies of it: a turn gets out by itself (I55).
 */
import type { ModelFailure, ModelRequest } from "../../src/app/ports";
import { findQuirks, type RefusedPart } from "../../src/context/model-quirks";
import type { StoredEvent, TurnFailure } from "../../src/domain/events";
import type { Random } from "./random";
import type { Violations } from "./violation";

/** No other failure of the simulated provider has these. */
const FORM = 422;
const SIZE = 413;

export interface Strict {
  readonly rules: readonly (keyof typeof RULES)[];
  /** The most characters of a body. Null: any. */
  readonly most: number | null;
  /** Whether a refusal says what it is about. */
  readonly explains: boolean;
}

type Rule = (request: ModelRequest) => boolean;

const isSigned = ({ messages }: ModelRequest, to: number): boolean =>
  messages.slice(0, to).some(({ parts }) => parts.some((part) => part.type === "reasoning" && part.provider_metadata !== undefined));
const hasMedia = ({ messages }: ModelRequest, to: number): boolean =>
  messages.slice(0, to).some(({ parts }) => parts.some(({ type }) => type === "image" || type === "file"));
const lastOfUser = ({ messages }: ModelRequest): number => messages.findLastIndex(({ role }) => role === "user");

/** Whether a request breaks the rule. */
const RULES = {
  stream_options: ({ model }) => findQuirks(model).stream_options,
  max_tokens: ({ model, maxOutput }) => maxOutput !== null && findQuirks(model).output_limit === "max_tokens",
  call_ids: ({ model, plain, messages }) =>
    !plain && findQuirks(model).call_ids === "as_is" && messages.some(({ parts }) => parts.some(({ type }) => type === "tool_call")),
  system: ({ model, plain, messages }) =>
    !plain && findQuirks(model).system === "anywhere" && messages.some(({ role }, index) => role === "system" && index > 0),
  alternate_roles: ({ model, plain, messages }) =>
    !plain &&
    !findQuirks(model).alternate_roles &&
    messages.some(({ role }, index) => role === "user" && messages[index - 1]?.role === "user"),
  history: (request) => !request.plain && isSigned(request, lastOfUser(request)),
  media: (request) => !request.plain && hasMedia(request, lastOfUser(request)),
} as const satisfies Record<string, Rule>;

const NAMES = Object.keys(RULES) as (keyof typeof RULES)[];
const HISTORY: ReadonlySet<keyof typeof RULES> = new Set(["history", "media"]);

/** Half of all endpoints are strict about nothing. */
export function drawStrict(random: Random): Strict {
  const isStrict = random.chance(0.5);
  const rules = isStrict ? NAMES.filter(() => random.chance(0.35)) : [];
  return { rules, most: isStrict && random.chance(0.3) ? random.int(18_000, 40_000) : null, explains: random.chance(0.7) };
}

/** The refusal of a request with a body of `length` characters. Null: it is taken. */
export function refuseStrictly({ rules, most, explains }: Strict, request: ModelRequest, length: number): ModelFailure | null {
  if (most !== null && length > most) return { kind: "payload", status: SIZE, ...(explains && { most_bytes: most }) };
  const broken = rules.find((rule) => RULES[rule](request));
  if (!broken) return null;
  if (broken === "media") return { kind: "media", status: FORM, refused: "history" };
  const refused: RefusedPart = broken;
  return { kind: "invalid_param", status: FORM, ...((explains || !HISTORY.has(broken)) && { refused }) };
}

/** What a turn may spend on getting out: failed calls of one answer (docs/turns.md). */
const MOST_FAILED = 8;
const MOST_SMALLER = 3;

/** I55: no turn ends with such a refusal while it may still ask otherwise. */
export function checkNoDeadEnd(events: readonly StoredEvent[], violations: Violations): void {
  let outcomes: string[] = [];
  for (const event of events) {
    if (BEGINS.has(event.type)) outcomes = [];
    if (event.type === "ModelCallFinished" && event.purpose === "turn") outcomes.push(event.outcome);
    if (event.type !== "TurnFailed") continue;
    const { failure } = event;
    const isEarly = isStrict(failure) && !isSpent(failure, outcomes);
    violations.check(!isEarly, "I55", () => `turn ${event.turn} ends with ${failure.kind} after the calls ${outcomes}`);
  }
}

/** What begins an answer. */
const BEGINS: ReadonlySet<string> = new Set(["TurnStarted", "AssistantReplied", "ToolCalled"]);

const isStrict = ({ status }: TurnFailure): boolean => status === FORM || status === SIZE;
const isSpent = ({ status, fit }: TurnFailure, outcomes: readonly string[]): boolean =>
  outcomes.length >= MOST_FAILED ||
  (status === SIZE && (fit !== undefined || outcomes.filter((outcome) => outcome === "payload").length >= MOST_SMALLER));
