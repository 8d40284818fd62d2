/** What a tenant removes by age, and a dry run of it. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { toEtag } from "../../app/conditions";
import { id } from "../../contract/ids";
import { type RetentionView, retentionPreview, retentionView } from "../../contract/retention";
import { readPrincipal } from "../auth";
import { callUnder, callWithRetry } from "../calls";
import { conditionHeaders, toCondition } from "../conditions";
import type { Asker, HttpDeps, HttpEnv } from "../deps";
import { retentionExample, retentionPreviewExample } from "../examples/retention";
import { sendProblem } from "../problem";
import { readAct } from "../read-act";
import { reachReadModel } from "../read-model";
import { json, jsonBody, taggedJson, tenantRoute } from "../routing";
import { retentionInput, toSetting } from "../schemas/retention";

const tag = "retention";
const scope = "retention:write";
const path = "/v1/retention";
const draftExample = {
  archive_sessions_after_days: 90,
  erase_sessions_after_days: 365,
  remove_tool_results_after_days: 30,
  remove_usage_after_months: 24,
  by_policy: { verbatim: { erase_sessions_after_days: null } },
};

const get = tenantRoute({
  method: "get",
  path,
  tag,
  scope,
  operationId: "getRetention",
  summary: "Read the retention rules",
  description: "Shows what the tenant removes by its age. A tenant has no rule until it puts one.",
  request: {},
  responses: { 200: taggedJson("The rules", retentionView, retentionExample) },
});

const put = tenantRoute({
  method: "put",
  path,
  tag,
  scope,
  operationId: "putRetention",
  summary: "Replace the retention rules",
  description:
    "Replaces all rules: one that is not named ends. They apply to the sessions that exist and to later ones. After a change nothing is removed for a day, so that a mistake can be mended. What was removed cannot be restored.",
  request: { headers: conditionHeaders, body: jsonBody(retentionInput, draftExample) },
  responses: { 200: taggedJson("The rules", retentionView, retentionExample) },
});

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 100;
const dryRunInput = z.strictObject({
  rules: retentionInput.optional().openapi({ description: "Absent: the tenant's own" }),
  limit: z.int().min(1).max(MAX_LIMIT).default(DEFAULT_LIMIT).openapi({ description: "Looks at so many sessions" }),
  after: id("ses").optional().openapi({ description: "next_cursor of the page before" }),
});

const dryRun = tenantRoute({
  method: "post",
  path: `${path}/dry-run`,
  tag,
  scope,
  operationId: "previewRetention",
  summary: "Show what the retention rules would remove now",
  description:
    "Asks sessions that are old enough, in order of their ids, what the rules would remove of them now. Nothing changes. A page may be empty although another follows: read on while has_more is true.",
  refuses: ["read_model_unavailable"],
  request: { body: jsonBody(dryRunInput, { rules: draftExample, limit: DEFAULT_LIMIT }, false) },
  responses: { 200: json("What would be removed of the sessions that this page looked at", retentionPreview, retentionPreviewExample) },
});

function sendRules(c: Context<HttpEnv>, view: RetentionView) {
  const { starts_at: _, ...setting } = view;
  return c.json(view, 200, { ETag: toEtag(setting) });
}

export function registerRetention(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  const connectTo = (c: Asker) => () => deps.tenants(readPrincipal(c).tenant);

  const countUsage = async (c: Asker, before: number | null) =>
    before === null
      ? null
      : { complete_from: before, months: await deps.usageList.countOldUsage({ tenant: readPrincipal(c).tenant, before }) };

  app.openapi(get, async (c) => {
    const read = await callWithRetry(connectTo(c), (api) => api.readRetention());
    return read.ok ? sendRules(c, read.value) : sendProblem(c, read.error);
  });

  app.openapi(put, async (c) => {
    const setting = toSetting(c.req.valid("json"));
    const condition = toCondition(c.req.valid("header"));
    const changed = await callUnder(condition, connectTo(c), (api) => api.putRetention(readAct(c), setting, condition));
    return changed.ok ? sendRules(c, changed.value) : sendProblem(c, changed.error);
  });

  app.openapi(dryRun, async (c) => {
    const { rules, limit, after = null } = c.req.valid("json");
    const setting = rules ? toSetting(rules) : null;
    const page = await callWithRetry(connectTo(c), (api) => api.previewRetention({ setting, after, limit }));
    if (!page.ok) return sendProblem(c, page.error);
    const { next, usage_before: before, ...shown } = page.value;
    const counted = await reachReadModel(c, deps, () => countUsage(c, after === null ? before : null));
    if (!counted.ok) return sendProblem(c, counted.error);
    return c.json({ ...shown, usage: counted.value, has_more: next !== null, next_cursor: next }, 200);
  });
}
