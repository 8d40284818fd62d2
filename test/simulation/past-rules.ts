/**
 * I8, I9 for past requests: a rebuilt request equals the sent one, and a state along the log equals the fold up to that
 * point, from any checkpoint.
 */
import { isDeepStrictEqual } from "node:util";
import { toModelSpec } from "../../src/app/asked-model";
import { buildFittedRequest } from "../../src/app/request/build-request";
import type { StoredEvent } from "../../src/domain/events";
import { fold } from "../../src/domain/evolve";
import { findRequest } from "../../src/session/calls/past-request";
import { readCheckpoint, stateAt, writeCheckpoint } from "../../src/session/log/checkpoints";
import { readTurnCalls } from "../../src/session/log/turn-calls";
import type { SessionRuntime } from "../../src/session/runtime";
import { render } from "./sim-model";
import { digestText, type World } from "./world";

/** The approximate number of a story's calls and seqs that are checked. */
const SAMPLES = 12;

function sample<T>(all: readonly T[]): readonly T[] {
  const step = Math.max(1, Math.ceil(all.length / SAMPLES));
  return all.filter((_, index) => index % step === 0);
}

export function checkPast(world: World, events: readonly StoredEvent[]): void {
  const { runtime } = world.wake();
  const calls = events.flatMap((event) => (event.type === "ModelCallFinished" && event.purpose === "turn" ? [event] : []));
  const chose = new Set(
    events.flatMap((event) => (event.type === "TurnStarted" && (event.model || event.generation || event.system) ? [event.turn] : [])),
  );
  for (const { seq, turn, request_digest } of sample(calls)) {
    if (!turn || request_digest === null) continue;
    const n = readTurnCalls(runtime.deps.sql, turn).findIndex((call) => call.seq === seq) + 1;
    const rebuilt = rebuild(runtime, { turn, n });
    if (rebuilt === null) continue;
    world.violations.check(
      rebuilt === request_digest,
      "I8",
      () => `the request of call ${n} of ${turn} is told otherwise than it was sent`,
    );
    world.stats.count(chose.has(turn) ? "requests told again with choices" : "requests told again");
  }
  for (const seq of sample(events.map((event) => event.seq))) checkState(world, { seq, events });
}

/** The request's digest. Null when redacted content makes it unknown. */
function rebuild(runtime: SessionRuntime, { turn, n }: { turn: Parameters<typeof findRequest>[1]; n: number }): string | null {
  const found = findRequest(runtime, turn, n);
  if (!found.ok) return found.error.code;
  if (found.value.isRedacted) return null;
  const { call, content } = found.value;
  const spec = call.asked ? toModelSpec(call.model, call.asked.model) : null;
  if (!call.asked || !spec) return "nothing was recorded";
  const { max_output, plain = false } = call.asked;
  return digestText(render(buildFittedRequest(content, spec, { maxOutput: max_output, reservation: null, plain }).request).body);
}

function checkState({ sql, violations }: World, { seq, events }: { readonly seq: number; readonly events: readonly StoredEvent[] }): void {
  const folded = fold(events.slice(0, seq));
  const told = sql.transaction(() => stateAt(sql, seq));
  violations.check(isDeepStrictEqual(told, folded), "I9", () => `the state at ${seq} differs from the fold of the log to there`);
  writeCheckpoint(sql, folded);
  const same = isDeepStrictEqual(readCheckpoint(sql, seq), JSON.parse(JSON.stringify(folded)));
  violations.check(same, "I9", () => `a checkpoint at ${seq} reads as another state`);
}
