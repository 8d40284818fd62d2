/** A refusal as JSON-RPC words it. `data` is the problem document's part that a client can act on. */
import type { Refusal } from "../answer";

/** JSON-RPC's own codes, and those that MCP adds. */
export const RPC = {
  parse: -32_700,
  invalidRequest: -32_600,
  invalidParams: -32_602,
  internal: -32_603,
  /** The first of those that a server may define. MCP's servers use it for what has no code of its own. */
  server: -32_000,
  resourceNotFound: -32_002,
} as const;

const UNREADABLE = new Set(["not JSON", "not UTF-8"]);

function toCode({ code, answer }: Refusal): number {
  if (answer.errors?.some(({ field, detail }) => field === "body" && UNREADABLE.has(detail))) return RPC.parse;
  if (code === "invalid_request") return RPC.invalidRequest;
  return answer.status >= 500 ? RPC.internal : RPC.server;
}

/** The request's own id is unknown where a refusal is written: it is refused before its messages are read. */
export function toRpcError(refusal: Refusal) {
  const { code, answer, requestId } = refusal;
  const isUnauthorized = code === "unauthorized";
  // A host takes 401 as an offer of OAuth, which there is none of here, and shows what became of that in place of this message.
  const status = isUnauthorized ? 403 : answer.status;
  const data = { code, status, request_id: requestId, ...(answer.errors && { errors: answer.errors }) };
  const error = { code: toCode(refusal), message: isUnauthorized ? `unauthorized: ${answer.detail}` : answer.detail, data };
  return { status, body: { jsonrpc: "2.0", id: null, error } } as const;
}
