/** Sentences of refusals, by reason. */
import type { ProbeFailure } from "../app/models/probe-limits";
import type { McpFailure } from "../app/tool-entry";
import type { ClosedCall } from "../domain/rejection";

export const notRetryable = (status: string | null): string =>
  status === null
    ? "No turn of this session has ended yet: there is nothing to retry."
    : `The last turn is ${status}; one that failed, was stopped or interrupted can be retried.`;

/** 422 means that the same request would get the same answer again. */
export const probeFaults: Readonly<Record<ProbeFailure["reason"], readonly [status: 422 | 502, detail: string]>> = {
  unsupported: [422, "This provider says nothing of its models' limits."],
  no_key: [422, "There is no key to ask with: the model's credential is gone or cannot be opened, or the deployment has none."],
  unreachable: [502, "The provider did not answer in time."],
  refused: [502, "The provider refused to say."],
  malformed: [502, "The provider's answer cannot be read."],
  unknown_model: [422, "The provider does not know the model."],
  no_limits: [422, "The provider knows the model and names no limits."],
};

export const mcpFaults: Readonly<Record<McpFailure["reason"], readonly [status: 422 | 502, detail: string]>> = {
  no_key: [422, "The server's credential is gone or cannot be opened."],
  refused_address: [422, "The server's address, or one that it sends on to, is not of the public internet."],
  unreachable: [502, "The server could not be reached."],
  timeout: [502, "The server did not answer in time."],
  status: [502, "The server refused to say what it has."],
  too_large: [502, "The server's answer is too large."],
  malformed: [502, "The server's answer is not MCP over streamable HTTP."],
};
/** The field of the request that keeps the server from being asked. */
export const mcpFields: Readonly<Partial<Record<McpFailure["reason"], string>>> = {
  no_key: "secret_header.credential",
  refused_address: "url",
};

export const closedCalls: Readonly<Record<ClosedCall, string>> = {
  answered: "the call was answered before",
  answered_here: "the call was answered by an earlier result of this request",
  runs_here: "the call is not the client's to answer: it runs on the server",
  cancelled: "the call was cancelled: its turn is over",
  unknown: "no recent call of this session has that id",
};
