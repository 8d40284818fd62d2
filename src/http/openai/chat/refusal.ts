/** Refusals of a session in the words and fields of a chat completion. */
import type { HttpError } from "../../problem";
import { toChatField } from "./asked";
import { type CompletionMessage, toCallName } from "./messages";

const invalid = (field: string, detail: string): HttpError => ({ code: "invalid_request", errors: [{ field, detail }] });

/** What of the request was sent to the session: each list with the field that the request has it in. */
interface SentFields {
  readonly messages: readonly { readonly field: string }[];
  readonly results: readonly Pick<CompletionMessage, "field" | "answers">[];
}

/** The field of the request that our refusal means by `messages.0` or `results.0`: the first that is new. */
function toTheirField(field: string, { messages, results }: SentFields): string {
  const [list, index = "", ...rest] = field.split(".");
  const given = list === "messages" ? messages : list === "results" ? results : null;
  const place = given?.[Number(index)]?.field;
  if (place === undefined) return toChatField(field);
  return [place, ...rest.map((name) => (name === "call_id" ? "tool_call_id" : name))].join(".");
}

export function toChatError(error: HttpError, sent: SentFields): HttpError {
  if (error.code === "invalid") return { ...error, field: toTheirField(error.field, sent) };
  if (error.code === "call_not_open") {
    const given = error.index === null ? undefined : sent.results[error.index];
    return invalid(
      given ? `${given.field}.tool_call_id` : "messages",
      `Messages with role 'tool' must be a response to a preceding message with 'tool_calls': no call ${given?.answers ?? error.call} is open.`,
    );
  }
  if (error.code !== "calls_unanswered") return error;
  const names = error.calls.map(({ execution }) => toCallName(execution)).join(", ");
  return invalid(
    "messages",
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${names}.`,
  );
}
