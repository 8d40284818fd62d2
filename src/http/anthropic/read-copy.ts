/**
 * The messages of a request as a session compares and records them: each result of a call is a message of its own. What cannot be read is a
 * fault of its message. Only messages that are recorded have to be readable: a client's copy may hold what this service never wrote.
 */
import type { z } from "@hono/zod-openapi";
import type { ImportedCall } from "../../app/written-message";
import type { FieldError } from "../../contract/problem";
import { err, ok, type Result } from "../../lib/result";
import type { RequestError } from "../problem";
import type { PartInput } from "../schemas/message";
import type { ToolInput } from "../schemas/tool";
import { toComparedText } from "../surface/new-messages";
import type { CopiedMessage } from "../surface/start-from-copy";
import { parseKnown } from "../validation";
import { findGenerationFaults, readTools } from "./asked-with";
import { type BlockMessage, readMessage } from "./read-blocks";
import type { CountBody, MessageParam } from "./request-body";

export interface CopiedBlocks extends CopiedMessage {
  readonly parts: readonly PartInput[];
  readonly calls: readonly ImportedCall[];
  /** Role tool: the call failed. */
  readonly is_error: boolean;
  readonly faults: readonly FieldError[];
}

export interface ReadCopy {
  readonly messages: readonly CopiedBlocks[];
  /** Null: the request names none. */
  readonly tools: readonly ToolInput[] | null;
}

const MAX_ERRORS = 20;
/** A message of more is no person's, and each part adds to every request. */
const MAX_PARTS = 128;

const refuse = (errors: readonly FieldError[]): RequestError => ({ code: "invalid_request", errors: errors.slice(0, MAX_ERRORS) });

/** `note`: hears of the members that were left out. */
export function parseRequest<S extends z.ZodType>(
  schema: S,
  given: unknown,
  note: (unknown: readonly string[]) => void = () => {},
): Result<z.infer<S>, RequestError> {
  const parsed = parseKnown(schema, given);
  if (!parsed.ok) return err(refuse(parsed.error));
  note(parsed.value.unknown);
  return ok(parsed.value.value);
}

/** Refuses what does not depend on the conversation: tools and settings. */
export function readCopy(body: CountBody): Result<ReadCopy, RequestError> {
  const errors: FieldError[] = [];
  const tools = readTools(body, errors);
  errors.push(...findGenerationFaults(body));
  if (errors.length > 0) return err(refuse(errors));
  return ok({ tools, messages: body.messages.flatMap((message, index) => splitMessage(message, `messages.${index}`)) });
}

function splitMessage(message: MessageParam, field: string): CopiedBlocks[] {
  const errors: FieldError[] = [];
  const { role, parts, calls, results } = readMessage(message, field, errors);
  const faults = [...errors, ...findExcess({ role, parts, calls, results }, field)];
  const isEmpty = parts.length + calls.length + results.length === 0;
  // An answer without words is one that this service gives, too. It says nothing, and is not recorded.
  if (isEmpty && role !== "assistant" && faults.length === 0) faults.push({ field: `${field}.content`, detail: "must not be empty" });
  const answers = results.map(
    ({ id, at, output, is_error }): CopiedBlocks => ({
      role: "tool",
      field: at,
      text: output,
      answers: id,
      parts: [],
      calls: [],
      is_error,
      faults,
    }),
  );
  const saysMore = parts.length + calls.length > 0 || answers.length === 0;
  return saysMore ? [...answers, { role, field, text: toComparedText(parts), parts, calls, is_error: false, faults }] : answers;
}

function findExcess({ parts, calls, results }: BlockMessage, field: string): FieldError[] {
  const most = Math.max(parts.length, calls.length, results.length);
  return most > MAX_PARTS ? [{ field: `${field}.content`, detail: `at most ${MAX_PARTS} blocks of a kind` }] : [];
}

const PREFILL = "must not be the assistant's: an answer cannot be begun for the model";

/** Refuses the model's own words at the end. */
export const refusePrefill = (messages: readonly CopiedBlocks[]): RequestError =>
  refuse([{ field: `${messages.at(-1)?.field ?? "messages"}.role`, detail: PREFILL }]);

/** Null: all of them can be recorded, and the model can answer them. */
export function findFaults(messages: readonly CopiedBlocks[]): RequestError | null {
  const errors = [...new Set(messages.flatMap(({ faults }) => faults))];
  if (errors.length > 0) return refuse(errors);
  return messages.at(-1)?.role === "assistant" ? refusePrefill(messages) : null;
}
