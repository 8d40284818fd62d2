/**
 * One answer of a turn: from the view to what it recorded. It runs detached: no connection keeps it alive, and
 * whoever listens reads the live stream. Every await is a race with stop, interrupt and eviction, so everything is
 * recorded by a command that names the run and is refused if the run is over (docs/design.md §1.3, §1.7).
 */
import type { ModelCall } from "../../domain/commands";
import type { FinishReason } from "../../domain/model-call";
import { type DraftedItem, draftItem } from "../drafts";
import { Efforts, mayHelpElsewhere } from "../retry";
import type { SessionPorts } from "../session-ports";
import { candidatesOf } from "./candidates";
import type { LiveTurn } from "./live-turn";
import type { RoomPorts } from "./make-room";
import type { Failed } from "./rescue";
import { keepCall, type Tried, type TriedInVain, tryModel } from "./try-model";

/**
 * The session's model is asked, and then, while nothing was said, those that its policy names to fall back on. What the first of them failed
 * with is what the turn fails with.
 */
export async function runTurn(live: LiveTurn, ports: RoomPorts): Promise<void> {
  const efforts = new Efforts(live.vain);
  let ended: Failed | null = null;
  for (const candidate of candidatesOf(ports.writer.state)) {
    const tried: Tried = await tryModel(live, { ...candidate, efforts }, ports);
    if (tried.kind === "passed_over") continue;
    if (tried.kind === "answered") return record(live, ports, tried);
    if (tried.kind === "over") return;
    ended = withCall(ended ?? tried, tried.call);
    if (!mayGoOn(tried, efforts)) break;
    if (!keepCall(live, tried.call, ports)) return;
    ended = withCall(ended, null);
  }
  if (ended) fail(live, ports, ended);
}

const withCall = ({ failure }: Failed, call: ModelCall | null): Failed => ({ failure, call });

const mayGoOn = ({ silent, failure }: TriedInVain, efforts: Efforts): boolean =>
  silent && mayHelpElsewhere(failure.kind) && !efforts.isSpent;

/** The reply and its calls, in one step: never a call without the words that led to it. */
function record(live: LiveTurn, ports: SessionPorts, answer: { finish: FinishReason; call: ModelCall }): void {
  const { writer, clock, ids } = ports;
  const at = clock();
  const { turn } = live.run;
  const { model } = answer.call;
  const said = live.spoken.whole;
  const reply = said.words.length > 0 ? draftItem({ kind: "assistant", parts: said.words, turn, at, model }, ids) : null;
  const calls = said.calls.map(({ call: part, thinking }): DraftedItem => {
    const tool = { execution: ids.newId("exe"), call_id: part.call_id, name: part.name };
    return draftItem({ kind: "tool_call", parts: [...thinking, part], turn, at, tool, model }, ids);
  });
  const drafted = [...(reply ? [reply] : []), ...calls];
  const bodies = drafted.map((item) => item.body);
  const { call, finish } = answer;
  const command = {
    type: "RecordAssistant",
    at,
    ...live.run,
    call,
    reply: reply?.draft ?? null,
    calls: calls.map((item) => item.draft),
    finish,
  } as const;
  const recorded = writer.execute(command, bodies);
  live.call = null;
  if (!recorded.ok) ports.log.info("reply_not_recorded", { turn, code: recorded.error.code });
}

function fail(live: LiveTurn, ports: SessionPorts, ended: Failed): void {
  const { writer, clock, ids, log } = ports;
  const at = clock();
  const partial = live.parts.length > 0 ? draftItem({ kind: "assistant", parts: live.parts, turn: live.run.turn, at }, ids) : null;
  const command = { type: "FailTurn", at, ...live.run, ...ended, partial: partial?.draft ?? null } as const;
  const recorded = writer.execute(command, partial ? [partial.body] : []);
  live.call = null;
  if (recorded.ok) log.warn("turn_failed", { turn: live.run.turn, kind: ended.failure.kind, status: ended.failure.status });
}
