/** Reads the tenant's audit log: a page of it, or all of it with what verifies it. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { auditEntry, auditPage } from "../../contract/audit";
import { AUDIT_ACTIONS } from "../../domain/audit-actions";
import { streamAuditLines } from "../audit-lines";
import { readPrincipal } from "../auth";
import { callWithRetry } from "../calls";
import type { HttpDeps, HttpEnv } from "../deps";
import { auditExample, auditPlaceExample } from "../examples/audit";
import { onePage } from "../examples/shared";
import { acceptsLines } from "../negotiate";
import { sendProblem } from "../problem";
import { tenantRoute } from "../routing";
import { counter, pageQuery, toList } from "../schemas/page";

const FILTERS = ["limit", "order", "action", "actor", "target", "from", "to"] as const;

const text = (description: string) => z.string().min(1).max(200).optional().openapi({ description });

const list = tenantRoute({
  method: "get",
  path: "/v1/audit",
  tag: "audit",
  scope: "audit:read",
  operationId: "listAudit",
  summary: "Read the audit log",
  description:
    "Lists who changed what, when, with which key and by which request. The newest entry comes first. With `Accept: application/x-ndjson`, sends all entries, or those after `after`, as lines of JSON that can be verified; the other parameters are then refused.",
  request: {
    query: pageQuery.extend({
      order: z.enum(["asc", "desc"]).default("desc").openapi({ description: "asc: the oldest first" }),
      action: z.enum(AUDIT_ACTIONS).optional().openapi({ description: "Only entries of this action" }),
      actor: text("Only entries of the key, access token or admin key with this id"),
      target: text("Only entries about what has this id or name"),
      from: counter.optional().openapi({ description: "Only entries from this time on, in epoch milliseconds" }),
      to: counter.optional().openapi({ description: "Only entries before this time, in epoch milliseconds" }),
    }),
  },
  responses: {
    200: {
      description: "A page, or the lines: the place where they begin, the entries from the oldest on, and the place where they end",
      content: {
        "application/json": {
          schema: auditPage,
          example: { ...onePage(auditExample), anchor: auditPlaceExample, head: { seq: 1, hash: auditExample.hash } },
        },
        "application/x-ndjson": { schema: auditEntry, example: auditExample },
      },
    },
  },
});

const LINES = { "content-type": "application/x-ndjson", "cache-control": "no-store" };

async function sendLines(c: Context<HttpEnv>, deps: HttpDeps, after: number): Promise<Response> {
  const { tenant } = readPrincipal(c);
  const unknown = FILTERS.filter((name) => c.req.query(name) !== undefined);
  if (unknown.length > 0) {
    const errors = unknown.map((field) => ({ field, detail: "not with application/x-ndjson, which has every entry" }));
    return sendProblem(c, { code: "invalid_request", errors });
  }
  const found = await callWithRetry(
    () => deps.tenants(tenant),
    (api) => api.findAuditPlace(after),
  );
  if (!found.ok) return sendProblem(c, found.error);
  const anchor = found.value;
  if (!anchor) return sendProblem(c, { code: "invalid_request", errors: [{ field: "after", detail: "there is no such entry yet" }] });
  if (c.req.method === "HEAD") return c.body(null, 200, LINES);
  const lines = streamAuditLines({
    owner: tenant,
    anchor,
    read: async (query) => {
      const page = await callWithRetry(
        () => deps.tenants(tenant),
        (api) => api.readAudit(query),
      );
      if (!page.ok) throw new Error("The tenant is gone");
      return page.value;
    },
  });
  return c.body(lines, 200, LINES);
}

export function registerAudit(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(list, async (c) => {
    const { after = null, limit, order, action = null, actor = null, target = null, from = null, to = null } = c.req.valid("query");
    if (acceptsLines(c.req.header("accept"))) return await sendLines(c, deps, after ?? 0);
    const page = await callWithRetry(
      () => deps.tenants(readPrincipal(c).tenant),
      (api) => api.readAudit({ after, limit, order, action, actor, target, from, to }),
    );
    if (!page.ok) return sendProblem(c, page.error);
    const { anchor, head, ...entries } = page.value;
    return c.json({ ...toList(entries, ({ seq }) => seq), anchor, head }, 200);
  });
}
