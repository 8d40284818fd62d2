/** The models that a tenant can use: the deployment's, and its own, which take precedence. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { toEtag } from "../../app/conditions";
import type { ModelEntry } from "../../app/model-entry";
import { modelDeletion, modelList, modelView } from "../../contract/model";
import type { FieldError } from "../../contract/problem";
import { mayUseModel } from "../../domain/key-restriction";
import { readPrincipal } from "../auth";
import { callUnder, callWithRetry } from "../calls";
import { conditionHeaders, toCondition } from "../conditions";
import type { Asker, HttpDeps, HttpEnv } from "../deps";
import { onePage } from "../examples/shared";
import { modelExample, suggestedModelExample } from "../examples/tenant";
import { sendProblem } from "../problem";
import { readAct } from "../read-act";
import { json, jsonBody, taggedJson, tenantRoute } from "../routing";
import { modelInput, modelName, refuseModelUrl, toModelView, toOverride } from "../schemas/model";
import { MAX_LIMIT, namedPageQuery, takeListPage } from "../schemas/page";

const tag = "models";
const scope = "models:write";
const path = "/v1/models/{model_id}";
/** A slash in an id is percent-encoded. */
const params = z.object({ model_id: z.string().openapi({ example: "gpt-4o-mini", description: "The id of a model. Encode / as %2F" }) });

const list = tenantRoute({
  method: "get",
  path: "/v1/models",
  tag,
  scope: null,
  operationId: "listModels",
  summary: "List models",
  description:
    "Lists the deployment's models and the tenant's own. The model lists of OpenAI's and Anthropic's SDKs read this answer. With the header `anthropic-version` it has the form of Anthropic's API alone.",
  request: { query: namedPageQuery({ usual: MAX_LIMIT }) },
  responses: {
    200: json("A page, in order of id", modelList, {
      ...onePage(modelExample),
      object: "list",
      first_id: modelExample.id,
      last_id: modelExample.id,
    }),
  },
});

const get = tenantRoute({
  method: "get",
  path,
  tag,
  scope: null,
  operationId: "getModel",
  summary: "Read a model",
  description: "Shows a model's limits and prices, with the source of each figure.",
  refuses: ["model_not_found"],
  request: { params },
  responses: { 200: taggedJson("The model", modelView, modelExample) },
});

const put = tenantRoute({
  method: "put",
  path,
  tag,
  scope,
  operationId: "putModel",
  summary: "Add or replace a model",
  description:
    "Adds a model of the tenant, or overrides one of the deployment. The request replaces the earlier entry as a whole. Sessions use the change within 30 seconds.",
  refuses: ["model_limit"],
  request: {
    params,
    headers: conditionHeaders,
    body: jsonBody(modelInput, { provider: "openai", context_window: 128_000, max_output: 8_192, credential: "openai" }),
  },
  responses: { 200: taggedJson("The model. Its sessions use the change within 30 seconds", modelView, modelExample) },
});

const remove = tenantRoute({
  method: "delete",
  path,
  tag,
  scope,
  operationId: "deleteModel",
  summary: "Delete a model",
  description:
    "Deletes a model of the tenant, or the tenant's override of one of the deployment. Sessions that use a deleted model fail until they name another.",
  refuses: ["model_not_found", "model_not_own", "model_is_default"],
  request: { params, headers: conditionHeaders },
  responses: { 200: json("Deleted", modelDeletion, { id: modelExample.id, object: "model", deleted: true }) },
});

const probe = tenantRoute({
  method: "post",
  path: `${path}/probe`,
  tag,
  scope,
  operationId: "probeModel",
  summary: "Ask for a model's limits",
  description: "Asks the provider for the model's limits, and stores the answer as a suggestion. Nothing else changes.",
  refuses: ["model_not_found", "probe_failed"],
  request: { params },
  responses: { 200: taggedJson("The model with the suggested limits. Nothing else has changed", modelView, suggestedModelExample) },
});

