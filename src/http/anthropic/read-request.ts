/** What a request adds to a conversation that the server has: the messages behind the model's last one. */
import type { z } from "@hono/zod-openapi";
import type { FieldError } from "../../contract/problem";
import { err, ok, type Result } from "../../lib/result";
import type { RequestError } from "../problem";
import type { ToolInput } from "../schemas/tool";
import { toFieldErrors } from "../validation";
import { findGenerationFaults, readTools } from "./asked-with";
import { type BlockMessage, type ReadResult, readMessage } from "./read-blocks";
import type { CountBody, MessageParam } from "./request-body";

/** A message and the field that it came in: `messages.4`. */
export interface AddedMessage extends BlockMessage {
  readonly field: string;
}

export interface Added {
  readonly messages: readonly AddedMessage[];
  /** Null: the request names none. */
  readonly tools: readonly ToolInput[] | null;
}

const PREFILL = "must not be the assistant's: an answer cannot be begun for the model";
const MAX_ERRORS = 20;

/** The index of the first message that the model has not answered. */
export const findNew = (messages: readonly MessageParam[]): number => messages.findLastIndex(({ role }) => role === "assistant") + 1;

/** Messages from `from` on. */
export function readAdded(body: CountBody, from: number): Result<Added, RequestError> {
  const errors: FieldError[] = [];
  const last = body.messages.length - 1;
  if (body.messages[last]?.role === "assistant") errors.push({ field: `messages.${last}.role`, detail: PREFILL });
  const messages = body.messages.slice(from).map((message, index) => {
    const field = `messages.${from + index}`;
    return { ...readMessage(message, field, errors), field };
  });
  const tools = readTools(body.tools, errors);
  errors.push(...findGenerationFaults(body), ...messages.flatMap(findExcess));
  const empty = messages.find(({ parts, calls, results }) => parts.length + calls.length + results.length === 0);
  if (errors.length === 0 && empty) errors.push({ field: `${empty.field}.content`, detail: "must not be empty" });
  return errors.length > 0 ? err({ code: "invalid_request", errors: errors.slice(0, MAX_ERRORS) }) : ok({ messages, tools });
}

/** A message of more is no person's, and each part adds to every request. */
const MAX_PARTS = 128;

function findExcess({ field, parts, calls, results }: AddedMessage): FieldError[] {
  const most = Math.max(parts.length, calls.length, results.length);
  return most > MAX_PARTS ? [{ field: `${field}.content`, detail: `at most ${MAX_PARTS} blocks of a kind` }] : [];
}

export function parseRequest<S extends z.ZodType>(schema: S, given: unknown): Result<z.infer<S>, RequestError> {
  const parsed = schema.safeParse(given);
  return parsed.success ? ok(parsed.data) : err({ code: "invalid_request", errors: toFieldErrors(parsed.error.issues) });
}

/** Where the request has a result: its index among all results of the request. */
export const listResults = (messages: readonly AddedMessage[]): readonly ReadResult[] => messages.flatMap(({ results }) => results);
