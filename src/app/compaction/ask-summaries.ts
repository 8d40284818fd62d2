/**
 * Asks a model questions about two summaries. Each call sees one summary and nothing else. The calls run beside the turns: only the caller
 * waits for them, they are not part of the view, and the ledger records each of them. Their number and total time are bounded.
 */
import { holds, normalize } from "../../context/kept-terms";
import { ANSWER_MAX_OUTPUT, buildQuestion } from "../../context/question";
import type { AnsweredQuestion, SummaryAnswer } from "../../contract/comparison";
import type { ModelCall } from "../../domain/commands";
import type { KeyId } from "../../domain/ids";
import type { SessionState } from "../../domain/state";
import type { CallNeed } from "../call-charge";
import type { AskedQuestion } from "../draft-api";
import { countFor } from "../limit-owners";
import type { ModelRequest, ModelSpec } from "../ports";
import { MOST_OBTAINED, toRequestNeed, toUnpaidKind } from "../request/call-need";
import type { SummaryOutcome } from "../session-api";
import type { SessionPorts } from "../session-ports";
import { summarize, toCallOutcome } from "./summarize";

export const MOST_QUESTIONS = 20;
/** The most calls at a time. */
const AT_ONCE = 4;
const ANSWER_MS = 30_000;
/** Time for all calls together, because the caller waits. */
const ALL_MS = 90_000;

type AskPorts = Pick<SessionPorts, "writer" | "content" | "model" | "budgets" | "clock" | "schedule" | "log">;

interface Texts {
  readonly a: string;
  readonly b: string;
}

/** The model that answers, and the key that the calls are counted for. Absent: that of the newest turn. */
interface Asking {
  readonly spec: ModelSpec;
  readonly key?: KeyId | undefined;
  /** How many redactions there were when the summaries were read. After a further redaction no question is asked: the summaries may contain its message. */
  readonly redactions: number;
}

export async function askSummaries(
  questions: readonly AskedQuestion[],
  { texts, ...asking }: Asking & { readonly texts: Texts },
  ports: AskPorts,
): Promise<readonly AnsweredQuestion[]> {
  const deadline = ports.clock() + ALL_MS;
  const asked = questions.flatMap((each) => [
    { each, summary: texts.a },
    { each, summary: texts.b },
  ]);
  const answers: SummaryAnswer[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < asked.length; index = next++) {
      const one = asked[index];
      if (one) answers[index] = await ask(one.each, { summary: one.summary, ...asking, deadline }, ports);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return questions.map((each, index) => ({ ...each, a: answers[2 * index] ?? NONE, b: answers[2 * index + 1] ?? NONE }));
}

/** What the first question may use: both summaries are asked it. Null: there is none. */
export function measureQuestion(
  [first]: readonly AskedQuestion[],
  { texts, spec }: Pick<Asking, "spec"> & { readonly texts: Texts },
  state: SessionState,
): CallNeed | null {
  if (!first) return null;
  const measure = (text: string): CallNeed => toRequestNeed(buildAskRequest(text, first.question, spec), state);
  const [a, b] = [measure(texts.a), measure(texts.b)];
  return { ...a, input: a.input + b.input, output: a.output + b.output };
}

const NONE: SummaryAnswer = { text: null, failure: "timeout", holds: null, in_summary: null, usage: null };

async function ask(
  { question, expect }: AskedQuestion,
  { summary, spec, deadline, key, redactions }: Asking & { readonly summary: string; readonly deadline: number },
  ports: AskPorts,
): Promise<SummaryAnswer> {
  const has = (text: string): boolean | null => (expect === null ? null : holds(normalize(text), expect));
  const in_summary = has(summary);
  const isUnredacted = (): boolean => ports.writer.state.redactions === redactions;
  const isWanted = (): boolean => ports.writer.state.lifecycle === "open" && isUnredacted();
  const request = { ...buildAskRequest(summary, question, spec), countedFor: countFor(key, ports.writer.state, ports.content) };
  for (let obtained = 0; ; obtained++) {
    const timeoutMs = Math.min(ANSWER_MS, deadline - ports.clock());
    // No time is left, or the session was erased: no call is made.
    if (timeoutMs <= 0 || ports.writer.state.lifecycle !== "open") return { ...NONE, in_summary };
    if (!isUnredacted()) return { ...NONE, failure: "superseded", in_summary };
    const need = toRequestNeed(request, ports.writer.state);
    const paid = ports.budgets.hold(need);
    if (paid.kind === "held") return askPaid({ request, reservation: paid.reservation, timeoutMs, isWanted, in_summary, has, key }, ports);
    const failure = obtained < MOST_OBTAINED ? await obtain(need, ports) : "unavailable";
    if (failure) return { ...NONE, failure, in_summary };
  }
}

interface PaidQuestion {
  readonly request: ModelRequest;
  readonly reservation: number | null;
  readonly timeoutMs: number;
  readonly isWanted: () => boolean;
  readonly in_summary: boolean | null;
  readonly has: (text: string) => boolean | null;
  readonly key: KeyId | undefined;
}

async function askPaid(
  { request, reservation, timeoutMs, isWanted, in_summary, has, key }: PaidQuestion,
  ports: AskPorts,
): Promise<SummaryAnswer> {
  const paid = reservation === null ? request : { ...request, reservation };
  const mayRepeat = async (): Promise<boolean> => (await ports.budgets.isPaid(paid)) && isWanted();
  const outcome = await summarize(paid, { timeoutMs, mayRepeat }, ports);
  ports.writer.execute({
    type: "RecordAnswer",
    at: ports.clock(),
    call: { ...toModelCall(outcome, ports.writer.state), ...(key !== undefined && { key }) },
  });
  const { usage } = outcome;
  if (!outcome.ok) return { text: null, failure: outcome.failure, holds: null, in_summary, usage };
  const text = outcome.text.trim();
  return text === "" ? { ...NONE, failure: "empty", in_summary, usage } : { text, failure: null, holds: has(text), in_summary, usage };
}

/** Null: the call may be made. It fails where it may not. */
async function obtain(need: CallNeed, { budgets }: AskPorts): Promise<"budget" | "unavailable" | null> {
  const got = await budgets.obtain(need);
  return got.ok ? null : toUnpaidKind(got.error);
}

function buildAskRequest(summary: string, question: string, spec: ModelSpec): ModelRequest {
  const { system, text } = buildQuestion(summary, question);
  const messages = [{ role: "user" as const, parts: [{ type: "text" as const, text }] }];
  const maxOutput = Math.min(ANSWER_MAX_OUTPUT, spec.max_output);
  return { model: spec, purpose: "comparison", system, messages, tools: [], maxOutput, reasoning: "off" };
}

function toModelCall(outcome: SummaryOutcome, { view, next_position }: SessionState): ModelCall {
  const { model, estimate, usage, ms, cost, reservation } = outcome;
  const ended = outcome.ok ? outcome.finish : toCallOutcome(outcome.failure);
  const place = { turn: null, epoch: view.epoch, up_to: next_position - 1, lease: null, request_digest: null };
  return {
    ...place,
    purpose: "comparison",
    model,
    usage,
    estimate,
    outcome: ended,
    ms,
    ...(cost === undefined ? {} : { cost }),
    ...(reservation && { reservation }),
  };
}
