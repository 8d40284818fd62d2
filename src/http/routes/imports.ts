/** Restores exports: from a body while it arrives, or in the background from the bucket. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { findLackingScope, listWritable } from "../../app/exported-settings";
import { importDeletion, importEntry, importReport, importView } from "../../contract/export";
import { id } from "../../contract/ids";
import { listView } from "../../contract/page";
import { SETTINGS_MODES } from "../../domain/export-format";
import { parseId } from "../../domain/ids";
import { err, ok, type Result } from "../../lib/result";
import { readPrincipal } from "../auth";
import { callWithRetry } from "../calls";
import type { Asker, HttpDeps, HttpEnv } from "../deps";
import { importEntryExample, importReportExample, storedImportExample } from "../examples/exports";
import { EXPORT, onePage } from "../examples/shared";
import { findExport, noteOpened } from "../export-content";
import { runImport } from "../import-sessions";
import { type HttpError, sendProblem } from "../problem";
import { readAct, readKeylessAct } from "../read-act";
import { json, jsonBody, tenantRoute } from "../routing";
import { counter, limitQuery, toList } from "../schemas/page";

const tag = "exports";
const scope = "exports:write";
const path = "/v1/imports/{import_id}";
const params = z.object({ import_id: id("imp") });
const lines = z.string().openapi({ format: "binary" });

const settingsMode = z.enum(SETTINGS_MODES).default("keep").openapi({
  description: "keep: only settings that the tenant has not are restored. replace: those of the file win. skip: none is restored",
});

const restore = tenantRoute({
  method: "post",
  path: "/v1/imports",
  tag,
  scope,
  operationId: "importSessions",
  summary: "Restore an export",
  description:
    "The body is the file of an export, read while it arrives. Its settings come first; one that the tenant has otherwise is left as it is, unless `settings` says replace. Each session is restored whole, under its own id, or not at all; a session of an id that the tenant knows is left as it is.",
  request: {
    query: z.strictObject({
      after: id("ses").optional().openapi({ description: "next_cursor of the request before, with the same file" }),
      settings: settingsMode,
    }),
    body: { required: true, content: { "application/octet-stream": { schema: lines } } },
  },
  responses: { 200: json("What became of each setting and session", importReport, importReportExample) },
});

const background = z.strictObject({
  export_id: id("exp").optional().openapi({ description: "An export of this tenant" }),
  url: z
    .string()
    .max(2_048)
    .optional()
    .openapi({ format: "uri", description: "`download_url` of an export of any tenant of this deployment. Name this or export_id" }),
  settings: settingsMode,
});

const begin = tenantRoute({
  method: "post",
  path: "/v1/imports/background",
  tag,
  scope,
  operationId: "beginImport",
  summary: "Restore a stored export in the background",
  description:
    "Begins an import of an export that this deployment stores, of any size: one of this tenant by its id, or one of another tenant by its signed address. Nothing is fetched from elsewhere. It may be repeated: what is there already says exists.",
  refuses: ["export_not_found", "import_limit", "signature_not_valid", "files_disabled"],
  request: { body: jsonBody(background, { export_id: EXPORT }) },
  responses: { 202: json("The import has begun", importView, { ...storedImportExample, status: "running", finished_at: null }) },
});

const list = tenantRoute({
  method: "get",
  path: "/v1/imports",
  tag,
  scope,
  operationId: "listImports",
  summary: "List imports",
  description: "Lists the tenant's imports in the background, newest first.",
  request: {
    query: z.strictObject({ ...limitQuery, after: id("imp").optional().openapi({ description: "next_cursor of the page before" }) }),
  },
  responses: { 200: json("Newest first", listView(importView), onePage(storedImportExample)) },
});

const get = tenantRoute({
  method: "get",
  path,
  tag,
  scope,
  operationId: "getImport",
  summary: "Read an import",
  description: "Shows how far the import is.",
  refuses: ["import_not_found"],
  request: { params },
  responses: { 200: json("The import", importView, storedImportExample) },
});

const report = tenantRoute({
  method: "get",
  path: `${path}/report`,
  tag,
  scope,
  operationId: "getImportReport",
  summary: "List what an import did",
  description: "Lists what became of each setting and session, in order of the file's lines, as far as the import is.",
  refuses: ["import_not_found"],
  request: {
    params,
    query: z.strictObject({ ...limitQuery, after: counter.optional().openapi({ description: "next_cursor of the page before" }) }),
  },
  responses: { 200: json("In order of the file's lines", listView(importEntry), onePage(importEntryExample)) },
});

const remove = tenantRoute({
  method: "delete",
  path,
  tag,
  scope,
  operationId: "deleteImport",
  summary: "End an import",
  description: "Ends an import that is under way, and removes its report. What it restored stays.",
  refuses: ["import_not_found"],
  request: { params },
  responses: { 200: json("Ended", importDeletion, { id: storedImportExample.id, deleted: true }) },
});

type Source = Parameters<typeof findExport>[1];
const SIGNED_PATH = /^\/v1\/exports\/(exp_[0-9A-Z]{26})\/content$/;

const invalid = (field: string, detail: string) => err({ code: "invalid_request" as const, errors: [{ field, detail }] });

/** The export that the body names. Only the signature says whose one of another tenant is: nothing is fetched from the address. */
async function findSource(c: Asker, deps: HttpDeps, { export_id, url }: z.output<typeof background>): Promise<Result<Source, HttpError>> {
  if ((export_id === undefined) === (url === undefined)) return invalid("export_id", "name either export_id or url");
  if (export_id !== undefined) return ok({ tenant: readPrincipal(c).tenant, export: export_id });
  const address = URL.parse(url ?? "");
  const named = parseId("exp", SIGNED_PATH.exec(address?.pathname ?? "")?.[1] ?? "");
  if (!address || !named) return invalid("url", "must be the download_url of an export of this deployment");
  const grant = await deps.exportSigner.verify(address.searchParams.get("signature") ?? "");
  return grant?.export === named ? ok({ tenant: grant.tenant, export: named }) : err({ code: "signature_not_valid" });
}

