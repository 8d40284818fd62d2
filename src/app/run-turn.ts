/**
 * One model call of a turn, from the view to what it recorded. It runs detached: no connection keeps it alive, and
 * whoever listens reads the live stream. Every await is a race with stop, interrupt and eviction, so everything is
 * recorded by a command that names the run and is refused if the run is over (docs/design.md §1.3, §1.7).
 */
import { rawViewTokens } from "../context/budget";
import { rentOfCall } from "../context/planner";
import { policyOf } from "../context/policy-choice";
import type { ModelCall } from "../domain/commands";
import type { TurnFailure } from "../domain/events";
import type { ToolCallPart } from "../domain/message";
import type { FinishReason } from "../domain/model-call";
import { assertNever } from "../lib/assert-never";
import { buildRequest, limitsOf } from "./build-request";
import { type DraftedItem, draftItem } from "./drafts";
import { CallUnderWay, type LiveTurn } from "./live-turn";
import { isCurrent, makeRoom, type RoomPorts } from "./make-room";
import type { ModelChunk, ModelSpec } from "./ports";
import { type Failed, rescue } from "./rescue";
import { resolveModel } from "./resolve-model";
import type { SessionPorts } from "./session-ports";
import { watchDeadlines } from "./watch-deadlines";

/** A reply at most, its calls and their signatures included, in UTF-16 units: the endpoint may be a tenant's own, and the memory is shared. */
const MAX_REPLY_UNITS = 500_000;

export async function runTurn(live: LiveTurn, ports: RoomPorts): Promise<void> {
  const resolved = await resolveModel(ports.writer.state.settings.model, ports);
  if (!isCurrent(live, ports)) return;
  if (!resolved.ok) return fail(live, ports, { failure: { kind: resolved.error, status: null }, call: null });
  const spec = resolved.value;
  for (let rescues = 0; ; rescues++) {
    const room = await makeRoom(live, spec, ports);
    if (!room.ok) return room.error === "stopped" ? undefined : fail(live, ports, { failure: room.error, call: null });
    const answer = await callModel(live, spec, ports);
    if (answer.outcome.kind === "finished") return record(live, ports, { finish: answer.outcome.finish, call: answer.call });
    const refused = { failure: answer.outcome.failure, call: answer.call, called: answer.calls.length > 0 };
    const failed = await rescue(live, { refused, spec, rescues }, ports);
    if (failed) return fail(live, ports, failed);
  }
}

interface Answer {
  readonly calls: readonly ToolCallPart[];
  readonly outcome:
    | { readonly kind: "finished"; readonly finish: FinishReason }
    | { readonly kind: "failed"; readonly failure: TurnFailure };
  readonly call: ModelCall;
}

async function callModel(live: LiveTurn, spec: ModelSpec, ports: SessionPorts): Promise<Answer> {
  const { clock, writer } = ports;
  const request = buildRequest(ports.content, spec);
  const { state } = writer;
  const rent = rentOfCall({ state, limits: limitsOf(spec), policy: policyOf(state.settings.policy), now: clock() });
  const asked = { model: spec.id, epoch: state.view.epoch, up_to: state.next_position - 1, estimate: rawViewTokens(state) };
  const call = new CallUnderWay({ turn: live.run.turn, ...asked, ...(rent > 0 ? { rent } : {}) }, clock());
  live.call = call;
  let noted = Promise.resolve();
  const onRequest = (body: string): void => {
    noted = note(call, { live, digest: ports.digest(body).catch(() => null) }, ports);
  };
  const heard = await listen(
    live,
    (onProgress) => ports.model.stream(request, { signal: live.abort.signal, onRequest, onProgress }),
    ports,
  );
  await noted;
  const { outcome, calls } = heard;
  return { calls, outcome, call: call.endedAs(outcome.kind === "failed" ? outcome.failure.kind : outcome.finish, clock()) };
}

/** Once the request's digest is known: should the object die after this, the next life can say what was asked. */
async function note(call: CallUnderWay, of: { live: LiveTurn; digest: Promise<string | null> }, ports: SessionPorts): Promise<void> {
  call.request_digest = await of.digest;
  if (isCurrent(of.live, ports)) ports.noteCall(call.endedAs("crashed", null));
}

interface Heard {
  readonly calls: ToolCallPart[];
  outcome: Answer["outcome"];
}

type Ask = (onProgress: () => void) => AsyncIterable<ModelChunk>;

/** Reads the stream to its end, showing it as it comes. A deadline aborts it; what was heard stays heard. */
async function listen(live: LiveTurn, ask: Ask, ports: SessionPorts): Promise<Heard> {
  const heard: Heard = { calls: [], outcome: failed("unavailable") };
  const watch = watchDeadlines(ports, live.abort);
  try {
    for await (const chunk of ask(watch.heard)) {
      if (live.abort.signal.aborted) break; // a chunk that was on its way: its turn may be over, and says nothing more
      watch.heard();
      take(chunk, heard, live);
      if (live.spoken.units > MAX_REPLY_UNITS) {
        live.abort.abort();
        return { ...heard, outcome: failed("output_cap") };
      }
      if (isSpoken(chunk) && chunk.text !== "") ports.output.delta(live.run.turn, chunk.type, chunk.text);
    }
  } catch (error) {
    ports.log.error("model_threw", { error: error instanceof Error ? error.name : "unknown" });
    heard.outcome = failed("internal");
  } finally {
    watch.end();
  }
  return watch.expired ? { ...heard, outcome: failed("timeout") } : heard;
}

const isSpoken = (chunk: ModelChunk): chunk is Extract<ModelChunk, { type: "text" | "reasoning" }> =>
  chunk.type === "text" || chunk.type === "reasoning";

const failed = (kind: TurnFailure["kind"]): Answer["outcome"] => ({ kind: "failed", failure: { kind, status: null } });

function take(chunk: ModelChunk, heard: Heard, live: LiveTurn): void {
  switch (chunk.type) {
    case "text":
    case "reasoning":
      live.spoken.add(chunk.type, chunk);
      return;
    case "tool_call":
      heard.calls.push(chunk.call);
      live.spoken.addCall(chunk.call);
      return;
    case "finish":
      heard.outcome = { kind: "finished", finish: chunk.finish };
      if (live.call) live.call.usage = chunk.usage;
      return;
    case "failure":
      heard.outcome = { kind: "failed", failure: chunk.failure };
      return;
    default:
      assertNever(chunk);
  }
}

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
