/**
 * Whether a provider's report can be one of the call that was made. What cannot be is not reported: it would be summed up for good, paid
 * for, and taken for the size of the conversation.
 */
import { type CallUsage, generatedOf } from "../domain/model-call";
import type { ModelRequest } from "./ports";

/** Tokens of input for each estimated one, at most: the estimate is within a quarter, a learned ratio within two. */
const MOST_INPUT = 16;
/** Tokens that an endpoint may add unseen: its own system prompt, the template of its tools. */
const UNSEEN_INPUT = 32_768;
/** Tokens of an image or a file, at most: a provider may fetch a book by its address. */
const MOST_MEDIUM = 1_000_000;
/** Tokens for each UTF-16 unit of a reply, at most: its bytes. */
const MOST_UNIT = 3;
/** The reply's cap is exceeded by thinking that some count beside it. */
const MOST_CAP = 2;
/** Tokens that are thought unseen where the request names no cap. */
const UNSEEN_OUTPUT = 262_144;

interface CallHeard {
  readonly request: Pick<ModelRequest, "messages" | "maxOutput" | "model">;
  /** Raw estimate of the request. */
  readonly estimate: number;
  /** UTF-16 units of the reply. */
  readonly units: number;
}

/** Null: not reported, or not what the call can have weighed. */
export function believedUsage(usage: CallUsage | null, heard: CallHeard): CallUsage | null {
  if (!usage) return null;
  return usage.input <= mostInput(heard) && generatedOf(usage) <= mostOutput(heard) ? usage : null;
}

function mostInput({ request, estimate }: CallHeard): number {
  const media = request.messages.flatMap(({ parts }) => parts).filter(({ type }) => type === "image" || type === "file").length;
  return estimate * MOST_INPUT + UNSEEN_INPUT + media * MOST_MEDIUM;
}

function mostOutput({ request: { maxOutput, model }, units }: CallHeard): number {
  const cap = maxOutput === null ? model.max_output + UNSEEN_OUTPUT : maxOutput;
  return Math.max(cap, units * MOST_UNIT) * MOST_CAP;
}
