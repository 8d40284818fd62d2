/**
 * Makes a title for a session that has none, with one call to a cheap model after its first completed turn, if the policy names a model. It
 * runs beside the turns: nothing waits for it, and neither its prompt nor its answer is part of the view. A failed call is not repeated.
 * When the object dies during the call, its next life records the call and makes it once more.
 */
import { toPolicy } from "../../context/policy-choice";
import { buildTitlePrompt, parseTitle, TITLE_MAX_OUTPUT, TITLE_SYSTEM } from "../../context/title";
import type { ModelCall } from "../../domain/commands";
import { MAX_TITLE_TRIES, type SessionState } from "../../domain/state";
import { summarize, toCallOutcome } from "../compaction/summarize";
import type { ModelRequest, ModelSpec } from "../ports";
import { buildTextBody } from "../request/build-items";
import { estimateRequest, toRequestNeed, toUnpaidKind } from "../request/call-need";
import { resolveModel } from "../request/resolve-model";
import type { SummaryOutcome } from "../session-api";
import type { SessionContent, SessionPorts } from "../session-ports";

const TITLE_TIMEOUT_MS = 30_000;

export type TitlePorts = Pick<
  SessionPorts,
  "writer" | "content" | "model" | "budgets" | "models" | "clock" | "ids" | "schedule" | "log"
> & {
  /** Stores the call durably before it is made, in case the object dies during it. */
  readonly noteTitle: (call: ModelCall, tries: number) => void;
};

/** The model to ask for a title. Null when no title is wanted, or all tries are spent. */
export function findTitleModel({ lifecycle, settings, last_turn, title_tries }: SessionState): string | null {
  if (lifecycle !== "open" || settings.throwaway) return null;
  if (title_tries >= MAX_TITLE_TRIES || settings.title !== null || last_turn?.status !== "completed") return null;
  return toPolicy(settings.policy).title_model;
}

/** Makes and records the title. It does not throw when the model or the registry fails. */
export async function makeTitle(ports: TitlePorts, signal: AbortSignal): Promise<void> {
  const { writer, clock, ids, log } = ports;
  const asked = findTitleModel(writer.state);
  if (asked === null) return;
  const found = await resolveModel(asked, ports);
  if (!found.ok) return log.warn("title_failed", { failure: found.error });
  const unpaid = await obtainFor(found.value, ports);
  if (unpaid) return log.warn("title_failed", { failure: unpaid });
  const request = buildPaidRequest(found.value, asked, ports);
  if (!request) return;
  const { title_tries: tries, redactions } = writer.state;
  noteTitle(request, ports);
  const isUnredacted = (): boolean => writer.state.redactions === redactions;
  const mayRepeat = async (): Promise<boolean> => (await ports.budgets.isPaid(request)) && isUnredacted();
  const outcome = await summarize(request, { timeoutMs: TITLE_TIMEOUT_MS, signal, mayRepeat }, ports);
  const text = outcome.ok && outcome.finish === "stop" ? parseTitle(outcome.text) : null;
  if (text === null) log.warn("title_failed", { failure: outcome.ok ? "no_title" : outcome.failure });
  const { ref, bodies } = buildTextBody(text, ids);
  // Discard the title when a user set one meanwhile, or when a message was redacted since, because the title may quote it. Its text is then
  // not stored.
  const wanted = writer.state.settings.title === null && isUnredacted();
  const command = { type: "RecordTitle", at: clock(), call: toCall(outcome, writer.state), title: wanted ? ref : null, tries } as const;
  writer.execute(command, wanted ? bodies : []);
}

/** Obtains what the call needs. Returns why it may not be made; null: it may, unless another call of the session is faster. */
async function obtainFor(spec: ModelSpec, ports: TitlePorts): Promise<"budget" | "unavailable" | null> {
  const request = ports.budgets.applies("title") ? buildTitleRequest(spec, ports.writer.state, ports.content) : null;
  const got = request && (await ports.budgets.obtain(toRequestNeed(request, ports.writer.state)));
  return !got || got.ok ? null : toUnpaidKind(got.error);
}

/** The request with what it is paid with. Null: there is none to make, or it is not paid. Synchronous, so that nothing is redacted between building and sending. */
function buildPaidRequest(spec: ModelSpec, asked: string, { writer, content, budgets }: TitlePorts): ModelRequest | null {
  const request = findTitleModel(writer.state) === asked ? buildTitleRequest(spec, writer.state, content) : null;
  if (!request) return null;
  const paid = budgets.hold(toRequestNeed(request, writer.state));
  if (paid.kind === "short") return null;
  return paid.reservation === null ? request : { ...request, reservation: paid.reservation };
}

function noteTitle(request: ModelRequest, { writer, budgets, noteTitle: note }: TitlePorts): void {
  try {
    note(crashedCall(request, writer.state), writer.state.title_tries);
  } catch (error) {
    budgets.release(request.reservation ?? null);
    throw error;
  }
}

function buildTitleRequest(spec: ModelSpec, state: SessionState, content: SessionContent): ModelRequest | null {
  const text = buildTitlePrompt(said(state, content));
  if (text === null) return null;
  return {
    model: spec,
    purpose: "title",
    system: TITLE_SYSTEM,
    messages: [{ role: "user", parts: [{ type: "text", text }] }],
    tools: [],
    maxOutput: Math.min(TITLE_MAX_OUTPUT, spec.max_output),
    reasoning: "off",
  };
}

function* said({ next_position }: SessionState, content: SessionContent) {
  for (const { meta, parts } of content.readForwards({ from: 1, to: next_position - 1 })) yield { kind: meta.kind, parts };
}

const toCallPlace = ({ view, next_position }: SessionState) => ({ turn: null, epoch: view.epoch, up_to: next_position - 1, lease: null });

const crashedCall = (request: ModelRequest, state: SessionState): ModelCall => ({
  ...toCallPlace(state),
  purpose: "title",
  model: request.model.id,
  usage: null,
  estimate: estimateRequest(request),
  request_digest: null,
  outcome: "crashed",
  ms: 0,
  ...(request.reservation !== undefined && { reservation: { id: request.reservation } }),
});

function toCall(outcome: SummaryOutcome, state: SessionState): ModelCall {
  const { model, estimate, usage, ms, cost, reservation } = outcome;
  const ended = outcome.ok ? outcome.finish : toCallOutcome(outcome.failure);
  const call = { ...toCallPlace(state), model, usage, estimate, request_digest: null, outcome: ended, ms };
  return { ...call, purpose: "title", ...(cost === undefined ? {} : { cost }), ...(reservation && { reservation }) };
}
