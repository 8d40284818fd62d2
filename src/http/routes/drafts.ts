/**
 * Edits, commits and discards drafts of compactions, and compares two summaries. A draft is requested and read like any
 * compaction.
 */

import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "@hono/zod-openapi";
import { MOST_QUESTIONS } from "../../app/compaction/ask-summaries";
import type { CompareInput } from "../../app/draft-api";
import { compactionView } from "../../contract/compaction";
import { summaryComparison, summaryRef } from "../../contract/comparison";
import { id } from "../../contract/ids";
import { readPrincipal } from "../auth";
import type { HttpDeps, HttpEnv } from "../deps";
import { COMPACTION } from "../examples/shared";
import { compactionExample, comparisonExample, draftExample } from "../examples/view";
import { idempotencyHeaders, readIdempotency } from "../idempotency";
import { sendProblem } from "../problem";
import { BUDGET_REFUSALS, MODEL_REFUSALS } from "../refusals";
import { json, jsonBody, tenantRoute } from "../routing";
import { commitInput, draftEdit } from "../schemas/control";
import { sessionPath } from "../schemas/paths";
import { actingClient, sessionClient } from "../session-calls";
import { ofNamedModel, ofSessionModel } from "../session-model";

const MAX_QUESTION = 1_000;
const MAX_EXPECT = 500;
const isFilled = (text: string): boolean => text.trim() !== "";
const filled = (most: number) => z.string().max(most).refine(isFilled, "must not be empty");

const compareInput = z
  .strictObject({
    a: summaryRef,
    b: summaryRef,
    questions: z
      .array(
        z.strictObject({
          question: filled(MAX_QUESTION),
          expect: filled(MAX_EXPECT).optional().openapi({ description: "What a good answer contains" }),
        }),
      )
      .max(MOST_QUESTIONS)
      .optional()
      .openapi({ description: "A model answers each question from summary a alone, then from summary b alone: two calls a question" }),
    model: z.string().min(1).optional().openapi({ description: "The model that answers. By default the session's model" }),
  })
  .openapi("CompareSummaries");

const toCompareInput = ({ a, b, questions = [], model }: z.infer<typeof compareInput>): CompareInput => ({
  a,
  b,
  questions: questions.map(({ question, expect = null }) => ({ question, expect })),
  model: model ?? null,
});

const tag = "context";
const scope = "sessions:write";
const path = "/v1/sessions/{session_id}/compactions/{compaction_id}";
const params = sessionPath.extend({ compaction_id: id("cmp") });

const edit = tenantRoute({
  method: "patch",
  path,
  tag,
  scope,
  operationId: "editDraft",
  summary: "Edit a draft",
  description:
    "Replaces the summary of a draft. `edits` names the version that the client read: a draft that changed since then is refused with 409.",
  refuses: ["compaction_not_found", "not_drafted", "draft_edited", "model_gone", "models_unavailable"],
  request: { params, body: jsonBody(draftEdit, { summary: "Ada ordered an umbrella (order 7719-B).", edits: 0 }) },
  responses: { 200: json("The draft, with the effect of committing it now", compactionView, draftExample) },
});

const commit = tenantRoute({
  method: "post",
  path: `${path}/commit`,
  tag,
  scope,
  operationId: "commitDraft",
  summary: "Commit a draft",
  description: "The draft's summary takes effect. It is refused if the conversation changed in the part that the summary covers.",
  refuses: ["compaction_not_found", "not_drafted", "draft_edited", "not_smaller", "turn_running", "model_gone", "models_unavailable"],
  request: { params, headers: idempotencyHeaders, body: jsonBody(commitInput, { edits: 1 }, false) },
  responses: { 200: json("The completed compaction. Its receipt names the editor", compactionView, compactionExample) },
});

const discard = tenantRoute({
  method: "delete",
  path,
  tag,
  scope,
  operationId: "discardDraft",
  summary: "Discard a draft",
  description: "Ends a draft, or a compaction that is still producing one. The view was never changed.",
  refuses: ["compaction_not_found", "not_drafted"],
  request: { params },
  responses: { 204: { description: "Discarded. The view was never changed" } },
});

const compare = tenantRoute({
  method: "post",
  path: "/v1/sessions/{session_id}/compactions/compare",
  tag,
  scope,
  operationId: "compareSummaries",
  summary: "Compare two summaries",
  description:
    "Compares two summaries by text, by the terms that they keep, and by their answers to questions. Each question costs two calls of a model; without questions no model is called.",
  refuses: [...BUDGET_REFUSALS, ...MODEL_REFUSALS],
  request: { params: sessionPath, body: jsonBody(compareInput, { a: COMPACTION, b: "current" }) },
  responses: { 200: json("The comparison. Without questions, no model was called", summaryComparison, comparisonExample) },
});

export function registerDrafts(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(edit, async (c) => {
    const { session_id, compaction_id: compaction } = c.req.valid("param");
    const input = { compaction, ...c.req.valid("json"), by: readPrincipal(c).key };
    // A repeated request finds its own text already stored.
    const edited = await actingClient(deps, c, session_id).repeatable((api, caller) => api.editDraft(caller, input));
    return edited.ok ? c.json(edited.value, 200) : sendProblem(c, ofSessionModel(edited.error));
  });

  app.openapi(commit, async (c) => {
    const { session_id, compaction_id: compaction } = c.req.valid("param");
    const { edits = null } = c.req.valid("json");
    const idempotency = await readIdempotency(c, c.req.valid("header")["Idempotency-Key"]);
    const calls = actingClient(deps, c, session_id);
    const send = idempotency ? calls.repeatable : calls.once;
    const committed = await send((api, caller) => api.commitDraft(caller, { compaction, edits, idempotency }));
    if (!committed.ok) return sendProblem(c, ofSessionModel(committed.error));
    if (committed.value.replayed) c.header("idempotent-replayed", "true");
    return c.json(committed.value.compaction, 200);
  });

  app.openapi(compare, async (c) => {
    const input = toCompareInput(c.req.valid("json"));
    const calls = sessionClient(deps, c, c.req.valid("param").session_id);
    // With questions, a repetition would pay a model twice.
    const send = input.questions.length > 0 ? calls.once : calls.repeatable;
    const comparison = await send((api, caller) => api.compareSummaries(caller, input));
    return comparison.ok ? c.json(comparison.value, 200) : sendProblem(c, ofNamedModel(comparison.error, input));
  });

  app.openapi(discard, async (c) => {
    const { session_id, compaction_id } = c.req.valid("param");
    const gone = await actingClient(deps, c, session_id).repeatable((api, caller) => api.discardDraft(caller, compaction_id));
    return gone.ok ? c.body(null, 204) : sendProblem(c, gone.error);
  });
}
