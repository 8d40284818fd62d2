/**
 * Documented answers that no test of the Worker causes, each with the reason. Keep it short: a reader of the document may rely on what is listed.
 */
const session = "/v1/sessions/{session_id}";
const HUGE = "It takes many megabytes of messages that left the view; `test/session/take-back.test.ts` has such a session.";
const SHOWN = "It takes a request of eight megabytes; `test/session/answer-size.test.ts` has one.";
const DEPLOYED = "It takes a deployment that drops a model; `test/http/sessions.test.ts` has a tenant of one.";

export const NEVER_ANSWERED: ReadonlyMap<string, string> = new Map([
  ["GET /healthz 500 internal", "It looks at nothing that can fail. A client must expect it nevertheless."],
  ["GET /openapi.json 500 internal", "It is made of the code alone. A client must expect it nevertheless."],
  ["GET /docs 404 not_found", "The tests' deployment has its files; `test/http/docs.test.ts` has one without."],
  ["POST /v1/files 408 upload_too_slow", "It takes minutes; `test/http/slow-upload.test.ts` moves its own clock."],
  ["POST /v1/sessions 422 default_model_gone", DEPLOYED],
  ["PUT /v1/sessions/by-external-id/{external_id} 422 default_model_gone", DEPLOYED],
  [
    `POST ${session}/compactions/compare 402 budget_exhausted`,
    "It takes two summaries and then a budget; `test/session/budgets.test.ts` has them.",
  ],
  [`GET ${session}/context 422 request_unknown`, "Only a call through a provider that was removed since is without its format."],
  [`GET ${session}/context 413 context_too_large`, SHOWN],
  [`POST ${session}/context 413 context_too_large`, SHOWN],
  [`POST ${session}/branches 422 too_many_items`, HUGE],
  [`POST ${session}/respond 422 too_many_items`, HUGE],
  [`POST ${session}/branches/{branch}/switch 422 too_many_items`, HUGE],
  [`POST ${session}/compactions/{compaction_id}/revert 422 too_many_items`, HUGE],
  [`POST ${session}/messages/{message_id}/edit 422 too_many_items`, HUGE],
  [`POST ${session}/messages/{message_id}/regenerate 422 too_many_items`, HUGE],
]);
