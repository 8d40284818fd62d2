/** Changes the model's view of a session by hand: compacts, reverts, resets the summary. */

import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { CompactOutcome } from "../../app/control-api";
import type { Once } from "../../app/session-api";
import { compactionView } from "../../contract/compaction";
import { id } from "../../contract/ids";
import { shownPlan } from "../../contract/plan";
import type { SessionId } from "../../domain/ids";
import type { HttpDeps, HttpEnv } from "../deps";
import { compactionExample, planExample, revertedExample, runningExample } from "../examples/view";
import { idempotencyHeaders, readIdempotency } from "../idempotency";
import { prefersAsync } from "../negotiate";
import { sendProblem } from "../problem";
import { BUDGET_REFUSALS, MODEL_REFUSALS } from "../refusals";
import { json, jsonBody, located, tenantRoute } from "../routing";
import { compactInput, toCompactInput } from "../schemas/control";
import { sessionPath } from "../schemas/paths";
import { actingClient } from "../session-calls";
import { ofNamedModel, ofSessionModel } from "../session-model";

const tag = "context";
const scope = "sessions:write";
const path = "/v1/sessions/{session_id}";

const compact = tenantRoute({
  method: "post",
  path: `${path}/compactions`,
  tag,
  scope,
  operationId: "createCompaction",
  summary: "Compact now",
  description:
    "Makes room in the model's view. `dry_run` only shows the plan, and `draft` makes a summary that takes effect when it is committed. A compaction that needs a model runs in the background.",
  refuses: ["compaction_running", "draft_open", "cannot_fit", ...BUDGET_REFUSALS, ...MODEL_REFUSALS],
  request: {
    params: sessionPath,
    headers: idempotencyHeaders.extend({
      Prefer: z
        .string()
        .optional()
        .openapi({ description: "respond-async has no effect: a compaction that needs a model always runs in the background" }),
    }),
    body: jsonBody(compactInput, { instructions: "Keep every order number." }, false),
  },
  responses: {
    200: json("The plan of a dry run, or a plan of kind `none` when there is nothing to do. Nothing was stored", shownPlan, planExample),
    201: located(json("The compaction, completed: no model was needed", compactionView, compactionExample)),
    202: located(json("The compaction runs in the background, after the running turn if there is one", compactionView, runningExample)),
  },
});

const revert = tenantRoute({
  method: "post",
  path: `${path}/compactions/{compaction_id}/revert`,
  tag,
  scope,
  operationId: "revertCompaction",
  summary: "Revert the newest compaction",
  description:
    "Brings back what the compaction removed from the view. Later messages stay in the view. It is refused if the next request would not fit.",
  refuses: ["compaction_not_found", "not_newest", "turn_running", "too_many_items", "would_not_fit", "model_gone", "models_unavailable"],
  request: {
    params: sessionPath.extend({ compaction_id: id("cmp") }),
    headers: idempotencyHeaders,
    body: jsonBody(z.strictObject({}), {}, false),
  },
  responses: {
    200: json("The reverted compaction. `reverted.by` is the id of the change that reverted it", compactionView, revertedExample),
  },
});

const reset = tenantRoute({
  method: "delete",
  path: `${path}/summary`,
  tag,
  scope,
  operationId: "resetSummary",
  summary: "Reset the summary",
  description: "Removes every summary from the view. As many of the newest messages as fit return to it.",
  refuses: ["turn_running", "model_gone", "models_unavailable"],
  request: { params: sessionPath },
  responses: { 200: json("The change of the view", compactionView, revertedExample), 204: { description: "There is no summary" } },
});

function answerCompact(c: Context<HttpEnv>, session: SessionId, outcome: Once<CompactOutcome>) {
  if (outcome.replayed) c.header("idempotent-replayed", "true");
  if (outcome.kind === "plan") return c.json(outcome.plan, 200);
  c.header("Location", `/v1/sessions/${session}/compactions/${outcome.compaction.id}`);
  if (outcome.kind === "done") return c.json(outcome.compaction, 201);
  if (prefersAsync(c.req.header("prefer"))) c.header("Preference-Applied", "respond-async");
  return c.json(outcome.compaction, 202);
}

export function registerControl(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(compact, async (c) => {
    const { session_id } = c.req.valid("param");
    const input = toCompactInput(c.req.valid("json"));
    const idempotency = await readIdempotency(c, c.req.valid("header")["Idempotency-Key"]);
    const calls = actingClient(deps, c, session_id);
    const send = idempotency || input.dryRun ? calls.repeatable : calls.once;
    const outcome = await send((api, caller) => api.compact(caller, { ...input, idempotency }));
    return outcome.ok ? answerCompact(c, session_id, outcome.value) : sendProblem(c, ofNamedModel(outcome.error, c.req.valid("json")));
  });

  app.openapi(revert, async (c) => {
    const { session_id, compaction_id: compaction } = c.req.valid("param");
    const idempotency = await readIdempotency(c, c.req.valid("header")["Idempotency-Key"]);
    const calls = actingClient(deps, c, session_id);
    const send = idempotency ? calls.repeatable : calls.once;
    const reverted = await send((api, caller) => api.revertCompaction(caller, { compaction, idempotency }));
    if (!reverted.ok) return sendProblem(c, ofSessionModel(reverted.error));
    if (reverted.value.replayed) c.header("idempotent-replayed", "true");
    return c.json(reverted.value.compaction, 200);
  });

  app.openapi(reset, async (c) => {
    const done = await actingClient(deps, c, c.req.valid("param").session_id).once((api, caller) => api.resetSummary(caller));
    if (!done.ok) return sendProblem(c, ofSessionModel(done.error));
    return done.value ? c.json(done.value, 200) : c.body(null, 204);
  });
}
