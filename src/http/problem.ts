/**
 * Converts every refusal to an RFC 9457 document. The table below is exhaustive by its type: a new reason anywhere in the
 * code does not compile until it has a status here. Details name ids, fields and limits, never content.
 */
import type { Context } from "hono";
import type { AdminKeyError, PlanError } from "../app/deployment-api";
import type { MoveRefusal } from "../app/placement";
import type { ReadError } from "../app/read-api";
import type { SessionError } from "../app/session-api";
import type { TenantError } from "../app/tenant-api";
import type { McpFailure } from "../app/tool-entry";
import { tooLarge } from "../app/turn/describe-failure";
import type { FieldError } from "../contract/problem";
import { type AccessError, accessAnswers } from "./access-problems";
import { conflict, invalid, NOT_FOUND, type Refusal, type RouteAnswer, retryLater, toText, unknown } from "./answer";
import { channelAnswers, type WebhookRefused } from "./channel-problems";
import type { HttpEnv } from "./deps";
import { draftAnswers } from "./draft-problems";
import { type FileError, fileAnswers } from "./file-problems";
import { limitAnswers, type RequestLimitError } from "./limit-problems";
import { type ModelError, modelAnswers } from "./model-problems";
import { closedCalls, externalIdTaken, mcpFaults, mcpFields, moveConflicts, notRetryable } from "./problem-texts";
import { scheduleAnswers } from "./schedule-problems";
import { findErrorFormat, findErrorMembers } from "./surface/error-formats";
import { tenantAnswers } from "./tenant-problems";

/** The refusals of the HTTP layer itself. */
export type RequestError =
  | { readonly code: "invalid_request"; readonly errors: readonly FieldError[] }
  | AccessError
  /** `errors`: the path is known, but these of its parameters cannot name anything. `hint`: a common mistake in such a path. */
  | { readonly code: "not_found"; readonly errors?: readonly FieldError[]; readonly hint?: string }
  | { readonly code: "method_not_allowed"; readonly allow: readonly string[] }
  | { readonly code: "body_too_large"; readonly limit: number }
  | RequestLimitError
  | ModelError
  | WebhookRefused
  | { readonly code: "unsupported_media_type" }
  | { readonly code: "read_model_unavailable" }
  | Extract<MoveRefusal, { readonly code: "move_conflict" }>
  | { readonly code: "execution_not_found"; readonly execution: string }
  | { readonly code: "end_user_not_found" }
  /** The deployment has no key for sealing credentials. */
  | { readonly code: "credentials_disabled" }
  | ({ readonly code: "mcp_failed" } & McpFailure)
  | { readonly code: "overloaded" }
  | { readonly code: "unavailable" }
  | { readonly code: "internal" }
  /** A variable of the deployment is invalid. */
  | { readonly code: "misconfigured"; readonly errors: readonly FieldError[] };

export type HttpError = SessionError | TenantError | AdminKeyError | PlanError | ReadError | FileError | RequestError;
type ErrorOf = { [E in HttpError as E["code"]]: E };
/** Reasons inside of the code that clients know as another one. */
const KNOWN_AS = { invalid: "invalid_request", own_key_ended: "unauthorized" } as const;
/** Reasons that no operation is refused for: the first and the last are answered where there is no operation, the others by objects to the service itself. */
type Unlisted = "method_not_allowed" | "session_exists" | "file_taken" | "lease_held" | "stale" | "webhook_refused";
/** What the `type` of an operation's refusal ends with. */
export type ProblemCode = Exclude<keyof ErrorOf, keyof typeof KNOWN_AS | Unlisted>;
export type ErrorsOf = Pick<ErrorOf, ProblemCode>;

