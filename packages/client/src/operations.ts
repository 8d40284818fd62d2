/**
 * Generated from the OpenAPI document by `npm run client`. Do not edit: `npm run check` compares it with the document.
 */

/** POSTs that take an `Idempotency-Key`. */
export const TAKES_KEY: readonly string[] = [
  "/v1/sessions",
  "/v1/sessions/{session_id}/messages",
  "/v1/sessions/{session_id}/messages/batch",
  "/v1/sessions/{session_id}/tool_results",
  "/v1/sessions/{session_id}/approvals",
  "/v1/sessions/{session_id}/respond",
  "/v1/sessions/{session_id}/stop",
  "/v1/sessions/{session_id}/retry",
  "/v1/sessions/{session_id}/branches",
  "/v1/sessions/{session_id}/branches/{branch}/switch",
  "/v1/sessions/{session_id}/messages/{message_id}/edit",
  "/v1/sessions/{session_id}/messages/{message_id}/regenerate",
  "/v1/sessions/{session_id}/fork",
  "/v1/sessions/{session_id}/compactions",
  "/v1/sessions/{session_id}/compactions/{compaction_id}/revert",
  "/v1/sessions/{session_id}/compactions/{compaction_id}/commit",
  "/v1/keys",
  "/v1/keys/{key_id}/rotate",
  "/v1/files",
  "/v1/webhook_endpoints",
  "/v1/admin/tenants",
  "/v1/admin/tenants/{tenant_id}/keys",
  "/v1/admin/keys",
  "/v1/admin/keys/{key_id}/rotate",
];

/** POSTs that are answered when a turn has ended. */
export const RUNS_TURN: readonly string[] = [
  "/v1/sessions/{session_id}/messages",
  "/v1/sessions/{session_id}/tool_results",
  "/v1/sessions/{session_id}/approvals",
  "/v1/sessions/{session_id}/respond",
  "/v1/sessions/{session_id}/retry",
  "/v1/sessions/{session_id}/messages/{message_id}/edit",
  "/v1/sessions/{session_id}/messages/{message_id}/regenerate",
  "/v1/sessions/{session_id}/compactions",
];

/** Lists that are asked for by POST, with the cursor in the body. */
export const LISTED_BY_POST: readonly string[] = [
  "/v1/sessions/search",
  "/v1/retention/dry-run",
];

/** DELETEs that are answered by a status alone. */
export const DELETED_WITHOUT_BODY: readonly string[] = [
  "/v1/sessions/{session_id}/messages/{message_id}",
  "/v1/sessions/{session_id}/compactions/{compaction_id}",
  "/v1/sessions/{session_id}/schedules/{schedule_name}",
  "/v1/credentials/{credential_name}",
  "/v1/tools/{tool_name}",
  "/v1/mcp_servers/{server_name}",
  "/v1/channels/{channel_name}",
  "/v1/channels/{channel_name}/users/{user_id}",
  "/v1/webhook_endpoints/{endpoint_id}",
  "/v1/admin/plans/{plan_name}",
];

/** GETs whose answer is not JSON. */
export const ANSWERED_WITH_BYTES: readonly string[] = [
  "/docs",
  "/docs/{file}",
  "/v1/files/{file_id}/content",
  "/v1/exports/{export_id}/content",
];
