/** A person's answers to requests for approval: which calls they are about, and what refuses a request that leaves one out. */
import type { ApprovalInput } from "../../../app/session-api";
import { err, ok, type Result } from "../../../lib/result";
import type { HttpError } from "../../problem";
import type { SessionCalls } from "../../session-calls";
import { parseItemName } from "../items/item-names";
import type { ReadInput } from "../items/transcript";
import type { ResponseRequest } from "./request";

type Read<T> = Promise<Result<T, HttpError>>;

/** A name that is refused is repeated up to this length. */
const MAX_SHOWN = 128;

const toUnknown = (field: string, request: string): HttpError => ({
  code: "invalid_request",
  errors: [{ field: `${field}.approval_request_id`, detail: `No approval request found with id '${request.slice(0, MAX_SHOWN)}'.` }],
});

/** Refuses an approval of a request that goes on behind nothing: no session that it opens has the call. */
export function findLoneApproval({ place, input: { approvals } }: ResponseRequest): HttpError | null {
  const [first] = approvals;
  return first && place.kind === "nothing" ? toUnknown(first.field, first.request) : null;
}

/** Refuses messages beside an approved call, which runs before the model reads on. */
export function findApprovalFault({ input: { approvals, messages } }: ResponseRequest): HttpError | null {
  const approved = approvals.find(({ approve }) => approve);
  if (!approved || messages.length === 0) return null;
  const detail = "An approved call runs first: send messages with the response after it.";
  return { code: "invalid_request", errors: [{ field: approved.field, detail }] };
}

/** A request's name holds the call. */
export async function findApprovals(calls: SessionCalls, given: ReadInput["approvals"]): Read<readonly ApprovalInput[]> {
  const found: ApprovalInput[] = [];
  for (const { field, request, approve, reason } of given) {
    const named = parseItemName(request);
    if (named?.prefix !== "mcpr" || (named.session ?? calls.session) !== calls.session) return err(toUnknown(field, request));
    const reply = await calls.repeatable((api, caller) => api.message(caller, named.id));
    if (!reply.ok) return reply.error.code === "message_not_found" ? err(toUnknown(field, request)) : reply;
    const call = reply.value.tool_calls?.find(({ id }) => id === named.id);
    if (!call) return err(toUnknown(field, request));
    found.push({ execution_id: call.execution_id, approved: approve, reason });
  }
  return ok(found);
}

/** A call that waits for a person's approval is not waiting for an output. */
export async function explainWait(calls: SessionCalls, error: HttpError): Promise<HttpError> {
  if (error.code !== "calls_unanswered") return error;
  const described = await calls.repeatable((api, caller) => api.describe(caller));
  const open = described.ok ? (described.value.turn?.open_calls ?? []) : [];
  const [owed] = error.calls;
  const isAsked = open.some(({ id, approval }) => id === owed?.execution && approval === "pending");
  if (!isAsked) return error;
  const detail = "No approval response found for an approval request of the previous response.";
  return { code: "invalid_request", errors: [{ field: "input", detail }] };
}
