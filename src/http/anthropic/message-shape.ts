/** What a message of the Anthropic API holds, as both the stream and the whole answer have it. */
import type { ToolCallView } from "../../contract/tool";
import { type CallUsage, type FinishReason, toGeneratedTokens, toUncachedInput } from "../../domain/model-call";
import { assertNever } from "../../lib/assert-never";
import type { AppliedEdits } from "../surface/applied-edits";
import type { LegEnding } from "../surface/leg";
import { toToolUseId } from "./read-blocks";

/** What is known of a message before the model says anything. */
export interface MessageHead {
  readonly id: string;
  readonly model: string;
  /** The client wants the thinking left out of the answer. */
  readonly omitsThinking: boolean;
}

type StopReason = "end_turn" | "max_tokens" | "tool_use" | "pause_turn" | "refusal";

export type ContentBlock =
  | { readonly type: "text"; readonly text: string; readonly citations: null }
  | { readonly type: "thinking"; readonly thinking: string; readonly signature: string }
  | {
      readonly type: "tool_use";
      readonly id: string;
      readonly name: string;
      readonly input: unknown;
      readonly caller: { readonly type: "direct" };
    };

/** The provider's signature stays with the server, which sends it back itself. Anthropic's clients expect a text. */
const NO_SIGNATURE = "";

export const toTextBlock = (text: string): ContentBlock => ({ type: "text", text, citations: null });
export const toThinkingBlock = (thinking: string): ContentBlock => ({ type: "thinking", thinking, signature: NO_SIGNATURE });

/** The client's own calls. A person's approval of other calls is given elsewhere. */
export const listOwn = (calls: readonly ToolCallView[]): readonly ToolCallView[] => calls.filter(({ runs }) => runs === "client");

/** `input` as JSON text. Arguments that are not JSON become a JSON string, because a block can hold nothing else. */
export function toInputJson(args: string): string {
  if (args.trim() === "") return "{}";
  try {
    JSON.parse(args);
    return args;
  } catch {
    return JSON.stringify(args);
  }
}

export function toToolUseBlock({ id, name, arguments: args }: ToolCallView): ContentBlock {
  return { type: "tool_use", id: toToolUseId(id), name, input: JSON.parse(toInputJson(args)), caller: { type: "direct" } };
}

export function toUsage(usage: CallUsage | null) {
  const known = usage ?? { input: 0, output: 0, cached: 0, reasoning: 0 };
  return {
    input_tokens: toUncachedInput(known),
    output_tokens: toGeneratedTokens(known),
    cache_read_input_tokens: known.cached,
    cache_creation_input_tokens: known.cache_write ?? 0,
    output_tokens_details: { thinking_tokens: known.reasoning },
    server_tool_use: null,
    // Only the types of the API's beta demand them.
    iterations: null,
    fallback_credit: null,
  };
}

/** What the types of the API's beta demand of a message and of its end. A client of the beta sends the same request. */
export const BETA_MEMBERS = { context_management: null } as const;

/** The members of a message's usage that no event changes. */
const CONSTANT_USAGE = { cache_creation: null, inference_geo: null, service_tier: "standard", speed: null } as const;

interface Ending {
  readonly stop_reason: StopReason;
  readonly stop_sequence: null;
  readonly stop_details: { readonly type: "refusal"; readonly category: null; readonly explanation: string | null } | null;
  readonly container: null;
}

const shapeEnding = (stop_reason: StopReason, explanation: string | null = null): Ending => ({
  stop_reason,
  stop_sequence: null,
  stop_details: stop_reason === "refusal" ? { type: "refusal", category: null, explanation } : null,
  container: null,
});

/** A reply that met a stop sequence is not told from one that ended by itself. */
const REASONS: Readonly<Record<FinishReason, StopReason>> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "end_turn",
  content_filter: "refusal",
  other: "end_turn",
};

export function toEnding(ending: LegEnding): Ending {
  switch (ending.type) {
    case "finished":
      return shapeEnding(REASONS[ending.finish ?? "stop"]);
    case "stopped":
      // Of Anthropic's reasons only this one says that the answer was cut off and cannot be resumed.
      return shapeEnding("max_tokens");
    case "refused":
      return shapeEnding("refusal", ending.detail);
    case "waiting":
      // Without a call of its own the client can only come back: a person has to approve a call first.
      return shapeEnding(listOwn(ending.calls).length > 0 ? "tool_use" : "pause_turn");
    default:
      return assertNever(ending);
  }
}

const UNFINISHED = { stop_reason: null, stop_sequence: null, stop_details: null, container: null } as const;

interface MessageParts {
  readonly content: readonly ContentBlock[];
  readonly usage: CallUsage | null;
  /** Null: the message is still being written. */
  readonly ending: Ending | null;
  readonly edits?: AppliedEdits;
}

export function shapeMessage({ id, model }: MessageHead, { content, usage, ending, edits = {} }: MessageParts) {
  return {
    id,
    type: "message",
    role: "assistant",
    model,
    content,
    ...(ending ?? UNFINISHED),
    diagnostics: null,
    ...BETA_MEMBERS,
    ...edits,
    usage: { ...toUsage(usage), ...CONSTANT_USAGE },
  };
}
