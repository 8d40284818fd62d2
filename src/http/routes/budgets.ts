/** What is spent of the tenant's budgets, and the events of the tenant. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { budgetUseList } from "../../contract/budget";
import { id } from "../../contract/ids";
import { endUser } from "../../contract/label";
import { listView } from "../../contract/page";
import { tenantEvent } from "../../contract/tenant-event";
import { readPrincipal } from "../auth";
import { callWithRetry } from "../calls";
import type { HttpDeps, HttpEnv } from "../deps";
import { budgetExample, tenantEventExample } from "../examples/budgets";
import { onePage } from "../examples/shared";
import { sendProblem } from "../problem";
import { json, tenantRoute } from "../routing";
import { counter, limitQuery, toList } from "../schemas/page";

const list = tenantRoute({
  method: "get",
  path: "/v1/budgets",
  tag: "usage",
  scope: "usage:read",
  operationId: "listBudgets",
  summary: "List budgets with what is spent",
  description:
    "Lists the tenant's budgets in their present period. With `end_user` or `session_id`: those of that end user and of that session instead.",
  request: {
    query: z.strictObject({
      end_user: endUser.optional().openapi({ description: "The budgets that each end user has, for this one" }),
      session_id: id("ses").optional().openapi({ description: "The budgets that each session has, for this one" }),
    }),
  },
  responses: { 200: json("The budgets, in the order of the plan", budgetUseList, { data: [budgetExample] }) },
});

const events = tenantRoute({
  method: "get",
  path: "/v1/events",
  tag: "usage",
  scope: "usage:read",
  operationId: "listTenantEvents",
  summary: "List the tenant's events",
  description:
    "Lists what happened in the tenant and concerns no single session, each once, the oldest first. Events are kept for 90 days.",
  request: {
    query: z.strictObject({
      ...limitQuery,
      after: counter.optional().openapi({ description: "next_cursor of the page before, or the seq of an event: only later ones" }),
    }),
  },
  responses: { 200: json("A page, in order of seq", listView(tenantEvent), onePage(tenantEventExample)) },
});

export function registerBudgets(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(list, async (c) => {
    const { end_user = null, session_id: session = null } = c.req.valid("query");
    const found = await callWithRetry(
      () => deps.tenants(readPrincipal(c).tenant),
      (api) => api.listBudgets({ end_user, session }),
    );
    return found.ok ? c.json({ data: [...found.value] }, 200) : sendProblem(c, found.error);
  });

  app.openapi(events, async (c) => {
    const { after = 0, limit } = c.req.valid("query");
    const page = await callWithRetry(
      () => deps.tenants(readPrincipal(c).tenant),
      (api) => api.listTenantEvents({ after, limit }),
    );
    return page.ok
      ? c.json(
          toList(page.value, ({ seq }) => seq),
          200,
        )
      : sendProblem(c, page.error);
  });
}
