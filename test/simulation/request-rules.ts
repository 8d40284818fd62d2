/** The rules for every request to a model (docs/invariants.md): complete exchange groups, within the window, growing at its end. */

import type { ChatMessage, ModelRequest } from "../../src/app/ports";
import { isWindowExact, toModelLimits } from "../../src/app/request/build-request";
import { toRequestLimit } from "../../src/context/budget";
import { planGuard } from "../../src/context/guard";
import { toPolicy } from "../../src/context/policy-choice";
import { RECALL_TOOL } from "../../src/context/recall-tool";
import { PADDING } from "../../src/context/sizing";
import { isRecallOffered, type SessionState } from "../../src/domain/state";
import { countRequest } from "./count-tokens";
import { SignedRules } from "./signed-rules";
import type { Violations } from "./violation";

interface Sent {
  /** Everything that may change the beginning of a request: the epoch, and the settings in it. */
  readonly base: string;
  readonly epoch: number;
  readonly system: string | null;
  readonly messages: readonly string[];
}

const toBase = (model: string, { view, settings, turn }: SessionState): string =>
  JSON.stringify([view.epoch, model, (turn?.system ?? settings.system)?.body ?? null, (turn?.tools ?? settings.tools)?.body ?? null]);

/** What a turn's request must contain after any compaction. */
export interface Owed {
  /** The state of the log when it was sent. */
  readonly state: SessionState;
  /** The message that is being answered. */
  readonly question: string | null;
  readonly pins: readonly string[];
}

/** Tokens of a few messages' frames. A provider's count of a reply excludes the reply's frame; the reserve covers it. */
const FRAMES = 16;

/** Whether nothing can leave the view, or the client wants it whole, so that the request is sent if it fits by its likely size alone. */
function isLastTry(state: SessionState, model: ModelRequest["model"]): boolean {
  if (state.turn?.whole) return true;
  const plan = planGuard({ state, limits: toModelLimits(model), policy: toPolicy(state.settings.policy) });
  return isWindowExact(model) && plan.kind === "cannot_fit" && plan.tight?.rungs.length === 0;
}

export class RequestRules {
  readonly signed: SignedRules;
  /** Each model has its own cache. */
  readonly #last = new Map<string, Sent>();

  readonly violations: Violations;

  constructor(violations: Violations) {
    this.violations = violations;
    this.signed = new SignedRules(violations);
  }

  /**
   * Checks a request when it is sent. Returns true if it exceeds the model's window. `owed`: the requirements of a
   * session that has not been erased. `epoch`: the one in which a summary's request was built, which may be outdated.
   */
  check(request: ModelRequest, owed: Owed | null, epoch: number | null): boolean {
    const complaint = findMalformed(request.messages);
    if (complaint) this.violations.report("I5", `${request.purpose} request: ${complaint}`);
    if (request.purpose === "turn" && owed) this.#checkOpening(request, owed.state);
    if (request.purpose === "turn" && owed) this.#checkGrowth(request, owed.state);
    if (request.purpose === "turn" && owed) this.#checkOwed(request, owed);
    if (request.purpose === "turn" && owed) this.#checkRecall(request, owed.state);
    if (request.purpose === "turn" && owed) this.signed.check(request, owed.state);
    if (request.purpose === "compaction") this.#checkSamePrefix(request, epoch);
    return this.#checkWindow(request, owed?.state ?? null);
  }

