/**
 * Checks whether a provider's usage report can belong to the call. An impossible report is treated as missing: otherwise it would stay in
 * the sums and the cost, and would count as the size of the conversation.
 */
import { type CallUsage, toGeneratedTokens } from "../domain/model-call";
import type { ModelRequest } from "./ports";

/** The most input tokens per estimated token: the estimate is within a quarter, and a learned ratio within a factor of two. */
const MOST_INPUT = 16;
/** Tokens that an endpoint may add unseen: its own system prompt, the template of its tools. */
const UNSEEN_INPUT = 32_768;
/** The most tokens of an image or a file: a provider may fetch a book by its address. */
const MOST_MEDIUM = 1_000_000;
/** The most tokens per UTF-16 unit of a reply: one for each of its UTF-8 bytes. */
const MOST_UNIT = 3;
/** How many times the reply's cap, or its largest possible size, is still believed: some providers count thinking beside the reply. */
const MOST_CAP = 2;
/** Thinking tokens that a request without a cap may produce unseen. */
const UNSEEN_OUTPUT = 262_144;

interface CallHeard {
  readonly request: Pick<ModelRequest, "messages" | "maxOutput" | "model">;
  /** Raw estimate of the request. */
  readonly estimate: number;
  /** UTF-16 units of the reply. */
  readonly units: number;
}

/** The usage, or null when none was reported, or when the call cannot have used that much. */
export function toPlausibleUsage(usage: CallUsage | null, heard: CallHeard): CallUsage | null {
  if (!usage) return null;
  return usage.input <= mostInput(heard) && toGeneratedTokens(usage) <= mostOutput(heard) ? usage : null;
}

function mostInput({ request, estimate }: CallHeard): number {
  const media = request.messages.flatMap(({ parts }) => parts).filter(({ type }) => type === "image" || type === "file").length;
  return estimate * MOST_INPUT + UNSEEN_INPUT + media * MOST_MEDIUM;
}

function mostOutput({ request: { maxOutput, model }, units }: CallHeard): number {
  const cap = maxOutput === null ? model.max_output + UNSEEN_OUTPUT : maxOutput;
  return Math.max(cap, units * MOST_UNIT) * MOST_CAP;
}
