/** Answers with the file of an export: to a key, or to a signed address. */
import type { Context, MiddlewareHandler } from "hono";
import type { Act } from "../app/audit-chain";
import type { ExportGrant } from "../app/export-api";
import { findLackingScope } from "../app/exported-settings";
import type { Scope } from "../domain/scopes";
import { callWithRetry } from "./calls";
import type { HttpDeps, HttpEnv } from "./deps";
import { sendProblem } from "./problem";
import { readKeylessAct } from "./read-act";
import { reachStore } from "./store-file";

type NamedExport = Omit<ExportGrant, "expires_at">;

export const findExport = (deps: HttpDeps, { tenant, export: id }: NamedExport) =>
  callWithRetry(
    () => deps.tenants(tenant),
    (api) => api.getExport(id),
  );

/** Notes that the export is read. */
export const noteOpened = (deps: HttpDeps, { tenant, export: id }: NamedExport, act: Act) =>
  callWithRetry(
    () => deps.tenants(tenant),
    (api) => api.recordAct(act, { action: "export.opened", target: { type: "export", id }, details: {} }),
  );

interface Opened extends NamedExport {
  readonly act: Act;
  /** The scopes of the key. Null: the address is signed; a key that may read the whole export asked for it. */
  readonly scopes: readonly Scope[] | null;
}

export async function answerExport(c: Context<HttpEnv>, deps: HttpDeps, { act, tenant, scopes, export: id }: Opened) {
  const store = deps.exports(tenant);
  if (!store) return sendProblem(c, { code: "files_disabled" });
  const found = await findExport(deps, { tenant, export: id });
  if (!found.ok) return sendProblem(c, found.error);
  if (found.value.status !== "ready") return sendProblem(c, { code: "export_not_found", export: id });
  const lacking = scopes && findLackingScope(found.value.settings, scopes);
  if (lacking) return sendProblem(c, { code: "forbidden", scope: lacking });
  const opened = await reachStore(deps, () => store.open(id));
  if (!opened.ok) return sendProblem(c, opened.error);
  if (opened.value === null) return sendProblem(c, { code: "export_not_found", export: id });
  const { body, bytes } = opened.value;
  if (c.req.method !== "HEAD") {
    // Nothing is shown that is not in the audit log.
    const noted = await noteOpened(deps, { tenant, export: id }, act);
    if (!noted.ok) {
      await body.cancel();
      return sendProblem(c, noted.error);
    }
  }
  const headers = {
    "cache-control": "private, no-store",
    "content-type": "application/jsonl",
    "content-length": String(bytes),
    "content-disposition": `attachment; filename="${id}.jsonl"`,
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
  };
  return c.body(body, 200, headers);
}

/** Serves a signed address before a key is asked for. Tenant and export come from the signature, and the path must name the same export. */
export function serveSignedExport(deps: HttpDeps): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    const signature = c.req.query("signature");
    if (c.req.method !== "GET" || signature === undefined) return await next();
    const grant = await deps.exportSigner.verify(signature);
    if (!grant || grant.export !== c.req.param("export_id")) return sendProblem(c, { code: "signature_not_valid" });
    return await answerExport(c, deps, { ...grant, scopes: null, act: readKeylessAct(c) });
  };
}
