/**
 * A title for a session that has none, asked of a cheap model after its first completed turn, if the policy names one. It runs
 * beside the turns: nothing waits for it, and neither the question nor the answer is ever part of the view. A failure costs the
 * one try; a call that the object died over is recorded by its next life and made once more.
 */
import { policyOf } from "../../context/policy-choice";
import { buildTitlePrompt, parseTitle, TITLE_MAX_OUTPUT, TITLE_SYSTEM } from "../../context/title";
import type { ModelCall } from "../../domain/commands";
import { MAX_TITLE_TRIES, type SessionState } from "../../domain/state";
import { estimateRequest, summarize, toCallOutcome } from "../compaction/summarize";
import type { ModelRequest, ModelSpec } from "../ports";
import { draftText } from "../request/drafts";
import { resolveModel } from "../request/resolve-model";
import type { SummaryOutcome } from "../session-api";
import type { SessionContent, SessionPorts } from "../session-ports";

const TITLE_TIMEOUT_MS = 30_000;

export type TitlePorts = Pick<SessionPorts, "writer" | "content" | "model" | "models" | "clock" | "ids" | "schedule" | "log"> & {
  /** Keeps the call durably before it is made, should the object die over it. */
  readonly noteTitle: (call: ModelCall, tries: number) => void;
};

/** The model that is to be asked; null: no title is wanted, or all tries are spent. */
export function titleModelOf({ lifecycle, settings, last_turn, title_tries }: SessionState): string | null {
  if (lifecycle !== "open" || title_tries >= MAX_TITLE_TRIES || settings.title !== null || last_turn?.status !== "completed") return null;
  return policyOf(settings.policy).title_model;
}

/** Never throws for what a model or the registry does. */
export async function makeTitle(ports: TitlePorts, signal: AbortSignal): Promise<void> {
  const { writer, content, clock, ids, log } = ports;
  const asked = titleModelOf(writer.state);
  if (asked === null) return;
  const found = await resolveModel(asked, ports);
  if (!found.ok) return log.warn("title_failed", { failure: found.error });
  if (titleModelOf(writer.state) !== asked) return;
  const request = buildTitleRequest(found.value, writer.state, content);
  if (!request) return;
  const { title_tries: tries, redacted } = writer.state;
  ports.noteTitle(crashedCall(request, writer.state), tries);
  const outcome = await summarize(request, { timeoutMs: TITLE_TIMEOUT_MS, signal }, ports);
  const text = outcome.ok && outcome.finish === "stop" ? parseTitle(outcome.text) : null;
  if (text === null) log.warn("title_failed", { failure: outcome.ok ? "no_title" : outcome.failure });
  const { ref, bodies } = draftText(text, ids);
  // What a user set meanwhile stands, and its text is not stored in vain; nor is what may have been made from a message that was redacted since.
  const wanted = writer.state.settings.title === null && writer.state.redacted.length === redacted.length;
  const command = { type: "RecordTitle", at: clock(), call: toCall(outcome, writer.state), title: wanted ? ref : null, tries } as const;
  writer.execute(command, wanted ? bodies : []);
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

const placeOf = ({ view, next_position }: SessionState) => ({ turn: null, epoch: view.epoch, up_to: next_position - 1, lease: null });

const crashedCall = (request: ModelRequest, state: SessionState): ModelCall => ({
  ...placeOf(state),
  purpose: "title",
  model: request.model.id,
  usage: null,
  estimate: estimateRequest(request),
  request_digest: null,
  outcome: "crashed",
  ms: 0,
});

function toCall(outcome: SummaryOutcome, state: SessionState): ModelCall {
  const { model, estimate, usage, ms, cost } = outcome;
  const ended = outcome.ok ? outcome.finish : toCallOutcome(outcome.failure);
  const call = { ...placeOf(state), model, usage, estimate, request_digest: null, outcome: ended, ms };
  return { ...call, purpose: "title", ...(cost === undefined ? {} : { cost }) };
}
