/**
 * Makes one model call for a turn: builds the request from the view and shows the reply as it streams. Every call has its own abort
 * controller, so that a deadline ends the call and not the turn.
 */
import { toCallCacheReadCost } from "../../context/planner";
import { toPolicy } from "../../context/policy-choice";
import { redactSecrets } from "../../context/redact-secrets";
import { Sizing } from "../../context/sizing";
import type { ModelCall } from "../../domain/commands";
import type { TurnFailure } from "../../domain/events";
import type { FinishReason } from "../../domain/model-call";
import { assertNever } from "../../lib/assert-never";
import { toErrorName } from "../../lib/error-name";
import { toAskedModel } from "../asked-model";
import { isPaidByTenant } from "../key-source";
import { toPlausibleUsage } from "../plausible-usage";
import type { CallOptions, ModelSpec, ModelStreamPart } from "../ports";
import { buildFittedRequest, toModelLimits } from "../request/build-request";
import type { SentFailure } from "../request/lessons";
import type { SessionPorts } from "../session-ports";
import { type LiveTurn, PendingCall } from "./live-turn";
import { isCurrent } from "./make-room";
import type { Excerpt } from "./recover-overflow";
import { watchDeadlines } from "./watch-deadlines";

/**
 * The largest reply, in UTF-16 units, including its tool calls and their signatures. The endpoint may be a tenant's own, and the isolate's
 * memory is shared.
 */
export const MAX_REPLY_UNITS = 500_000;

