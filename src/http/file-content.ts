/** Answers with a file's content: to a key, or to a signed address. */
import type { Context, MiddlewareHandler } from "hono";
import type { FileId, TenantId } from "../domain/ids";
import { callWithRetry } from "./calls";
import type { HttpDeps, HttpEnv } from "./deps";
import { sendProblem } from "./problem";
import { reachStore } from "./store-file";

export async function answerContent(
  c: Context<HttpEnv>,
  deps: HttpDeps,
  { tenant, file }: { readonly tenant: TenantId; readonly file: FileId },
) {
  const found = await callWithRetry(
    () => deps.tenants(tenant),
    (api) => api.getFile(file),
  );
  if (!found.ok) return sendProblem(c, found.error);
  const store = deps.files(tenant);
  if (!store) return sendProblem(c, { code: "files_disabled" });
  const opened = await reachStore(deps, () => store.open(file));
  if (!opened.ok) return sendProblem(c, opened.error);
  if (opened.value === null) return sendProblem(c, { code: "file_not_found", file });
  const { media_type, bytes, sha256, name } = found.value;
  return c.body(opened.value, 200, {
    "content-type": media_type,
    "content-length": String(bytes),
    etag: `"${sha256}"`,
    "content-disposition": `attachment; filename*=UTF-8''${encodeName(name ?? file)}`,
    // A document may hold a script. No browser may run it with the deployment's origin.
    "content-security-policy": "default-src 'none'; sandbox",
    "cache-control": "private, no-store",
  });
}

/** A file's name in a header (RFC 8187): `encodeURIComponent` leaves a few signs that the header does not allow. */
const encodeName = (name: string): string =>
  encodeURIComponent(name).replace(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

/**
 * Serves a signed address before a key is asked for. The signature is the credential: tenant and file come from it, and
 * the path must name the same file.
 */
export function serveSigned(deps: HttpDeps): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    const signature = c.req.query("signature");
    if (c.req.method !== "GET" || signature === undefined) return await next();
    const grant = await deps.fileSigner.verify(signature);
    if (!grant || grant.file !== c.req.param("file_id")) return sendProblem(c, { code: "unauthorized" });
    return await answerContent(c, deps, grant);
  };
}
