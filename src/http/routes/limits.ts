/** The limits that apply to the caller. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { limitUseList } from "../../contract/limit-use";
import { readPrincipal } from "../auth";
import { callWithRetry } from "../calls";
import type { HttpDeps, HttpEnv } from "../deps";
import { limitUseExample } from "../examples/limits";
import { sendProblem } from "../problem";
import { json, tenantRoute } from "../routing";

const list = tenantRoute({
  method: "get",
  path: "/v1/limits",
  tag: "tenant",
  scope: null,
  opensTo: "end_user",
  operationId: "listLimits",
  summary: "List the caller's limits",
  description:
    "To a key: every limit of the tenant and of the key, with what is used of it. To the access token of an end user: the limits of that end user alone. An empty list: no limit.",
  request: {},
  responses: { 200: json("The limits that apply", limitUseList, { data: [limitUseExample] }) },
});

export function registerLimits(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(list, async (c) => {
    const { tenant, key, access_token } = readPrincipal(c);
    const caller = { key, end_user: access_token?.reach.end_user ?? null };
    const used = await callWithRetry(
      () => deps.tenants(tenant),
      (api) => api.limitUse(caller),
    );
    return used ? c.json({ data: [...used] }, 200) : sendProblem(c, { code: "unauthorized" });
  });
}