/** The most UTF-16 units of an excerpt. */
const EXCERPT_UNITS = 300;
/** An address may be signed by its query. */
const QUERY = /(https?:\/\/[^\s?"'<>]{1,2000})\?[^\s"'<>]+/gi;

/** The beginning of what a provider said of its failure, in one line and without secrets. */
function toExcerpt(message: string): string {
  const line = message.replaceAll(/\s+/g, " ").replaceAll(QUERY, "$1?[secret:query]");
  const plain = redactSecrets(line).text.toWellFormed();
  return plain.slice(0, endOfCharacter(plain, EXCERPT_UNITS));
}

interface ModelReply {
  /**
   * True when the model sent no part of an answer: no text and no tool call. After a timeout it also requires that the provider reported no
   * progress on an answer.
   */
  readonly silent: boolean;
  readonly outcome:
    | { readonly kind: "finished"; readonly finish: FinishReason }
    | { readonly kind: "failed"; readonly failure: TurnFailure; readonly refusal: SentFailure; readonly excerpt?: Excerpt };
  readonly call: ModelCall;
}

export interface Asking {
  readonly spec: ModelSpec;
  /** The most tokens of the reply; null: no cap is named, and the reply may use what is left of the window. */
  readonly maxOutput: number | null;
  /** What the call is paid with. Null: no budget counts it. */
  readonly reservation: number | null;
  /** Whether the conversation is rendered in the plainest way. */
  readonly plain: boolean;
}

export async function askModel(live: LiveTurn, { spec, ...asking }: Asking, ports: SessionPorts): Promise<ModelReply> {
  const { maxOutput, reservation, plain } = asking;
  const { clock, writer } = ports;
  const at = clock();
  const { state } = writer;
  const rent = toCallCacheReadCost({ state, limits: toModelLimits(spec), policy: toPolicy(state.settings.policy), now: at });
  const read = {
    model: spec.id,
    epoch: state.view.epoch,
    up_to: state.next_position - 1,
    estimate: new Sizing(state, spec).raw,
  };
  const { request, leftOut } = buildFittedRequest(ports.content, spec, asking);
  const asked = {
    seq: state.seq,
    at,
    max_output: maxOutput,
    model: toAskedModel(spec),
    ...(leftOut.length > 0 && { left_out: leftOut }),
    ...(plain && { plain }),
  };
  const call = new PendingCall(
    { turn: live.run.turn, ...read, asked, ...(rent > 0 ? { rent } : {}), ...toStartRatio(spec) },
    { startedAt: at, prices: spec.prices, reservation },
  );
  noteCall(call, ports);
  live.call = call;
  let noted = Promise.resolve();
  const onRequest = (body: string): void => {
    call.sent = true;
    call.length = body.length;
    noted = note(call, { live, digest: ports.digest(body).catch(() => null) }, ports);
  };
  const redacted = isPaidByTenant(spec) ? state.redactions : null;
  const ask: Ask = (signals) => ports.model.stream({ ...request, at }, { ...signals, onRequest });
  const heard = await listen(live, { ask, spec, redacted }, ports);
  await noted;
  call.isRefused = isRefused(heard);
  call.usage = toPlausibleUsage(call.usage, { request, estimate: read.estimate, units: live.spoken.units });
  const { outcome, silent } = heard;
  return { silent, outcome, call: call.endedAs(outcome.kind === "failed" ? outcome.failure.kind : outcome.finish, clock()) };
}

/** Notes the call before it is made. It throws when the note cannot be stored, and then no call is made. */
function noteCall(call: PendingCall, ports: SessionPorts): void {
  try {
    ports.noteCall(call.endedAs("crashed", null));
  } catch (error) {
    ports.budgets.release(call.reservation);
    throw error;
  }
}

/** Whether the provider answered with an error in place of a reply. */
const isRefused = ({ silent, outcome }: Heard): boolean => silent && outcome.kind === "failed" && outcome.failure.status !== null;

const toStartRatio = ({ ratio }: ModelSpec): { readonly ratio?: number } => (ratio === undefined ? {} : { ratio });

/**
 * Adds the request's digest to the noted call as soon as the digest is known, so that after a crash the next life of the object can record
 * what was sent. A failure is only logged, because the call itself is noted already.
 */
async function note(call: PendingCall, of: { live: LiveTurn; digest: Promise<string | null> }, ports: SessionPorts): Promise<void> {
  call.request_digest = await of.digest;
  if (!isCurrent(of.live, ports)) return;
  try {
    ports.noteCall(call.endedAs("crashed", null));
  } catch (error) {
    ports.log.warn("digest_not_noted", { error: toErrorName(error) });
  }
}

interface Heard {
  silent: boolean;
  outcome: ModelReply["outcome"];
}

type Ask = (signals: Pick<CallOptions, "signal" | "onProgress" | "onAlive">) => AsyncIterable<ModelStreamPart>;

interface Listening {
  readonly ask: Ask;
  readonly spec: ModelSpec;
  /** How many items were redacted when the request was built. Null: no excerpt of a failure is kept. */
  readonly redacted: number | null;
}

/** Reads the stream to its end and shows each chunk as it arrives. A deadline aborts the call; the text received until then is kept. */
async function listen(live: LiveTurn, { ask, spec, redacted }: Listening, ports: SessionPorts): Promise<Heard> {
  const heard: Heard = { silent: true, outcome: failed("unavailable") };
  const call = new AbortController();
  const stop = (): void => call.abort();
  live.abort.signal.addEventListener("abort", stop, { once: true });
  if (live.abort.signal.aborted) stop();
  const watch = watchDeadlines(ports, { abort: call, spec });
  let wrote = false;
  const onProgress = (): void => {
    wrote = true;
    watch.heard();
  };
  try {
    for await (const chunk of ask({ signal: call.signal, onProgress, onAlive: () => watch.heard() })) {
      if (call.signal.aborted) break; // A chunk that was already on its way when the call was aborted: the turn may be over.
      watch.heard(chunk.type === "text");
      if (chunk.type !== "failure" && live.call) live.call.sent = true;
      const taken = shorten(chunk, MAX_REPLY_UNITS - live.spoken.units);
      take(taken, heard, { live, redacted });
      show(taken, live, ports);
      if (taken === chunk && live.spoken.units <= MAX_REPLY_UNITS) continue;
      call.abort();
      return { ...heard, outcome: failed("output_cap") };
    }
  } catch (error) {
    ports.log.error("model_threw", { error: toErrorName(error) });
    heard.outcome = failed("internal");
  } finally {
    watch.end();
    live.abort.signal.removeEventListener("abort", stop);
  }
  // After a timeout, a model that had begun to write is not asked the same again: the answer would take as long.
  return watch.expired ? { silent: heard.silent && !wrote, outcome: failed("timeout") } : heard;
}

const isSpoken = (chunk: ModelStreamPart): chunk is Extract<ModelStreamPart, { type: "text" | "reasoning" }> =>
  chunk.type === "text" || chunk.type === "reasoning";

function show(chunk: ModelStreamPart, live: LiveTurn, ports: SessionPorts): void {
  if (isSpoken(chunk) && chunk.text !== "")
    ports.showDelta({ turn: live.run.turn, message: live.nameReply(ports.ids), kind: chunk.type, text: chunk.text });
}

/**
 * Cuts a text or reasoning chunk to `room` UTF-16 units, because a whole reply may come as one chunk. Tool calls stay whole: a turn that
 * fails keeps none of them.
 */
function shorten(chunk: ModelStreamPart, room: number): ModelStreamPart {
  if (!isSpoken(chunk) || chunk.text.length <= room) return chunk;
  return { ...chunk, text: chunk.text.slice(0, endOfCharacter(chunk.text, Math.max(0, room))) };
}

/** The largest index up to `at` that does not split a surrogate pair. */
const endOfCharacter = (text: string, at: number): number => (at > 0 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800 ? at - 1 : at);

const failed = (kind: "unavailable" | "output_cap" | "internal" | "timeout"): ModelReply["outcome"] => {
  const failure = { kind, status: null } as const;
  return { kind: "failed", failure, refusal: { kind: kind === "internal" ? "unavailable" : kind, status: null, sent: 0 } };
};

function take(chunk: ModelStreamPart, heard: Heard, { live, redacted }: Pick<Listening, "redacted"> & { readonly live: LiveTurn }): void {
  switch (chunk.type) {
    case "text":
    case "reasoning":
      heard.silent = false;
      live.spoken.add(chunk.type, chunk);
      return;
    case "tool_call":
      heard.silent = false;
      live.spoken.addCall(chunk.call);
      return;
    case "usage":
      if (live.call) live.call.usage = chunk.usage;
      return;
    case "finish":
      heard.outcome = { kind: "finished", finish: chunk.finish };
      if (live.call) live.call.usage = chunk.usage;
      return;
    case "failure": {
      const { window: _ofTheRegistry, refused, most_bytes, message, ...failure } = chunk.failure;
      const { kind, status } = failure;
      const pointed = { ...(refused && { refused }), ...(most_bytes !== undefined && { most_bytes }) };
      const refusal = { kind, status, sent: live.call?.length ?? 0, ...pointed };
      heard.outcome = {
        kind: "failed",
        failure,
        refusal,
        ...(message && redacted !== null && { excerpt: { text: toExcerpt(message), redacted } }),
      };
      return;
    }
    default:
      assertNever(chunk);
  }
}