/** Finds the export, and notes in the log of its tenant that it is read. */
async function openSource(c: Asker, deps: HttpDeps, asked: z.output<typeof background>) {
  const source = await findSource(c, deps, asked);
  if (!source.ok) return source;
  const found = await findExport(deps, source.value);
  if (!found.ok || found.value.status !== "ready") return err({ code: "export_not_found" as const, export: source.value.export });
  const { of, bytes, sessions_done, settings } = found.value;
  const isOwn = asked.export_id !== undefined;
  const lacking = isOwn ? findLackingScope(settings, readPrincipal(c).scopes) : null;
  if (lacking) return err({ code: "forbidden" as const, scope: lacking });
  // The other tenant's log names no key of this one.
  const noted = await noteOpened(deps, source.value, isOwn ? readAct(c) : readKeylessAct(c));
  return noted.ok ? ok({ source: source.value, bytes, sessions: of === "end_user" ? null : sessions_done }) : noted;
}

export function registerImports(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  const connectTo = (c: Asker) => () => deps.tenants(readPrincipal(c).tenant);

  app.openapi(restore, async (c) => {
    const body = c.req.raw.body;
    if (!body) return sendProblem(c, { code: "invalid_request", errors: [{ field: "body", detail: "must not be empty" }] });
    const { after, settings } = c.req.valid("query");
    const done = await runImport(deps, {
      act: readAct(c),
      tenant: readPrincipal(c).tenant,
      body,
      after: after ?? null,
      mode: settings,
      allowed: listWritable(readPrincipal(c).scopes),
    });
    return done.ok ? c.json(done.value, 200) : sendProblem(c, done.error);
  });

  app.openapi(begin, async (c) => {
    const { tenant, scopes } = readPrincipal(c);
    const asked = c.req.valid("json");
    if (!deps.exports(tenant)) return sendProblem(c, { code: "files_disabled" });
    const opened = await openSource(c, deps, asked);
    if (!opened.ok) return sendProblem(c, opened.error);
    const { source, bytes, sessions } = opened.value;
    const name = deps.newId("imp");
    const [mode, allowed] = [asked.settings, listWritable(scopes)];
    const begun = await callWithRetry(connectTo(c), (api) =>
      api.beginImport(readAct(c), { id: name, source, bytes, sessions, mode, allowed }),
    );
    return begun.ok ? c.json(begun.value, 202) : sendProblem(c, begun.error);
  });

  app.openapi(list, async (c) => {
    const { after = null, limit } = c.req.valid("query");
    const page = await callWithRetry(connectTo(c), (api) => api.listImports({ after, limit }));
    return page.ok
      ? c.json(
          toList(page.value, (item) => item.id),
          200,
        )
      : sendProblem(c, page.error);
  });

  app.openapi(get, async (c) => {
    const found = await callWithRetry(connectTo(c), (api) => api.getImport(c.req.valid("param").import_id));
    return found.ok ? c.json(found.value, 200) : sendProblem(c, found.error);
  });

  app.openapi(report, async (c) => {
    const { after = 0, limit } = c.req.valid("query");
    const page = await callWithRetry(connectTo(c), (api) => api.reportImport(c.req.valid("param").import_id, { after, limit }));
    return page.ok
      ? c.json(
          toList(page.value, (item) => String(item.line)),
          200,
        )
      : sendProblem(c, page.error);
  });

  app.openapi(remove, async (c) => {
    const { import_id } = c.req.valid("param");
    const removed = await deps.tenants(readPrincipal(c).tenant).deleteImport(readAct(c), import_id);
    return removed.ok ? c.json({ id: import_id, deleted: true as const }, 200) : sendProblem(c, removed.error);
  });
}
