/** The legs of drawn turns: the frames that a stream has of them, and the record of them. */
import type { Random } from "../../../scripts/support/random";
import type { StreamFrame } from "../../../src/contract/frame";
import type { TurnReport } from "../../../src/contract/turn";
import type { CallUsage } from "../../../src/domain/model-call";
import type { SessionCalls } from "../../../src/http/session-calls";
import { type RecordedLeg, readRecordedLeg } from "../../../src/http/surface/leg";
import { createLegTranslator, type LegTeller } from "../../../src/http/surface/tell-leg";
import { err, ok } from "../../../src/lib/result";
import type { DrawnTurn } from "../ai-sdk/drawn-turn";
import { makeId, turn } from "../support";

const gone = async () => err({ code: "session_erased" } as const);

interface Telling {
  readonly teller: LegTeller;
  /** Absent: the record is gone. */
  readonly recorded?: RecordedLeg;
  readonly isPast?: boolean;
}

/** The text that a client gets of the frames. */
export async function tell(frames: readonly StreamFrame[], { teller, recorded, isPast = false }: Telling): Promise<string> {
  const translator = createLegTranslator({ teller, readRecord: recorded ? async () => ok(recorded) : gone, isPast });
  return frames.map((frame, offset) => translator.frame(frame, offset)).join("") + (await translator.end());
}

/** How many messages the list of a drawn session has on a page. */
const PAGE = 3;

/** Calls of a session that has drawn turns. */
function connectTo({ executions, items }: DrawnTurn, report: TurnReport): SessionCalls {
  const api = {
    waitForTurn: async () => ok(report),
    executions: async (_: unknown, { after }: { readonly after: number }) =>
      ok({ data: executions.filter(({ position }) => position > after), has_more: false }),
    items: async (_: unknown, { after }: { readonly after: number }) => {
      const rest = items.filter(({ position }) => position > after && position <= (report.items.at(-1)?.position ?? 0));
      return ok({ data: rest.slice(0, PAGE), has_more: rest.length > PAGE });
    },
    usage: gone,
  };
  return { repeatable: (work: (given: unknown, caller: unknown) => unknown) => work(api, null) } as unknown as SessionCalls;
}

export async function readDrawn(drawn: DrawnTurn, { report, after }: ReportedLeg): Promise<RecordedLeg> {
  const read = await readRecordedLeg(connectTo(drawn, report), { turn: report.id, after });
  if (!read.ok) throw new Error(read.error.code);
  return read.value;
}

export const TOTAL = { input: 30, output: 9, cached: 4, reasoning: 2, cache_write: 5 } as const;
const HALVES: readonly CallUsage[] = [
  { input: 10, output: 3, cached: 4, reasoning: 0, cache_write: 5 },
  { input: 20, output: 6, cached: 0, reasoning: 2 },
];

/** Two calls of the turn, and one that is not the turn's own. */
export function tellUsage(frames: readonly StreamFrame[], random: Random): StreamFrame[] {
  const numbers = {
    context_window: null,
    assumed_window: null,
    current_context_tokens: { tokens: 1, source: "estimated", error_bound: 0 },
  } as const;
  const toFrame = (usage: CallUsage, source: "turn" | "title"): StreamFrame => ({
    type: "usage.updated",
    turn_id: makeId("trn"),
    source,
    model: "m",
    usage,
    cost: null,
    ...numbers,
  });
  const told = [...HALVES.map((usage) => toFrame(usage, "turn")), toFrame(TOTAL, "title")];
  const at = random.between(0, frames.length - 1);
  return [...frames.slice(0, at), ...told, ...frames.slice(at)];
}

interface ReportedLeg {
  readonly report: TurnReport;
  /** The last position before the leg. */
  readonly after: number;
}

/** The turn as it is reported when the leg has ended. */
export function reportLeg({ legs, items }: DrawnTurn, nth: number): ReportedLeg {
  const positions = (frames: readonly StreamFrame[]) =>
    frames.flatMap((frame) => (frame.type === "item.completed" ? [frame.item.position] : []));
  const last = Math.max(0, ...legs.slice(0, nth + 1).flatMap(positions));
  const after = Math.max(0, ...legs.slice(0, nth).flatMap(positions));
  const end = legs[nth]?.at(-1);
  const base = turn({ items: items.filter(({ position }) => position <= last), usage: TOTAL });
  if (end?.type === "turn.awaiting_tools") return { after, report: { ...base, status: "awaiting_tools", open_calls: end.tool_calls } };
  if (end?.type === "turn.completed") return { after, report: { ...base, status: "completed", finish: end.finish } };
  return { after, report: { ...base, status: end?.type === "turn.stopped" ? "stopped" : "interrupted", finish: null } };
}

/** A part of the reply was told before the model began it anew. */
export function isTorn(frames: readonly StreamFrame[]): boolean {
  let isSaying = false;
  return frames.some((frame) => {
    if (frame.type === "item.completed") isSaying = false;
    if (frame.type === "text.delta" || frame.type === "reasoning.delta") isSaying = true;
    return isSaying && frame.type === "turn.resumed";
  });
}
