/** Sentences of refusals, by reason. */
import type { ProbeFailure } from "../app/models/probe-limits";
import type { McpFailure } from "../app/tool-entry";
import type { SessionId } from "../domain/ids";
import type { ClosedCall } from "../domain/rejection";
import { conflict, type RouteAnswer } from "./answer";

/** Names the session that has the external id: the caller may want that one. */
export function externalIdTaken(session: SessionId): RouteAnswer {
  const detail = "another session of the tenant has it";
  const answer = conflict("External id taken", `external_id: ${detail}.`, { session_id: session });
  return { ...answer, errors: [{ field: "external_id", detail }] };
}

export const moveConflicts: Readonly<Record<"other_target" | "switched", (to: string) => string>> = {
  other_target: (to) => `The tenant is being moved to ${to}. Let that move end, or cancel it, first.`,
  switched: (to) =>
    `The tenant is in ${to} already, and only the old database is still to be emptied. Let the move end, then move the tenant back.`,
};

export const notRetryable = (status: string | null): string =>
  status === null
    ? "No turn of this session has ended yet, so there is nothing to retry."
    : `The last turn is ${status}; only a turn that failed, was stopped or was interrupted can be retried.`;

/** 422 means that the same request would get the same answer again. */
export const probeFaults: Readonly<Record<ProbeFailure["reason"], readonly [status: 422 | 502, detail: string]>> = {
  unsupported: [422, "This provider does not publish its models' limits."],
  no_key: [
    422,
    "There is no key for this request: the model's credential was deleted or cannot be decrypted, or the deployment has no key.",
  ],
  unreachable: [502, "The provider did not answer in time."],
  refused: [502, "The provider refused the request for its limits."],
  malformed: [502, "The provider's answer cannot be read."],
  unknown_model: [422, "The provider does not know the model."],
  no_limits: [422, "The provider knows the model but does not report its limits."],
};

export const mcpFaults: Readonly<Record<McpFailure["reason"], readonly [status: 422 | 502, detail: string]>> = {
  no_key: [422, "The server's credential was deleted or cannot be decrypted."],
  refused_address: [422, "The server's address, or the target of a redirect, is not on the public internet."],
  unreachable: [502, "The server could not be reached."],
  timeout: [502, "The server did not answer in time."],
  status: [502, "The server refused to list its tools."],
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
  runs_here: "the client cannot answer this call: it runs on the server",
  cancelled: "the call was cancelled when its turn ended",
  unknown: "no recent call of this session has that id",
};