/** The client chooses a model's id, so the answer says what is wrong with it. */
function findUrlFaults(id: string, baseUrl: string | null, allowPrivate: boolean): FieldError[] {
  const name = modelName.safeParse(id);
  const faults = name.success ? [] : [{ field: "model_id", detail: name.error.issues[0]?.message ?? "malformed" }];
  const detail = baseUrl === null ? null : refuseModelUrl(baseUrl, allowPrivate);
  return detail ? [...faults, { field: "base_url", detail }] : faults;
}

/** A key that is held to some models sees no other. It changes none: it has no scope for that. */
const isSeen = (c: Asker, model: string): boolean => mayUseModel(readPrincipal(c).restriction, model);

const sendModel = (c: Context<HttpEnv>, model: ModelEntry) => c.json(toModelView(model), 200, { ETag: toEtag(model) });

export function registerModels(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(list, async (c) => {
    const models = await callWithRetry(
      () => deps.tenants(readPrincipal(c).tenant),
      (api) => api.listModels(),
    );
    if (!models.ok) return sendProblem(c, models.error);
    const seen = models.value.filter(({ id }) => isSeen(c, id));
    const page = takeListPage(seen.map(toModelView), c.req.valid("query"), ({ id }) => id);
    const ends = { first_id: page.data[0]?.id ?? null, last_id: page.data.at(-1)?.id ?? null };
    return c.json({ object: "list" as const, ...page, ...ends }, 200);
  });

  app.openapi(get, async (c) => {
    const { model_id } = c.req.valid("param");
    if (!isSeen(c, model_id)) return sendProblem(c, { code: "model_not_found", model: model_id });
    const model = await callWithRetry(
      () => deps.tenants(readPrincipal(c).tenant),
      (api) => api.getModel(model_id),
    );
    return model.ok ? sendModel(c, model.value) : sendProblem(c, model.error);
  });

  app.openapi(probe, async (c) => {
    const { tenant } = readPrincipal(c);
    const { model_id } = c.req.valid("param");
    const model = await deps.tenants(tenant).getModel(model_id);
    if (!model.ok) return sendProblem(c, model.error);
    const { base_url, source } = model.value;
    // The rules may have changed since the model was put.
    const detail = base_url === null || source === "deployment" ? null : refuseModelUrl(base_url, deps.config.allowPrivateModelUrls);
    if (detail) return sendProblem(c, { code: "invalid_request", errors: [{ field: "base_url", detail }] });
    const found = await deps.probeLimits(tenant, model.value);
    if (!found.ok) return sendProblem(c, { code: "probe_failed", ...found.error });
    const kept = await deps.tenants(tenant).suggestLimit({ model: model_id, ...found.value, source: "provider_endpoint" });
    if (!kept.ok) return sendProblem(c, kept.error);
    const now = await deps.tenants(tenant).getModel(model_id);
    return now.ok ? sendModel(c, now.value) : sendProblem(c, now.error);
  });

  app.openapi(put, async (c) => {
    const { model_id } = c.req.valid("param");
    const model = toOverride(c.req.valid("json"), model_id);
    const errors = findUrlFaults(model_id, model.base_url, deps.config.allowPrivateModelUrls);
    if (errors.length > 0) return sendProblem(c, { code: "invalid_request", errors });
    const condition = toCondition(c.req.valid("header"));
    const stored = await callUnder(
      condition,
      () => deps.tenants(readPrincipal(c).tenant),
      (api) => api.putModel(readAct(c), model_id, model, condition),
    );
    return stored.ok ? sendModel(c, stored.value) : sendProblem(c, stored.error);
  });

  app.openapi(remove, async (c) => {
    const { model_id } = c.req.valid("param");
    const removed = await deps.tenants(readPrincipal(c).tenant).deleteModel(readAct(c), model_id, toCondition(c.req.valid("header")));
    return removed.ok ? c.json({ id: model_id, object: "model" as const, deleted: true as const }, 200) : sendProblem(c, removed.error);
  });
}
