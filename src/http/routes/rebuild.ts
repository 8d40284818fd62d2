/** For the deployment's admin: compares the read model's rows of a tenant or a session with their source, and repairs them. */

import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { rebuildStep } from "../../app/projection/rebuild";
import type { RebuildProgress } from "../../app/projection/rebuild-ports";
import { rebuildTenant } from "../../app/projection/rebuild-tenant";
import type { AuditSubject } from "../../contract/audit";
import { id } from "../../contract/ids";
import { type RowDifference, rebuildReport, tenantRebuildReport } from "../../contract/rebuild";
import type { SessionId } from "../../domain/ids";
import { toHex } from "../../lib/hex";
import { readAdmin } from "../admin-access";
import { adoptTenant } from "../adopt-tenants";
import { callWithRetry } from "../calls";
import type { HttpDeps, HttpEnv } from "../deps";
import { rebuildExample, tenantRebuildExample } from "../examples/tenant";
import { sendProblem } from "../problem";
import { readAct } from "../read-act";
import { reachReadModel } from "../read-model";
import { adminRoute, json } from "../routing";

const count = z.int().min(0);
const progress = z.strictObject({
  phase: z.enum(["clear", "compare", "extend", "clean"]),
  pass: count,
  place: z.strictObject({ table: z.string(), after: z.union([z.string(), z.number(), z.null()]) }),
  found: count,
  rows: count,
});

/** Clients pass it on and do not read it. Hexadecimal, because the key of a damaged row may hold any character. */
function toRebuildCursor(at: RebuildProgress): string {
  return toHex(new TextEncoder().encode(JSON.stringify(at)));
}

/** Null when the cursor is malformed, or names a table that is not in `tables`. */
function parseRebuildCursor(text: string, tables: readonly string[]): RebuildProgress | null {
  const bytes = Uint8Array.from(text.match(/[0-9a-f]{2}/g) ?? [], (pair) => Number.parseInt(pair, 16));
  try {
    const parsed = progress.safeParse(JSON.parse(new TextDecoder().decode(bytes)));
    return parsed.success && tables.includes(parsed.data.place.table) ? parsed.data : null;
  } catch {
    return null;
  }
}

const tag = "admin";
const tenantPath = z.object({ tenant_id: id("ten") });
/** Number of events that one call to the object reads and one transaction in D1 writes. The object also bounds their bytes. */
const LOG_PAGE = 100;
/** Maximum length of a cursor, which names a table and a row's key. */
const MAX_CURSOR = 4_096;

const rebuildOne = adminRoute({
  method: "post",
  path: "/v1/admin/tenants/{tenant_id}/sessions/{session_id}/rebuild",
  tag,
  role: "operate",
  operationId: "rebuildSession",
  summary: "Repair a session's rows",
  description:
    "Compares a session's rows in the read model with its log, and repairs differences. A long session continues with `next_cursor`. Texts that differ are shown to an owner, and to others as `[hidden]`.",
  refuses: ["tenant_not_found", "invalid_cursor", "read_model_unavailable"],
  request: {
    params: tenantPath.extend({ session_id: id("ses") }),
    query: z.strictObject({
      after: z.string().max(MAX_CURSOR).optional().openapi({ description: "The next_cursor of the previous response" }),
    }),
  },
  responses: { 200: json("The differences found, and whether they were repaired", rebuildReport, rebuildExample) },
});

const rebuildAll = adminRoute({
  method: "post",
  path: "/v1/admin/tenants/{tenant_id}/rebuild",
  tag,
  role: "operate",
  operationId: "rebuildTenant",
  summary: "Repair a tenant's rows",
  description: "Compares a tenant's row and its models' rows with the tenant's object, and repairs differences. Sessions are not compared.",
  refuses: ["tenant_not_found", "read_model_unavailable"],
  request: { params: tenantPath },
  responses: { 200: json("The differences found, and whether they were repaired", tenantRebuildReport, tenantRebuildExample) },
});

const HIDDEN = "[hidden]";

/** For admins who may not read content: which cells differ, without the texts in them. */
function hideTexts(differences: readonly RowDifference[]): readonly RowDifference[] {
  const hide = (cell: RowDifference["before"]) => (typeof cell === "string" ? HIDDEN : cell);
  return differences.map((each) => (each.column === null ? each : { ...each, before: hide(each.before), after: hide(each.after) }));
}

/** What the audit log says of a rebuild: an owner reads the texts that differ. */
const toSubject = (session: SessionId, number: number, isOwner: boolean): AuditSubject => ({
  action: isOwner && number > 0 ? "session.rebuilt_and_read" : "session.rebuilt",
  target: { type: "session", id: session },
  details: { number },
});

export function registerRebuild(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(rebuildOne, async (c) => {
    const { tenant_id: tenant, session_id: session } = c.req.valid("param");
    const caller = { tenant, session };
    const rows = await deps.rows(tenant);
    const { after } = c.req.valid("query");
    const from = after === undefined ? null : parseRebuildCursor(after, rows.tables);
    if (after !== undefined && !from) return sendProblem(c, { code: "invalid_cursor" });
    const readLog = (seq: number) =>
      callWithRetry(
        () => deps.sessions(tenant, session),
        (api) => api.exportLog(caller, { after: seq, limit: LOG_PAGE }),
      );
    const reached = await reachReadModel(c, deps, () => rebuildStep({ rows, readLog, now: deps.now }, caller, from));
    if (!reached.ok) return sendProblem(c, reached.error);
    if (!reached.value.ok) return sendProblem(c, reached.value.error);
    const { next, ...report } = reached.value.value;
    const isOwner = readAdmin(c).role === "own";
    const noted = await deps.tenants(tenant).recordAct(readAct(c), toSubject(session, report.differences.length, isOwner));
    if (!noted.ok) return sendProblem(c, noted.error);
    const differences = isOwner ? report.differences : hideTexts(report.differences);
    return c.json({ ...report, differences, next_cursor: next && toRebuildCursor(next) }, 200);
  });

  app.openapi(rebuildAll, async (c) => {
    const { tenant_id: tenant } = c.req.valid("param");
    const listed = await adoptTenant(deps, tenant);
    if (!listed.ok) return sendProblem(c, listed.error);
    const act = readAct(c);
    const rebuild = async () => rebuildTenant({ object: () => deps.tenants(tenant), rows: await deps.tenantRows(tenant), act }, tenant);
    const reached = await reachReadModel(c, deps, rebuild);
    if (!reached.ok) return sendProblem(c, reached.error);
    return reached.value.ok ? c.json(reached.value.value, 200) : sendProblem(c, reached.value.error);
  });
}
