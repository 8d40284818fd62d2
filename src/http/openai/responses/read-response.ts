/** Reads a response: the leg of a turn, with what it was asked with and what it used. */
import type { DisplayItem } from "../../../contract/item";
import { finishReason, type LedgerRow } from "../../../contract/model-call";
import type { TurnReport } from "../../../contract/turn";
import type { ExecutionId } from "../../../domain/ids";
import type { CallUsage } from "../../../domain/model-call";
import { err, ok, type Result } from "../../../lib/result";
import type { HttpError } from "../../problem";
import type { SessionCalls } from "../../session-calls";
import { type NamedLeg, parseLegName, toLegName } from "../../surface/ids";
import { listReplyCalls, sumCallUsage } from "../../surface/leg-usage";
import { readRuns, sortRuns, type WhoRuns } from "../../surface/read-runs";
import { toReferenceItem } from "../items/compaction-item";
import type { CompactionItem } from "../items/item-types";
import { type ResponseAsked, readNote } from "./asked";
import { splitLegs } from "./leg";
import { RESPONSE_PREFIX, showResponse } from "./show-response";

type Read<T> = Promise<Result<T, HttpError>>;

export interface FoundResponse extends WhoRuns {
  readonly turn: TurnReport;
  readonly asked: ResponseAsked;
  readonly runs: ReadonlyMap<ExecutionId, "client" | "server">;
  /** The first item of its output. Null: it has none. */
  readonly compaction: CompactionItem | null;
}

export const parseResponseName = (name: string): NamedLeg | null => parseLegName(RESPONSE_PREFIX, name);

/** The turn of a response. One whose content was deleted is no response any more. */
export async function findResponse(calls: SessionCalls, leg: NamedLeg): Read<FoundResponse> {
  const [turn, settings] = await Promise.all([
    calls.repeatable((api, caller) => api.turn(caller, leg.turn)),
    calls.repeatable((api, caller) => api.askedWith(caller, leg.turn)),
  ]);
  if (!turn.ok) return turn;
  if (!settings.ok) return settings;
  if (settings.value.note === null && settings.value.redacted) return err({ code: "turn_not_found", turn: leg.turn });
  const asked = readNote(settings.value);
  return showTurn(calls, { leg, turn: turn.value, asked, compaction: await findFirstItem(calls, leg, asked) });
}

/** The response of a turn that was read before. `asked`: of the turn's first response. */
export async function showTurn(
  calls: SessionCalls,
  { leg, turn, asked, compaction }: { readonly leg: NamedLeg } & Pick<FoundResponse, "turn" | "asked" | "compaction">,
): Read<FoundResponse> {
  const executions = await readRuns(calls, turn.items);
  if (!executions.ok) return executions;
  const runs = new Map(executions.value.map((each) => [each.id, each.runs]));
  return ok({ turn, asked: toLegAsked(asked, leg), runs, compaction, ...sortRuns(executions.value) });
}

/** A turn is compacted before it begins, and not while it waits. */
export const findFirstItem = async (
  calls: SessionCalls,
  leg: NamedLeg,
  { compaction }: Pick<ResponseAsked, "compaction">,
): Promise<CompactionItem | null> => (leg.leg === 1 && compaction !== null ? toReferenceItem(calls, leg.turn) : null);

/** A response that follows results of calls continues the response before it. */
export function toLegAsked(asked: ResponseAsked, { session, turn, leg }: NamedLeg): ResponseAsked {
  if (leg === 1 || asked.conversation !== null) return asked;
  return { ...asked, previous_response_id: toLegName(RESPONSE_PREFIX, { session, turn, leg: leg - 1 }) };
}

export async function buildResource(calls: SessionCalls, leg: NamedLeg, { turn, asked, compaction, ranHere, approvals }: FoundResponse) {
  const usage = await readUsage(calls, { turn, leg: leg.leg, ranHere, approvals });
  const shown = showResponse({ session: leg.session, turn, leg: leg.leg, asked, compaction }, { usage, ranHere, approvals });
  return shown ? ok(shown) : err({ code: "turn_not_found" as const, turn: turn.id });
}

/** What the calls of the leg used. A report tells the usage of all legs of its turn together. */
async function readUsage(
  calls: SessionCalls,
  { turn, leg, ...who }: WhoRuns & { readonly turn: TurnReport; readonly leg: number },
): Promise<CallUsage | null> {
  const legs = splitLegs(turn.items, who).map(countReplies);
  if (legs.length === 1) return turn.usage;
  const rows = await listReplyCalls(calls, turn);
  return rows ? sumCallUsage(takeLeg(rows, legs, leg)) : turn.usage;
}

const countReplies = (messages: readonly DisplayItem[]): number => messages.filter(({ role }) => role === "assistant").length;
const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0);

const ANSWERED: ReadonlySet<string> = new Set(finishReason.options);

/** Each reply came from one call that was answered. Calls that failed belong to the reply after them. `replies`: of each leg. */
function takeLeg(rows: readonly LedgerRow[], replies: readonly number[], leg: number): readonly LedgerRow[] {
  const answered = rows.filter(({ outcome }) => ANSWERED.has(outcome)).length;
  const isLast = leg === replies.length;
  const [from, to] = [sum(replies.slice(0, leg - 1)), isLast ? Number.POSITIVE_INFINITY : sum(replies.slice(0, leg))];
  // The oldest calls of a long turn may be missing.
  let place = Math.max(0, sum(replies) - answered);
  return rows.filter(({ outcome }) => {
    const isOfLeg = place >= from && place < to;
    if (ANSWERED.has(outcome)) place++;
    return isOfLeg;
  });
}