const answers: { readonly [C in keyof ErrorOf]: (error: ErrorOf[C]) => RouteAnswer } = {
  session_not_found: () => unknown("session"),
  session_erased: () => ({ status: 404, title: "Session erased", detail: "The session was erased." }),
  external_id_taken: ({ session }) => externalIdTaken(session),
  session_exists: () => conflict("Session exists", "A session with this id exists already."),
  turn_running: ({ turn }) => conflict("Turn running", "A turn of this session is under way.", { turn_id: turn || null }),
  queue_full: ({ limit }) => ({
    ...conflict("Queue full", `At most ${limit} messages can wait. Send the message again after a turn has ended.`, { limit }),
    headers: { "Retry-After": "1" },
  }),
  no_turn: () => conflict("No turn", "No turn of this session is open."),
  not_retryable: ({ status }) => conflict("Not retryable", notRetryable(status), { turn_status: status }),
  call_not_open: ({ index, call, became }) => {
    const field = index === null ? "call_id" : `results.${index}`;
    const detail = became ? closedCalls[became] : "the call is not open";
    return { ...conflict("Call not open", `${field}: ${detail}.`, { call, ...(became && { became }) }), errors: [{ field, detail }] };
  },
  calls_unanswered: ({ calls }) =>
    conflict("Calls unanswered", `The open turn waits for ${calls.length} calls: answer them first, all in one request.`, {
      calls: calls.map(({ execution, call_id }) => ({ execution_id: execution, call_id })),
    }),
  approval_not_open: ({ index }) => {
    const field = `approvals.${index}`;
    const detail = "no call of that execution_id waits for an approval";
    return { ...conflict("Approval not open", `${field}: ${detail}.`), errors: [{ field, detail }] };
  },
  message_not_queued: ({ message }) => conflict("Message not queued", "No such message waits in the queue.", { message_id: message }),
  stale: ({ reason }) => conflict("Stale", "The state that this request was based on has changed.", { reason }),
  compaction_running: ({ compaction }) =>
    conflict("Compaction running", "A compaction of this session is under way.", { compaction_id: compaction }),
  not_newest: ({ newest }) =>
    conflict(
      "Not the newest compaction",
      newest === null ? "There is no compaction to revert." : `Only the newest compaction in effect can be reverted: ${newest}.`,
      { newest_compaction_id: newest },
    ),
  branch_limit: ({ limit }) => conflict("Too many branches", `A session has at most ${limit} branches; a fork begins with one.`, { limit }),
  storage_full: () => ({
    status: 507,
    title: "Storage full",
    detail: "The session's storage is full, and nothing was changed. The session can be read, forked and erased.",
  }),
  message_not_found: () => unknown("message"),
  client_id_taken: ({ message, index, list = "items" }) => {
    const field = index === undefined ? "client_id" : `${list}.${index}.client_id`;
    const detail = "a message of this session has it already";
    return { ...conflict("Client id taken", `${field}: ${detail}.`, { message_id: message }), errors: [{ field, detail }] };
  },
  erasure_not_found: () => unknown("erasure"),
  branch_not_found: () => unknown("branch", "branch"),
  fork_unfinished: ({ from }) =>
    conflict("Fork unfinished", `The copy from ${from} was not finished: send the same POST again with its Idempotency-Key.`, {
      from,
    }),
  ...draftAnswers,
  ...scheduleAnswers,
  ...fileAnswers,
  ...tenantAnswers,
  lease_held: ({ expires_at }) => conflict("Lease held", "Another worker holds this compaction.", { expires_at }),
  idempotency_conflict: () => ({
    status: 422,
    title: "Idempotency key reused",
    detail: "Idempotency-Key: was used with a different request.",
    errors: [{ field: "Idempotency-Key", detail: "was used with a different request" }],
  }),
  turn_not_found: () => unknown("turn"),
  compaction_not_found: () => unknown("compaction"),
  request_not_found: ({ call, calls }) => ({
    ...NOT_FOUND,
    detail: calls === 0 ? "The turn has not called a model yet." : `call: the turn has ${calls}, and no request ${call ?? calls}.`,
    extra: { calls },
  }),
  execution_not_found: () => unknown("execution"),
  end_user_not_found: () => unknown("end user", "end_user"),
  cannot_fit: ({ fit }) => ({
    status: 422,
    title: fit.bytes ? "Request too large" : "Context window exceeded",
    detail: fit.bytes
      ? tooLarge(fit.bytes)
      : `The content that no compaction can remove takes about ${fit.floor} tokens; the model has room for ${fit.limit}.`,
    extra: { fit },
  }),
  context_too_large: ({ characters, limit }) => ({
    status: 413,
    title: "Context too large to show",
    detail: `The next request is ${characters} characters; at most ${limit} are shown. List the messages to read them page by page.`,
    extra: { characters, limit },
  }),
  invalid: ({ field, detail }) => invalid([{ field, detail }]),

  tenant_not_found: () => unknown("tenant"),
  tenant_exists: () => conflict("Tenant exists", "A tenant with this id exists already."),
  own_key_ended: () => answers.unauthorized({ code: "unauthorized" }),
  key_not_found: () => unknown("key"),
  plan_not_found: () => unknown("plan", "plan_name"),
  credential_not_found: () => unknown("credential", "credential_name"),
  ...limitAnswers,
  ...accessAnswers,
  ...channelAnswers,
  ...modelAnswers,
  tool_not_found: () => unknown("tool", "tool_name"),
  mcp_server_not_found: () => unknown("server", "server_name"),
  precondition_failed: ({ etag }) => ({
    status: 412,
    title: "Precondition failed",
    detail:
      etag === null
        ? "If-Match: the resource does not exist."
        : "The resource is not as If-Match or If-None-Match asks; nothing was changed. Read it again.",
    extra: { etag },
    ...(etag !== null && { headers: { ETag: etag } }),
  }),
  invalid_cursor: () => invalid([{ field: "after", detail: "not a cursor of this list" }]),

  invalid_request: ({ errors }) => invalid(errors),
  not_found: ({ errors, hint }) => ({
    ...NOT_FOUND,
    detail: [errors ? `${toText(errors)}.` : "There is no such resource.", ...(hint ? [hint] : [])].join(" "),
    ...(errors && { errors }),
  }),
  method_not_allowed: ({ allow }) => ({
    status: 405,
    title: "Method not allowed",
    detail: `This resource supports ${allow.join(", ")}.`,
    headers: { Allow: allow.join(", ") },
  }),
  body_too_large: ({ limit }) => ({
    status: 413,
    title: "Body too large",
    detail: `body: at most ${limit} bytes.`,
    errors: [{ field: "body", detail: `at most ${limit} bytes` }],
    extra: { limit },
  }),
  unsupported_media_type: () => ({
    status: 415,
    title: "Unsupported media type",
    detail: "Content-Type: must be application/json in UTF-8.",
    errors: [{ field: "Content-Type", detail: "must be application/json in UTF-8" }],
  }),
  move_conflict: ({ reason, to }) => conflict("A move is under way", moveConflicts[reason](to), { reason, to }),
  read_model_unavailable: () => retryLater("Lists are unavailable at the moment. Conversations are not affected."),
  credentials_disabled: () => ({
    status: 501,
    title: "Credentials not configured",
    detail: "This deployment stores no credentials, because CREDENTIALS_KEYS is not set.",
  }),
  mcp_failed: ({ reason, status: server_status }) => {
    const [status, detail] = mcpFaults[reason];
    const field = mcpFields[reason];
    return { status, title: "Tools unavailable", detail, extra: { reason, server_status }, ...(field && { errors: [{ field, detail }] }) };
  },
  overloaded: () => retryLater("The session or tenant accepts no more requests at the moment."),
  unavailable: () => retryLater("The session or tenant is being moved; send the request again."),
  internal: () => ({ status: 500, title: "Internal error", detail: "An internal error occurred. The logs have it under the request id." }),
  misconfigured: ({ errors }) => ({
    status: 500,
    title: "Misconfigured",
    detail: errors.map(({ field, detail }) => (detail.startsWith(field) ? detail : `${field}: ${detail}`)).join("; "),
    errors,
  }),
};

