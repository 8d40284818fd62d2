/** A turn as it is reported, as one of its responses. */
import type { TurnReport } from "../../../contract/turn";
import type { SessionId } from "../../../domain/ids";
import type { CallUsage } from "../../../domain/model-call";
import { readIdTime, toLegName } from "../../surface/ids";
import type { WhoRuns } from "../../surface/read-runs";
import type { CompactionItem } from "../items/item-types";
import { listServers, type ResponseAsked } from "./asked";
import { buildOutput } from "./events";
import { findCompletion, findEnd, splitLegs } from "./leg";
import { buildResponse, type ResponseHead } from "./resource";
import { listForms } from "./tools";

export const RESPONSE_PREFIX = "resp_";

interface Named {
  readonly session: SessionId;
  readonly turn: TurnReport;
  readonly leg: number;
  readonly asked: ResponseAsked;
  readonly compaction: CompactionItem | null;
}

/** When the leg was asked for: with its turn, or with the last results of the leg before. */
export function buildHead({ session, turn, leg, asked, compaction }: Named, who: WhoRuns): ResponseHead {
  const id = toLegName(RESPONSE_PREFIX, { session, turn: turn.id, leg });
  const first = splitLegs(turn.items, who)[leg - 1]?.[0];
  const before = turn.items.filter(({ position }) => !first || position < first.position);
  const result =
    leg === 1 ? undefined : before.findLast(({ execution_id }) => execution_id !== undefined && !who.ranHere.has(execution_id));
  return { id, created_at: Math.floor((result?.recorded_at ?? readIdTime(turn.id)) / 1_000), asked, compaction };
}

/** Null when the turn has no such leg. `usage`: of the leg. */
export function showResponse(named: Named, { usage, ...who }: WhoRuns & { readonly usage: CallUsage | null }) {
  const { turn, leg } = named;
  const legs = splitLegs(turn.items, who);
  const messages = legs[leg - 1];
  if (!messages) return null;
  const head = buildHead(named, who);
  const end = findEnd(turn, { isLast: leg === legs.length, messages }, who);
  const tools = { servers: listServers(named.asked), forms: listForms(named.asked.tools) };
  const said = buildOutput(messages, { session: named.session, ...tools, ...who });
  const output = [...(named.compaction && end.status !== "queued" ? [named.compaction] : []), ...said];
  const isOver = end.status !== "queued" && end.status !== "in_progress";
  return buildResponse(head, { end, completed_at: findCompletion(messages, head.created_at), output, usage: isOver ? usage : null });
}
