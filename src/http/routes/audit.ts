/** Reads the audit log of the tenant, and that of the deployment: a page of it, or all of it with what verifies it. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { AuditPage, AuditQuery } from "../../app/audit-api";
import { auditEntry, auditPage } from "../../contract/audit";
import { AUDIT_ACTIONS } from "../../domain/audit-actions";
import { err, ok, type Result } from "../../lib/result";
import { type AuditStart, streamAuditLines } from "../audit-lines";
import { readPrincipal } from "../auth";
import { callWithRetry } from "../calls";
import type { HttpDeps, HttpEnv } from "../deps";
import { auditExample, auditPlaceExample, deploymentAuditExample, deploymentPlaceExample } from "../examples/audit";
import { onePage } from "../examples/shared";
import { acceptsLines } from "../negotiate";
import { type HttpError, sendProblem } from "../problem";
import { adminRoute, tenantRoute } from "../routing";
import { counter, pageQuery, toList } from "../schemas/page";

const FILTERS = ["limit", "order", "action", "actor", "target", "from", "to"] as const;

const text = (description: string) => z.string().min(1).max(200).optional().openapi({ description });

const auditQuery = pageQuery.extend({
  order: z.enum(["asc", "desc"]).default("desc").openapi({ description: "asc: the oldest first" }),
  action: z.enum(AUDIT_ACTIONS).optional().openapi({ description: "Only entries of this action" }),
  actor: text("Only entries of the key, access token or admin key with this id"),
  target: text("Only entries about what has this id or name"),
  from: counter.optional().openapi({ description: "Only entries from this time on, in epoch milliseconds" }),
  to: counter.optional().openapi({ description: "Only entries before this time, in epoch milliseconds" }),
});

const answers = (example: z.infer<typeof auditEntry>, anchor: z.infer<typeof auditPage>["anchor"]) => ({
  200: {
    description: "A page, or the lines: the place where they begin, the entries from the oldest on, and the place where they end",
    content: {
      "application/json": { schema: auditPage, example: { ...onePage(example), anchor, head: { seq: 1, hash: example.hash } } },
      "application/x-ndjson": { schema: auditEntry, example },
    },
  },
});

const AS_LINES =
  "The newest entry comes first. With `Accept: application/x-ndjson`, sends all entries, or those after `after`, as lines of JSON that can be verified; the other parameters are then refused.";

const list = tenantRoute({
  method: "get",
  path: "/v1/audit",
  tag: "audit",
  scope: "audit:read",
  operationId: "listAudit",
  summary: "Read the audit log",
  description: `Lists who changed what, when, with which key and by which request. ${AS_LINES}`,
  request: { query: auditQuery },
  responses: answers(auditExample, auditPlaceExample),
});

const listDeployment = adminRoute({
  method: "get",
  path: "/v1/admin/audit",
  tag: "admin",
  role: "read",
  operationId: "listDeploymentAudit",
  summary: "Read the deployment's audit log",
  description: `Lists which admin changed what of the deployment and of its tenants, when, with which key and by which request. Tenants and sessions have their ids only. ${AS_LINES}`,
  request: { query: auditQuery },
  responses: answers(deploymentAuditExample, deploymentPlaceExample),
});

const LINES = { "content-type": "application/x-ndjson", "cache-control": "no-store" };

/** The log that a route reads. */
interface ReadLog {
  readonly read: (query: AuditQuery) => Promise<Result<AuditPage, HttpError>>;
  /** Where an export begins: after the entry `seq`, or after the anchor if that entry was removed. */
  readonly findStart: (seq: number) => Promise<Result<AuditStart, HttpError>>;
}

async function sendLines(c: Context<HttpEnv>, { read, findStart }: ReadLog, after: number): Promise<Response> {
  const unknown = FILTERS.filter((name) => c.req.query(name) !== undefined);
  if (unknown.length > 0) {
    const errors = unknown.map((field) => ({ field, detail: "not with application/x-ndjson, which has every entry" }));
    return sendProblem(c, { code: "invalid_request", errors });
  }
  const found = await findStart(after);
  if (!found.ok) return sendProblem(c, found.error);
  const { owner, anchor } = found.value;
  if (!anchor) return sendProblem(c, { code: "invalid_request", errors: [{ field: "after", detail: "there is no such entry yet" }] });
  if (c.req.method === "HEAD") return c.body(null, 200, LINES);
  const lines = streamAuditLines({
    owner,
    anchor,
    read: async (query) => {
      const page = await read(query);
      if (!page.ok) throw new Error("The tenant is gone");
      return page.value;
    },
  });
  return c.body(lines, 200, LINES);
}

function toQuery({ after, limit, order, action, actor, target, from, to }: z.infer<typeof auditQuery>): AuditQuery {
  return {
    after: after ?? null,
    limit,
    order,
    action: action ?? null,
    actor: actor ?? null,
    target: target ?? null,
    from: from ?? null,
    to: to ?? null,
  };
}

function toView({ anchor, head, ...entries }: AuditPage): z.infer<typeof auditPage> {
  return { ...toList(entries, ({ seq }) => seq), anchor, head };
}

function readTenantLog(c: Context<HttpEnv>, deps: HttpDeps): ReadLog {
  const { tenant } = readPrincipal(c);
  const connect = () => deps.tenants(tenant);
  return {
    read: (query) => callWithRetry(connect, (api) => api.readAudit(query)),
    findStart: async (seq) => {
      const found = await callWithRetry(connect, (api) => api.findAuditPlace(seq));
      return found.ok ? ok({ owner: tenant, anchor: found.value }) : err(found.error);
    },
  };
}

const readDeploymentLog = (deps: HttpDeps): ReadLog => ({
  read: async (query) =>
    ok(
      await callWithRetry(
        () => deps.deployment(),
        (api) => api.readAudit(query),
      ),
    ),
  findStart: async (seq) =>
    ok(
      await callWithRetry(
        () => deps.deployment(),
        (api) => api.findAuditStart(seq),
      ),
    ),
});

export function registerAudit(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(list, async (c) => {
    const query = c.req.valid("query");
    const log = readTenantLog(c, deps);
    if (acceptsLines(c.req.header("accept"))) return await sendLines(c, log, query.after ?? 0);
    const page = await log.read(toQuery(query));
    return page.ok ? c.json(toView(page.value), 200) : sendProblem(c, page.error);
  });

  app.openapi(listDeployment, async (c) => {
    const query = c.req.valid("query");
    const log = readDeploymentLog(deps);
    if (acceptsLines(c.req.header("accept"))) return await sendLines(c, log, query.after ?? 0);
    const page = await log.read(toQuery(query));
    return page.ok ? c.json(toView(page.value), 200) : sendProblem(c, page.error);
  });
}
