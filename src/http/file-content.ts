/** Answers with a file's content: to a key, or to a signed address. */
import type { Context, MiddlewareHandler } from "hono";
import type { FileId, TenantId } from "../domain/ids";
import { callWithRetry } from "./calls";
import { isKnownTo } from "./conditions";
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
  const { media_type, bytes, sha256, name } = found.value;
  // The address may be a credential: no cache keeps the answer. Who has one may show the picture in a page of any origin.
  const copy = { etag: `"${sha256}"`, "cache-control": "private, no-store", "cross-origin-resource-policy": "cross-origin" };
  if (isKnownTo(c.req.header("if-none-match"), copy.etag)) return c.body(null, 304, copy);
  const isHead = c.req.method === "HEAD";
  const open = async () => (isHead ? ((await store.has(file)) ? "head" : null) : store.open(file));
  const opened = await reachStore(deps, open);
  if (!opened.ok) return sendProblem(c, opened.error);
  if (opened.value === null) return sendProblem(c, { code: "file_not_found", file });
  const headers = {
    ...copy,
    "content-type": media_type,
    "content-length": String(bytes),
    "content-disposition": `attachment; filename*=UTF-8''${encodeName(name ?? file)}`,
    // A document may hold a script. No browser may run it with the deployment's origin.
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    // A request for a part is answered with the whole, which is what RFC 9110 lets a server do.
    "accept-ranges": "none",
  };
  return opened.value === "head" ? c.body(null, 200, headers) : c.body(opened.value, 200, headers);
}

/** A file's name in a header (RFC 8187): `encodeURIComponent` leaves a few signs that the header does not allow. */
const encodeName = (name: string): string =>
  encodeURIComponent(name).replace(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

const READING = new Set(["GET", "HEAD"]);

/**
 * Serves a signed address before a key is asked for. The signature is the credential: tenant and file come from it, and
 * the path must name the same file.
 */
export function serveSigned(deps: HttpDeps): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    const signature = c.req.query("signature");
    if (!READING.has(c.req.method) || signature === undefined) return await next();
    const grant = await deps.fileSigner.verify(signature);
    if (!grant || grant.file !== c.req.param("file_id")) return sendProblem(c, { code: "signature_not_valid" });
    return await answerContent(c, deps, grant);
  };
}
