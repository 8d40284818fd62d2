/** Reads a response: the leg of a turn, with what it was asked with and what it used. */
import type { TurnReport } from "../../contract/turn";
import type { ExecutionId } from "../../domain/ids";
import { type CallUsage, plusUsage } from "../../domain/model-call";
import { err, ok, type Result } from "../../lib/result";
import type { HttpError } from "../problem";
import type { SessionCalls } from "../session-calls";
import { type Leg, parseLegName, toLegName } from "../surface/ids";
import { readRuns } from "../surface/read-runs";
import { type ResponseAsked, readAsked } from "./response-asked";
import { splitLegs, type WhoRuns } from "./response-leg";
import { RESPONSE_PREFIX, showResponse } from "./show-response";

/** The newest model calls of a session that are read. */
const MOST_CALLS = 1_000;

type Read<T> = Promise<Result<T, HttpError>>;

export interface FoundResponse {
  readonly turn: TurnReport;
  readonly asked: ResponseAsked;
  readonly runs: ReadonlyMap<ExecutionId, "client" | "server">;
  readonly ranHere: ReadonlySet<ExecutionId>;
}

export const parseResponseName = (name: string): Leg | null => parseLegName(RESPONSE_PREFIX, name);

/** The turn of a response. One whose content was deleted is no response any more. */
export async function findResponse(calls: SessionCalls, leg: Leg): Read<FoundResponse> {
  const [turn, settings] = await Promise.all([
    calls.repeatable((api, caller) => api.turn(caller, leg.turn)),
    calls.repeatable((api, caller) => api.askedWith(caller, leg.turn)),
  ]);
  if (!turn.ok) return turn;
  if (!settings.ok) return settings;
  if (settings.value.note === null && settings.value.redacted) return err({ code: "turn_not_found", turn: leg.turn });
  return showTurn(calls, { leg, turn: turn.value, asked: readAsked(settings.value) });
}

/** The response of a turn that was read before. `asked`: of the turn's first response. */
export async function showTurn(
  calls: SessionCalls,
  { leg, turn, asked }: { readonly leg: Leg; readonly turn: TurnReport; readonly asked: ResponseAsked },
): Read<FoundResponse> {
  const executions = await readRuns(calls, turn.items);
  if (!executions.ok) return executions;
  const runs = new Map(executions.value.map((each) => [each.id, each.runs]));
  const ranHere = new Set(executions.value.flatMap((each) => (each.runs === "server" ? [each.id] : [])));
  return ok({ turn, asked: toLegAsked(asked, leg), runs, ranHere });
}

/** A response that follows results of calls continues the response before it. */
export function toLegAsked(asked: ResponseAsked, { session, turn, leg }: Leg): ResponseAsked {
  if (leg === 1 || asked.conversation !== null) return asked;
  return { ...asked, previous_response_id: toLegName(RESPONSE_PREFIX, { session, turn, leg: leg - 1 }) };
}

export async function buildResource(calls: SessionCalls, leg: Leg, { turn, asked, ranHere }: FoundResponse) {
  const usage = await readUsage(calls, { turn, leg: leg.leg, ranHere });
  const shown = showResponse({ session: leg.session, turn, leg: leg.leg, asked }, { usage, ranHere });
  return shown ? ok(shown) : err({ code: "turn_not_found" as const, turn: turn.id });
}

/** What the calls of the leg used. A report tells the usage of all legs of its turn together. */
async function readUsage(
  calls: SessionCalls,
  { turn, leg, ranHere }: WhoRuns & { readonly turn: TurnReport; readonly leg: number },
): Promise<CallUsage | null> {
  const legs = splitLegs(turn.items, { ranHere });
  if (legs.length === 1) return turn.usage;
  const rows = await calls.repeatable((api, caller) => api.usage(caller, { after: null, limit: MOST_CALLS, order: "desc" }));
  if (!rows.ok) return turn.usage;
  const endsAt = (messages: (typeof legs)[number] | undefined): number | undefined =>
    messages?.findLast(({ role }) => role === "assistant")?.recorded_at;
  const since = leg === 1 ? 0 : (endsAt(legs[leg - 2]) ?? 0);
  const until = leg === legs.length ? Number.POSITIVE_INFINITY : (endsAt(legs[leg - 1]) ?? Number.POSITIVE_INFINITY);
  const isOfLeg = (at: number): boolean => at <= until && (leg === 1 || at > since);
  return rows.value.data
    .filter(({ turn_id, source, at }) => turn_id === turn.id && source === "turn" && isOfLeg(at))
    .map(({ input, output, cached, reasoning, cache_write }): CallUsage | null => {
      if (input === null && output === null) return null;
      const known = { input: input ?? 0, output: output ?? 0, cached: cached ?? 0, reasoning: reasoning ?? 0 };
      return cache_write === null ? known : { ...known, cache_write };
    })
    .reduce<CallUsage | null>(plusUsage, null);
}