  /** I5: a cut conversation begins with a user message. */
  #checkOpening({ messages }: ModelRequest, { view }: SessionState): void {
    const first = messages.find(({ role }) => role !== "system");
    // Behind instructions alone the adapters add the user's message that a provider wants (`PromptRules.userAtEnd`).
    const opened = view.overlays.length === 0 || first === undefined || first.role === "user";
    this.violations.check(opened, "I5", () => `a view that was cut opens with a message of ${first?.role}`);
  }

  /** A summary request asks for its cap, so the answer must fit beside the request. */
  #checkWindow(request: ModelRequest, state: SessionState | null): boolean {
    const limit = toRequestLimit(toModelLimits(request.model));
    const window = request.model.context_window;
    const tokens = countRequest(request);
    if (limit === null || window === null) return false;
    const most = request.maxOutput === null ? limit : Math.min(limit, window - request.maxOutput);
    if (tokens <= most + FRAMES) return false;
    if (state && isLastTry(state, request.model) && tokens <= most * PADDING + FRAMES) return true;
    const anchor = state?.anchor ? `anchor ${JSON.stringify(state.anchor)}` : "no anchor";
    this.violations.report("I6", `${request.purpose} request of ${tokens} tokens, ${request.model.id} takes ${most}; ${anchor}`);
    return true;
  }

  /** I23: pins and the question are in every request of the turn, word for word. */
  #checkOwed({ system, messages }: ModelRequest, { question, pins }: Owed): void {
    const missing = pins.filter((pin) => !system?.includes(pin));
    this.violations.check(missing.length === 0, "I23", () => `a pin is not in the request: ${missing[0]?.slice(0, 60)}`);
    const asks = (message: ChatMessage): boolean =>
      message.role === "user" && message.parts.some((part) => part.type === "text" && part.text === question);
    const asked = question === null || messages.some(asks);
    this.violations.check(asked, "I23", () => `the question is not in the request: ${question?.slice(0, 60)}`);
  }

  /** If something is out of the view, the model can look it up. What is offered names no session, so that sessions share a cache. */
  #checkRecall({ tools }: ModelRequest, state: SessionState): void {
    const isOffered = tools.some(({ name }) => name === RECALL_TOOL.name);
    this.violations.check(isRecallOffered(state) === isOffered, "I11", () => `memory_query is ${isOffered ? "" : "not "}offered`);
    const isNamed = JSON.stringify(tools).includes(state.session ?? "");
    this.violations.check(!isNamed, "I11", () => "a tool names the session");
  }

  /** I7: a summary that reuses the turn's own prefix repeats the previous request, byte for byte, and adds its instruction. */
  #checkSamePrefix(request: ModelRequest, epoch: number | null): void {
    const before = this.#last.get(request.model.id);
    if (before?.epoch !== epoch || request.system !== before.system || isTranscript(request)) return;
    const messages = request.messages.slice(0, -1).map((message) => JSON.stringify(message));
    const changed = messages.findIndex((message, index) => index < before.messages.length && message !== before.messages[index]);
    this.violations.check(changed < 0, "I7", () => `message ${changed} of a same-prefix summary is not that of the turn`);
  }

  #checkGrowth(request: ModelRequest, state: SessionState): void {
    const sent: Sent = {
      base: toBase(request.model.id, state),
      epoch: state.view.epoch,
      system: request.system,
      messages: request.messages.map((message) => JSON.stringify(message)),
    };
    const before = this.#last.get(request.model.id);
    this.#last.set(request.model.id, sent);
    if (before?.base !== sent.base) return;
    this.violations.check(before.system === sent.system, "I7", () => "the system prompt changed within an epoch");
    const changed = before.messages.findIndex((message, index) => message !== sent.messages[index]);
    this.violations.check(changed < 0, "I7", () => {
      const [was, is] = [before.messages[changed], sent.messages[changed]].map((message) => message?.slice(0, 160));
      return `message ${changed} of ${before.messages.length} changed within epoch ${state.view.epoch}:\n    ${was}\n    ${is}`;
    });
  }
}

const isTranscript = ({ messages }: ModelRequest): boolean => messages.length === 1;

const findCalls = (message: ChatMessage): string[] => message.parts.flatMap((part) => (part.type === "tool_call" ? [part.call_id] : []));

/** The reason why a provider would refuse these messages. Null: they are valid. */
export function findMalformed(messages: readonly ChatMessage[]): string | null {
  if (messages.length === 0) return "no messages";
  let owed: readonly string[] = [];
  for (const [index, message] of messages.entries()) {
    const complaint = message.role === "tool" ? complainOfResult(message, owed) : complainOfMessage(message, owed);
    if (complaint) return `message ${index} ${complaint}`;
    owed = message.role === "tool" ? owed.slice(1) : findCalls(message);
  }
  return owed.length > 0 ? `the calls ${owed.join(", ")} have no result` : null;
}

function complainOfResult({ parts }: ChatMessage, owed: readonly string[]): string | null {
  const [result] = parts;
  if (parts.length !== 1 || result?.type !== "tool_result") return "is no single result";
  return result.call_id === owed[0] ? null : `answers ${result.call_id}, and the next open call is ${owed[0]}`;
}

function complainOfMessage({ role, parts }: ChatMessage, owed: readonly string[]): string | null {
  if (owed.length > 0) return `comes before the results of ${owed.join(", ")}`;
  return parts.length === 0 ? `of ${role} is empty` : null;
}