function toRouteAnswer<C extends keyof ErrorOf>(code: C, error: ErrorOf[C]): RouteAnswer {
  return answers[code](error);
}

const isRenamed = (code: HttpError["code"]): code is keyof typeof KNOWN_AS => code in KNOWN_AS;
const toType = (code: HttpError["code"]): string => `urn:longhand:problem:${isRenamed(code) ? KNOWN_AS[code] : code}`;

/** A refusal as a document, and the headers that it is sent with. */
export function describeRefusal(error: HttpError, request_id: string) {
  const { status, title, detail, errors, extra, headers } = toRouteAnswer(error.code, error);
  const document = { type: toType(error.code), title, status, detail, request_id, ...(errors && { errors }), ...extra };
  return { status, document, headers: { ...headers, "content-type": "application/problem+json" } };
}

/** A refusal before it has a form. */
export function toRefusal(error: HttpError, requestId: string): Refusal {
  return { code: isRenamed(error.code) ? KNOWN_AS[error.code] : error.code, answer: toRouteAnswer(error.code, error), requestId };
}

/**
 * Sends a refusal. `type` is `urn:longhand:problem:<code>`; `request_id` is the id in the logs. Under the path of another vendor's API it
 * is sent in that vendor's form.
 */
export function sendProblem(c: Context<HttpEnv>, error: HttpError): Response {
  const requestId = c.get("requestId");
  const asked = { path: c.req.path, anthropicVersion: c.req.header("anthropic-version") };
  const refusal = toRefusal(error, requestId);
  const format = findErrorFormat(asked);
  if (format) {
    const formatted = format(refusal);
    return c.json(formatted.body, formatted.status, { ...refusal.answer.headers });
  }
  const { status, document, headers } = describeRefusal(error, requestId);
  return c.json({ ...document, ...findErrorMembers(asked, refusal) }, status, headers);
}
