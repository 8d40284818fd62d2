/**
 * For the OpenAPI document: when each refusal is answered, and an error of it. Statuses and examples are made from these by the table in
 * `problem`, so that they cannot differ from what is sent. A reason with several statuses has an error of each.
 */
import { id } from "../contract/ids";
import { COMPACTION, ERASURE, EXECUTION, EXPORT, FILE, KEY, QUESTION, SESSION, TURN } from "./examples/shared";
import { DELIVERY, ENDPOINT } from "./examples/webhooks";
import type { ErrorsOf, ProblemCode } from "./problem";

const ETAG = '"9f86d081884c7d65"';
const MODEL = "gpt-4o-mini";
const session = id("ses").parse(SESSION);
const invalid = (field: string, detail: string) => [{ field, detail }];

/** A sentence that says when a refusal is answered, and errors that cause it, one for each status. */
type Sampled<C extends ProblemCode> = readonly [when: string, first: ErrorsOf[C], ...more: readonly ErrorsOf[C][]];

export const PROBLEMS: { readonly [C in ProblemCode]: Sampled<C> } = {
  invalid_request: [
    "The request is malformed; `errors` names each field at fault",
    { code: "invalid_request", errors: invalid("limit", "an integer from 1 to 200") },
  ],
  unknown_model: ["`model` names no model that the tenant can use", { code: "unknown_model", model: MODEL }],
  invalid_cursor: ["`after` is not a cursor of this list", { code: "invalid_cursor" }],
  unauthorized: ["There is no key or access token, or it is unknown, expired or revoked", { code: "unauthorized" }],
  forbidden: ["The key or access token lacks the scope", { code: "forbidden", scope: "sessions:write" }],
  key_required: ["The operation does not take this access token", { code: "key_required" }],
  beyond_access_token: [
    "An access token may not send this field",
    { code: "beyond_access_token", field: "model", detail: "needs an API key" },
  ],
  origin_not_allowed: ["The origin of the page is not among the tenant's `allowed_origins`", { code: "origin_not_allowed" }],
  budget_exhausted: [
    "A budget has too little left for the model's next call",
    {
      code: "budget_exhausted",
      budget: "monthly",
      of: "tenant",
      unit: "usd",
      amount: 100,
      spent: 99.2,
      reserved: 0.6,
      resets_at: 1_798_761_600_000,
    },
  ],
  budgets_unavailable: ["The tenant's budgets cannot be read at the moment", { code: "budgets_unavailable" }],
  rate_limited: [
    "A limit of requests a minute is used up",
    { code: "rate_limited", limit: "requests_per_minute", of: "tenant", max: 600, seconds: 12 },
  ],
  tenant_suspended: ["The tenant is suspended", { code: "tenant_suspended" }],
  beyond_own_key: [
    "The calling key has less than what it would give or take away",
    { code: "beyond_own_key", field: "scopes", detail: "the calling key does not have the scope keys:write" },
  ],
  role_missing: ["The admin key has a smaller role", { code: "role_missing", role: "operate" }],
  signature_not_valid: ["The signed address has expired, or is not as it was signed", { code: "signature_not_valid" }],
  not_found: [
    "A parameter of the path has not the form of such a name",
    { code: "not_found", errors: invalid("session_id", "must have the form ses_…") },
  ],
  session_not_found: ["There is no such session that the caller may reach", { code: "session_not_found" }],
  session_erased: ["The session was erased", { code: "session_erased" }],
  message_not_found: ["The session has no such message", { code: "message_not_found", message: QUESTION }],
  turn_not_found: ["The session has no such turn", { code: "turn_not_found", turn: TURN }],
  request_not_found: [
    "The turn has not called a model, or has fewer calls than asked for",
    { code: "request_not_found", turn: TURN, call: 2, calls: 1 },
  ],
  compaction_not_found: ["The session has no such compaction", { code: "compaction_not_found", compaction: COMPACTION }],
  branch_not_found: ["The session has no such branch", { code: "branch_not_found", branch: 2 }],
  execution_not_found: ["There is no such tool call, or it is not listed yet", { code: "execution_not_found", execution: EXECUTION }],
  end_user_not_found: ["No session has this end user, and no call of this month had", { code: "end_user_not_found" }],
  model_not_found: ["There is no such model", { code: "model_not_found", model: MODEL }],
  credential_not_found: ["There is no such credential", { code: "credential_not_found", credential: "openai" }],
  tool_not_found: ["There is no such tool", { code: "tool_not_found", tool: "weather" }],
  mcp_server_not_found: ["There is no such MCP server", { code: "mcp_server_not_found", server: "github" }],
  channel_not_found: ["There is no such channel", { code: "channel_not_found", channel: "support" }],
  channel_limit: ["The tenant has as many channels as it may", { code: "channel_limit", limit: 32 }],
  pairing_off: ["The channel's access is not by pairing", { code: "pairing_off", mode: "open" }],
  pairing_code_limit: ["As many codes of the channel wait as may wait", { code: "pairing_code_limit", limit: 50 }],
  paired_user_not_found: ["No such person is paired with the channel", { code: "paired_user_not_found", user: "4711" }],
  erasure_not_found: ["There is no such erasure", { code: "erasure_not_found", erasure: ERASURE }],
  file_not_found: ["There is no such file", { code: "file_not_found", file: FILE }],
  export_not_found: ["There is no such export, or it is not ready", { code: "export_not_found", export: EXPORT }],
  import_not_found: [
    "There is no such import, or its report has expired",
    { code: "import_not_found", import: "imp_01JD8Z3V6Q4N7R2T5W9X0Y1ABC" },
  ],
  import_limit: ["The tenant keeps as many imports as it may", { code: "import_limit", limit: 20 }],
  export_limit: ["The tenant keeps as many exports as it may", { code: "export_limit", limit: 20 }],
  webhook_endpoint_not_found: ["There is no such endpoint", { code: "webhook_endpoint_not_found", endpoint: ENDPOINT }],
  webhook_delivery_not_found: ["The endpoint has no such delivery", { code: "webhook_delivery_not_found", delivery: DELIVERY }],
  webhook_endpoint_limit: ["The tenant has as many endpoints as it may have", { code: "webhook_endpoint_limit", limit: 20 }],
  webhook_endpoint_disabled: ["The endpoint is disabled", { code: "webhook_endpoint_disabled", endpoint: ENDPOINT }],
  key_not_found: ["There is no such key", { code: "key_not_found", key: KEY }],
  plan_not_found: ["There is no such tenant plan", { code: "plan_not_found", plan: "starter" }],
  tenant_not_found: ["There is no such tenant", { code: "tenant_not_found" }],
  turn_running: ["A turn is under way, or messages wait", { code: "turn_running", turn: TURN }],
  queue_full: ["As many messages wait as may wait", { code: "queue_full", limit: 32 }],
  no_turn: ["No turn is open", { code: "no_turn" }],
  not_retryable: ["The last turn was completed, or there is none", { code: "not_retryable", status: "completed" }],
  call_not_open: ["A result is for a call that waits for none", { code: "call_not_open", index: 0, call: EXECUTION, became: "answered" }],
  calls_unanswered: [
    "The open turn waits for calls that the request does not answer",
    { code: "calls_unanswered", calls: [{ execution: id("exe").parse(EXECUTION), call_id: "call_1" }] },
  ],
  approval_not_open: ["A call waits for no approval", { code: "approval_not_open", index: 0, execution: EXECUTION }],
  message_not_queued: ["No such message waits in the queue", { code: "message_not_queued", message: QUESTION }],
  client_id_taken: ["Another message of the session has the `client_id`", { code: "client_id_taken", message: QUESTION }],
  external_id_taken: ["Another session of the tenant has the `external_id`", { code: "external_id_taken", session }],
  compaction_running: ["A compaction is under way", { code: "compaction_running", compaction: COMPACTION }],
  draft_open: ["Another draft is open", { code: "draft_open", compaction: COMPACTION }],
  not_drafted: ["The compaction is no open draft", { code: "not_drafted", compaction: COMPACTION }],
  draft_edited: ["The draft was edited after it was read", { code: "draft_edited", edits: 2 }],
  not_newest: ["A newer compaction is in effect, or this one is in effect no more", { code: "not_newest", newest: COMPACTION }],
  schedule_not_found: ["The session has no such schedule", { code: "schedule_not_found", schedule: "briefing" }],
  schedule_limit: ["The session has as many schedules that will run as it may have", { code: "schedule_limit", limit: 16 }],
  branch_limit: ["The session has as many branches as it may have", { code: "branch_limit", limit: 1_000 }],
  fork_unfinished: ["The session is a copy that is not complete", { code: "fork_unfinished", from: SESSION }],
  tenant_exists: ["A tenant with this id exists already", { code: "tenant_exists" }],
  move_conflict: [
    "Another move of the tenant is under way, or has switched already",
    { code: "move_conflict", reason: "other_target", to: "DB_3" },
  ],
  last_owner: ["There is no ADMIN_KEY, and no other owner lasts as long as the key", { code: "last_owner" }],
  key_ended: [
    "The key is revoked or expired, or was rotated already",
    { code: "key_ended", became: "rotated", rotated_to: id("key").parse(KEY) },
  ],
  plan_in_use: ["Tenants have the plan", { code: "plan_in_use", tenants: 3 }],
  plan_limit: ["The deployment has as many tenant plans as it may have", { code: "plan_limit", limit: 200 }],
  key_limit: ["As many keys are valid as may be", { code: "key_limit", limit: 100 }],
  session_limit: [
    "The tenant, or the end user, has as many sessions as it may have",
    { code: "session_limit", of: "tenant", limit: 10_000 },
  ],
  message_limit: ["The session has as many messages as it may have", { code: "message_limit", limit: 1_000 }],
  model_limit: ["The tenant has as many models as it may have", { code: "model_limit", limit: 100 }],
  credential_limit: ["The tenant has as many credentials as it may have", { code: "credential_limit", limit: 50 }],
  tool_limit: ["The tenant has as many tools or servers as it may have", { code: "tool_limit", of: "tools", limit: 128 }],
  file_limit: ["The tenant stores as many files, or as many bytes, as it may", { code: "file_limit", of: "files", limit: 10_000 }],
  model_not_own: ["The model belongs to the deployment", { code: "model_not_own", model: MODEL }],
  model_is_default: ["The model is the tenant's default", { code: "model_is_default", model: MODEL }],
  upload_too_slow: ["The upload took too long; nothing was stored", { code: "upload_too_slow", limit: 300_000 }],
  length_required: ["There is no `Content-Length`", { code: "length_required" }],
  precondition_failed: [
    "The resource is not as `If-Match` or `If-None-Match` asks; nothing was changed",
    { code: "precondition_failed", etag: ETAG },
  ],
  url_too_long: ["Path and query have too many characters", { code: "url_too_long", limit: 16_384 }],
  headers_too_large: ["The headers are too many or too large", { code: "headers_too_large", count: 12, longest: "cookie" }],
  body_too_large: ["The body has too many bytes", { code: "body_too_large", limit: 1_048_576 }],
  context_too_large: ["The answer would be too large", { code: "context_too_large", characters: 9_000_000, limit: 8_000_000 }],
  file_too_large: ["The file has too many bytes", { code: "file_too_large", field: "body", limit: 20_971_520 }],
  unsupported_media_type: ["The body is not JSON in UTF-8", { code: "unsupported_media_type" }],
  file_type_not_allowed: [
    "The content is of no type that is stored, or not of the type that is named",
    { code: "file_type_not_allowed", field: "body", found: "application/zip" },
  ],
  idempotency_conflict: ["The `Idempotency-Key` was used with another request", { code: "idempotency_conflict" }],
  would_not_fit: ["The next request would not fit", { code: "would_not_fit", tokens: 130_000, limit: 120_000 }],
  too_many_items: ["More messages would come back than one change can carry", { code: "too_many_items", items: 40_000 }],
  not_smaller: [
    "With this summary the next request would not be smaller",
    { code: "not_smaller", tokens_before: 9_000, tokens_after: 9_400 },
  ],
  cannot_fit: [
    "What no compaction can remove does not fit",
    { code: "cannot_fit", fit: { floor: 9_000, limit: 8_000, biggest: [{ what: "system", tokens: 8_500 }] } },
  ],
  model_gone: ["The session's own model is no longer known", { code: "model_gone", model: MODEL }],
  default_model_gone: ["The tenant's default model is no longer known", { code: "default_model_gone", model: MODEL }],
  request_unknown: ["The format of the past request is not known any more", { code: "request_unknown", model: MODEL }],
  probe_failed: [
    "The provider did not tell the limits; `reason` says why",
    { code: "probe_failed", reason: "unsupported", status: null },
    { code: "probe_failed", reason: "refused", status: 403 },
  ],
  mcp_failed: [
    "The server did not list its tools; `reason` says why",
    { code: "mcp_failed", reason: "refused_address", status: null },
    { code: "mcp_failed", reason: "status", status: 500 },
  ],
  internal: ["A defect; the logs have it under the request id", { code: "internal" }],
  misconfigured: [
    "A variable of the deployment is invalid",
    { code: "misconfigured", errors: invalid("ADMIN_KEY", "must have at least 16 characters") },
  ],
  credentials_disabled: ["The deployment stores no credentials", { code: "credentials_disabled" }],
  files_disabled: ["The deployment stores no files", { code: "files_disabled" }],
  unavailable: ["The session or tenant is being moved; send the request again", { code: "unavailable" }],
  overloaded: ["The session or tenant accepts no more requests for now", { code: "overloaded" }],
  read_model_unavailable: ["The database of lists is out of reach", { code: "read_model_unavailable" }],
  models_unavailable: ["The model registry is out of reach; nothing was changed", { code: "models_unavailable" }],
  file_store_unavailable: ["The store of files is out of reach; nothing was changed", { code: "file_store_unavailable" }],
  storage_full: ["The session's storage is full; nothing was changed", { code: "storage_full" }],
};

const isCode = (name: string): name is ProblemCode => name in PROBLEMS;
export const PROBLEM_CODES: readonly ProblemCode[] = Object.keys(PROBLEMS).filter(isCode);
