/** Exports sessions, and the tenant, into files of lines of JSON. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { ExportState, ExportSubject } from "../../app/export-api";
import { findLackingScope, listReadable } from "../../app/exported-settings";
import { type ExportView, exportRemoval, exportView } from "../../contract/export";
import { id } from "../../contract/ids";
import { endUser } from "../../contract/label";
import { listView } from "../../contract/page";
import { readPrincipal } from "../auth";
import { callWithRetry } from "../calls";
import type { HttpDeps, HttpEnv } from "../deps";
import { exportExample } from "../examples/exports";
import { EXPORT, onePage } from "../examples/shared";
import { answerExport, findExport } from "../export-content";
import { sendProblem } from "../problem";
import { readAct } from "../read-act";
import { json, jsonBody, tenantRoute } from "../routing";
import { limitQuery, toList } from "../schemas/page";

const tag = "exports";
const scope = "exports:write";
const path = "/v1/exports/{export_id}";
const params = z.object({ export_id: id("exp") });
const lines = z.string().openapi({ format: "binary" });

const subject = z.discriminatedUnion("of", [
  z.strictObject({ of: z.literal("session"), session_id: id("ses") }),
  z.strictObject({ of: z.literal("end_user"), end_user: endUser }),
  z.strictObject({
    of: z.literal("tenant"),
    settings: z
      .boolean()
      .default(true)
      .openapi({ description: "Whether the tenant's settings are in it, as far as the calling key may read them" }),
  }),
]);

const create = tenantRoute({
  method: "post",
  path: "/v1/exports",
  tag,
  scope,
  operationId: "createExport",
  summary: "Export sessions, or the tenant",
  description:
    "Begins an export of one session, of all sessions of an end user, or of the tenant: its settings and all its sessions. It is made in the background.",
  refuses: ["session_not_found", "export_limit", "files_disabled"],
  request: { body: jsonBody(subject, { of: "tenant" as const }) },
  responses: {
    202: json("The export is being made", exportView, { ...exportExample, status: "running", finished_at: null, download_url: null }),
  },
});

const list = tenantRoute({
  method: "get",
  path: "/v1/exports",
  tag,
  scope,
  operationId: "listExports",
  summary: "List exports",
  description: "Lists the tenant's exports, newest first.",
  request: {
    query: z.strictObject({ ...limitQuery, after: id("exp").optional().openapi({ description: "next_cursor of the page before" }) }),
  },
  responses: { 200: json("Newest first", listView(exportView), onePage(exportExample)) },
});

const get = tenantRoute({
  method: "get",
  path,
  tag,
  scope,
  operationId: "getExport",
  summary: "Read an export",
  description: "Shows how far the export is. When it is ready, `download_url` reads its file.",
  refuses: ["export_not_found"],
  request: { params },
  responses: { 200: json("The export", exportView, exportExample) },
});

const download = tenantRoute({
  method: "get",
  path: `${path}/content`,
  tag,
  scope,
  operationId: "downloadExport",
  summary: "Read the file of an export",
  description:
    "Returns the lines as a download. A signed address is accepted in place of a key. A key that may not read all settings of the export is refused.",
  refuses: ["signature_not_valid", "export_not_found", "files_disabled", "file_store_unavailable"],
  request: {
    params,
    query: z.strictObject({ signature: z.string().optional().openapi({ description: "Part of a signed address, in place of a key" }) }),
  },
  responses: { 200: { description: "One JSON object a line", content: { "application/jsonl": { schema: lines } } } },
});

const remove = tenantRoute({
  method: "delete",
  path,
  tag,
  scope,
  operationId: "deleteExport",
  summary: "Delete an export",
  description: "Ends an export, whether it is ready or not. It cannot be read any more at once.",
  refuses: ["export_not_found"],
  request: { params },
  responses: { 200: json("The export cannot be read any more", exportRemoval, { id: EXPORT, status: "removed" }) },
});

const toSubject = (asked: z.output<typeof subject>): ExportSubject => (asked.of === "tenant" ? { of: "tenant" } : asked);

const LINK_MS = 60 * 60 * 1_000;

async function toView(c: Context<HttpEnv>, deps: HttpDeps, state: ExportState): Promise<ExportView> {
  if (state.status !== "ready" || findLackingScope(state.settings, readPrincipal(c).scopes)) return { ...state, download_url: null };
  const origin = deps.config.publicUrl ?? new URL(c.req.url).origin;
  const expires_at = Math.min(deps.now() + LINK_MS, state.expires_at);
  const signature = await deps.exportSigner.sign({ tenant: readPrincipal(c).tenant, export: state.id, expires_at });
  return { ...state, download_url: `${origin}/v1/exports/${state.id}/content?signature=${signature}` };
}

export function registerExports(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(create, async (c) => {
    const { tenant } = readPrincipal(c);
    if (!deps.exports(tenant)) return sendProblem(c, { code: "files_disabled" });
    const name = deps.newId("exp");
    const asked = c.req.valid("json");
    const settings = asked.of === "tenant" && asked.settings ? listReadable(readPrincipal(c).scopes) : [];
    const begun = await callWithRetry(
      () => deps.tenants(tenant),
      (api) => api.beginExport(readAct(c), { id: name, subject: toSubject(asked), settings }),
    );
    return begun.ok ? c.json(await toView(c, deps, begun.value), 202) : sendProblem(c, begun.error);
  });

  app.openapi(list, async (c) => {
    const { after = null, limit } = c.req.valid("query");
    const page = await callWithRetry(
      () => deps.tenants(readPrincipal(c).tenant),
      (api) => api.listExports({ after, limit }),
    );
    if (!page.ok) return sendProblem(c, page.error);
    const data = await Promise.all(page.value.data.map((state) => toView(c, deps, state)));
    return c.json(
      toList({ data, has_more: page.value.has_more }, (item) => item.id),
      200,
    );
  });

  app.openapi(get, async (c) => {
    const found = await findExport(deps, { tenant: readPrincipal(c).tenant, export: c.req.valid("param").export_id });
    return found.ok ? c.json(await toView(c, deps, found.value), 200) : sendProblem(c, found.error);
  });

  app.openapi(download, (c) => {
    const { tenant, scopes } = readPrincipal(c);
    return answerExport(c, deps, { act: readAct(c), tenant, scopes, export: c.req.valid("param").export_id });
  });

  app.openapi(remove, async (c) => {
    const removed = await callWithRetry(
      () => deps.tenants(readPrincipal(c).tenant),
      (api) => api.deleteExport(readAct(c), c.req.valid("param").export_id),
    );
    return removed.ok ? c.json(removed.value, 200) : sendProblem(c, removed.error);
  });
}
