/** The people who talk in a tenant's sessions: their list, and what one of them has and may use. Their erasure is in `erasures`. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { UsageInput } from "../../app/read-api";
import { toSums } from "../../app/usage-sums";
import { type EndUserSummary, type EndUserView, endUserSummary, endUserView } from "../../contract/end-user";
import { endUser } from "../../contract/label";
import { usageSums } from "../../contract/model-call";
import { listView } from "../../contract/page";
import { NO_CALLS } from "../../domain/call-totals";
import type { TenantId } from "../../domain/ids";
import { err, ok, type Result } from "../../lib/result";
import { readPrincipal } from "../auth";
import { callWithRetry } from "../calls";
import type { HttpDeps, HttpEnv } from "../deps";
import { endUserExample, endUserSummaryExample } from "../examples/end-user";
import { onePage } from "../examples/shared";
import { type HttpError, sendProblem } from "../problem";
import { reachReadModel } from "../read-model";
import { json, tenantRoute } from "../routing";
import { limitQuery } from "../schemas/page";
import { faultOfName } from "../validation";

const tag = "usage";
/** Sums by end user are opened by it, too. A key that is held to some sessions cannot have it. */
const scope = "usage:read";
/** A cursor names an end user of at most 256 characters, in base64. */
const MAX_CURSOR = 4_096;

const list = tenantRoute({
  method: "get",
  path: "/v1/end-users",
  tag,
  scope,
  operationId: "listEndUsers",
  summary: "List end users",
  description:
    "Lists the end users whom sessions have, in order of their ids, with the number of their sessions and the last use. A new session is counted after a short delay. An end user whose erasure was asked for is left out at once, so that a page may have fewer than `limit`.",
  refuses: ["invalid_cursor", "read_model_unavailable"],
  request: {
    query: z.strictObject({
      ...limitQuery,
      after: z.string().min(1).max(MAX_CURSOR).optional().openapi({ description: "next_cursor of the page before" }),
      order: z.enum(["asc", "desc"]).default("asc").openapi({ description: "By the id of the end user" }),
    }),
  },
  responses: { 200: json("A page", listView(endUserSummary), onePage(endUserSummaryExample)) },
});

const get = tenantRoute({
  method: "get",
  path: "/v1/end-users/{end_user}",
  tag,
  scope,
  operationId: "getEndUser",
  summary: "Read an end user",
  description:
    "Shows the number of the end user's sessions, the usage of this month, the limits that apply with what is used of them, and where the rest is found. Sessions and usage follow with a short delay. While an erasure of the end user runs, there is none.",
  refuses: ["end_user_not_found", "read_model_unavailable"],
  request: { params: z.object({ end_user: z.string().openapi({ description: "A slash in it is written %2F", example: "user-42" }) }) },
  responses: { 200: json("The end user", endUserView, endUserExample) },
});

interface Asked {
  readonly tenant: TenantId;
  readonly name: string;
}

const findMonth = (now: number): Pick<UsageInput, "from" | "to"> => {
  const at = new Date(now);
  return { from: Date.UTC(at.getUTCFullYear(), at.getUTCMonth()), to: now + 1 };
};

/** Without those whose erasure runs: their rows go in the background. */
async function leaveOutErased(
  deps: HttpDeps,
  tenant: TenantId,
  data: readonly EndUserSummary[],
): Promise<Result<EndUserSummary[], HttpError>> {
  if (data.length === 0) return ok([]);
  const names = data.map(({ end_user }) => end_user);
  const erasing = await callWithRetry(
    () => deps.tenants(tenant),
    (api) => api.listErasingUsers(names),
  );
  return erasing.ok ? ok(data.filter(({ end_user }) => !erasing.value.includes(end_user))) : err(erasing.error);
}

async function sumMonth(deps: HttpDeps, { tenant, name }: Asked): Promise<Result<EndUserView["usage"], HttpError>> {
  const range = findMonth(deps.now());
  const all = { session: null, model: null, purpose: null, key: null, after: null };
  const summed = await deps.usageList.sumUsage({ ...all, tenant, groupBy: [], ...range, endUser: name, limit: 1 });
  if (!summed.ok) return summed;
  const [row] = summed.value.data;
  return ok({ ...range, ...(row ? usageSums.parse(row) : toSums(NO_CALLS)) });
}

export function registerEndUsers(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(list, async (c) => {
    const { tenant } = readPrincipal(c);
    const { limit, order, after = null } = c.req.valid("query");
    const reached = await reachReadModel(c, deps, () => deps.endUsers.listEndUsers({ tenant, limit, order, after }));
    if (!reached.ok) return sendProblem(c, reached.error);
    if (!reached.value.ok) return sendProblem(c, reached.value.error);
    const { data, ...page } = reached.value.value;
    const left = await leaveOutErased(deps, tenant, data);
    return left.ok ? c.json({ data: left.value, ...page }, 200) : sendProblem(c, left.error);
  });

  app.openapi(get, async (c) => {
    const { end_user: name } = c.req.valid("param");
    const errors = faultOfName("end_user", endUser.safeParse(name));
    if (errors.length > 0) return sendProblem(c, { code: "invalid_request", errors });
    const { tenant, key } = readPrincipal(c);
    const reached = await reachReadModel(c, deps, async () => ({
      found: await deps.endUsers.findEndUser(tenant, name),
      usage: await sumMonth(deps, { tenant, name }),
    }));
    if (!reached.ok) return sendProblem(c, reached.error);
    const { found, usage } = reached.value;
    if (!usage.ok) return sendProblem(c, usage.error);
    const known = await leaveOutErased(deps, tenant, [found ?? { end_user: name, sessions: 0, last_used_at: null }]);
    if (!known.ok) return sendProblem(c, known.error);
    const [summary] = known.value;
    if (!summary || (summary.sessions === 0 && usage.value.calls === 0)) return sendProblem(c, { code: "end_user_not_found" });
    const used = await callWithRetry(
      () => deps.tenants(tenant),
      (api) => api.limitUse({ key, end_user: name }),
    );
    if (!used) return sendProblem(c, { code: "unauthorized" });
    const query = `end_user=${encodeURIComponent(name)}`;
    const links = { sessions: `/v1/sessions?${query}`, usage: `/v1/usage?${query}&group_by=day` };
    return c.json({ ...summary, usage: usage.value, limits: used.filter((limit) => limit.of === "end_user"), links }, 200);
  });
}
