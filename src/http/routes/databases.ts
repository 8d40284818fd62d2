/** For the deployment's admin: the databases of the read model, and the move of a tenant from one to another. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { beginMove, cancelMove, findWait, MAX_DATABASE_BYTES, type MoveRefusal, type Placement, rankSize } from "../../app/placement";
import type { MovePorts } from "../../app/projection/move-ports";
import { moveStep } from "../../app/projection/move-tenant";
import { id } from "../../contract/ids";
import { databaseList, moveInput, type PlacementView, placementView } from "../../contract/placement";
import type { TenantId } from "../../domain/ids";
import { err, ok, type Result } from "../../lib/result";
import { callWithRetry } from "../calls";
import type { HttpDeps, HttpEnv } from "../deps";
import { databasesExample, placementExample } from "../examples/tenant";
import { type HttpError, sendProblem } from "../problem";
import { readAct } from "../read-act";
import { reachReadModel } from "../read-model";
import { adminRoute, json, jsonBody } from "../routing";

const tag = "admin";
const tenantPath = z.object({ tenant_id: id("ten") });
/** Events in one page of a session's log. The object also bounds their bytes. */
const LOG_PAGE = 100;

const list = adminRoute({
  method: "get",
  path: "/v1/admin/databases",
  tag,
  role: "read",
  operationId: "listDatabases",
  summary: "List databases",
  description: "The databases of the read model with their sizes, as each of them says. A database holds 10 GB.",
  request: {},
  responses: { 200: json("All databases, by the names of their bindings", databaseList, databasesExample) },
});

const show = adminRoute({
  method: "get",
  path: "/v1/admin/tenants/{tenant_id}/move",
  tag,
  role: "read",
  operationId: "getTenantMove",
  summary: "Read where a tenant's rows are",
  description: "Shows the tenant's database, and the move that is under way.",
  refuses: ["tenant_not_found"],
  request: { params: tenantPath },
  responses: { 200: json("The placement", placementView, placementExample) },
});

const advance = adminRoute({
  method: "post",
  path: "/v1/admin/tenants/{tenant_id}/move",
  tag,
  role: "operate",
  operationId: "moveTenant",
  summary: "Move a tenant to another database",
  description:
    "Begins the move, or runs the next bounded step of the one that is under way. Send it again after `wait_ms`, until `move` is null: `npm run move-tenant` does. Requests that are cut off and repeated do no harm. Chat, lists and searches go on.",
  refuses: ["tenant_not_found", "move_conflict", "read_model_unavailable"],
  request: { params: tenantPath, body: jsonBody(moveInput, { to: "DB_2" }) },
  responses: { 200: json("The placement after the step", placementView, placementExample) },
});

const cancel = adminRoute({
  method: "delete",
  path: "/v1/admin/tenants/{tenant_id}/move",
  tag,
  role: "operate",
  operationId: "cancelTenantMove",
  summary: "Cancel a tenant's move",
  description:
    "Before the switch, the tenant stays in its database, and the other one is emptied by the next steps: send the POST with the tenant's own database. Without a move nothing changes.",
  refuses: ["tenant_not_found", "move_conflict"],
  request: { params: tenantPath },
  responses: { 200: json("The placement", placementView, { ...placementExample, move: null }) },
});

const toView = (tenant_id: TenantId, placement: Placement, now: number): PlacementView => {
  const { database, version, move } = placement;
  const shown = move && {
    from: move.from,
    to: move.to,
    phase: move.phase,
    since: move.since,
    sessions: move.sessions,
    differences: move.differences,
  };
  return { tenant_id, database, version, move: shown, wait_ms: findWait(placement, now) };
};

const toProblem = (refusal: MoveRefusal): HttpError =>
  refusal.code === "already_there"
    ? { code: "invalid_request", errors: [{ field: "to", detail: "the tenant is in this database" }] }
    : refusal;

/** Changes the stored placement, unless it changed meanwhile: then what is stored counts. */
async function changePlacement(
  deps: HttpDeps,
  { tenant, act }: { readonly tenant: TenantId; readonly act: MovePorts["act"] },
  decide: (placement: Placement, now: number) => Result<Placement, MoveRefusal>,
): Promise<Result<Placement, HttpError>> {
  const ask = <T>(work: (api: ReturnType<HttpDeps["tenants"]>) => Promise<T>): Promise<T> =>
    callWithRetry(() => deps.tenants(tenant), work);
  const found = await ask((api) => api.placement());
  if (!found.ok) return found;
  const decided = decide(found.value, deps.now());
  if (!decided.ok) return err(toProblem(decided.error));
  if (decided.value === found.value) return ok(found.value);
  return ask((api) => api.place(act, { after: found.value.version, placement: decided.value }));
}

const buildPorts = (deps: HttpDeps, tenant: TenantId, act: MovePorts["act"]): MovePorts => ({
  act,
  object: () => deps.tenants(tenant),
  readLog: (session, after) =>
    callWithRetry(
      () => deps.sessions(tenant, session),
      (api) => api.exportLog({ tenant, session }, { after, limit: LOG_PAGE }),
    ),
  database: deps.databases.forMove,
  now: deps.now,
});

export function registerDatabases(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(list, async (c) => {
    const data = (await deps.databases.measure()).map(({ database, bytes, tenants }) => ({
      database,
      bytes,
      share: bytes === null ? null : bytes / MAX_DATABASE_BYTES,
      level: bytes === null ? ("unknown" as const) : rankSize(bytes),
      tenants,
    }));
    return c.json({ data }, 200);
  });

  app.openapi(show, async (c) => {
    const { tenant_id: tenant } = c.req.valid("param");
    const found = await changePlacement(deps, { tenant, act: readAct(c) }, ok);
    return found.ok ? c.json(toView(tenant, found.value, deps.now()), 200) : sendProblem(c, found.error);
  });

  app.openapi(advance, async (c) => {
    const { tenant_id: tenant } = c.req.valid("param");
    const { to } = c.req.valid("json");
    const refuseTarget = (detail: string) => sendProblem(c, { code: "invalid_request", errors: [{ field: "to", detail }] });
    if (!deps.databases.names.includes(to)) return refuseTarget("no such database is bound");
    const checked = await reachReadModel(c, deps, () => deps.databases.forMove(to).hasTables());
    if (!checked.ok) return sendProblem(c, checked.error);
    if (!checked.value) return refuseTarget("the database lacks tables: apply the migrations to it");
    const begun = await changePlacement(deps, { tenant, act: readAct(c) }, (placement, now) => beginMove(placement, to, now));
    if (!begun.ok) return sendProblem(c, begun.error);
    const reached = await reachReadModel(c, deps, () => moveStep(buildPorts(deps, tenant, readAct(c)), tenant));
    if (!reached.ok) return sendProblem(c, reached.error);
    return reached.value.ok ? c.json(toView(tenant, reached.value.value, deps.now()), 200) : sendProblem(c, reached.value.error);
  });

  app.openapi(cancel, async (c) => {
    const { tenant_id: tenant } = c.req.valid("param");
    const cancelled = await changePlacement(deps, { tenant, act: readAct(c) }, cancelMove);
    return cancelled.ok ? c.json(toView(tenant, cancelled.value, deps.now()), 200) : sendProblem(c, cancelled.error);
  });
}
