/** Uploads, lists, reads and deletes a tenant's files. */

import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { FILE_TYPE_NAMES, MAX_FILE_BYTES } from "../../context/file-types";
import { fileErasure, fileUrl, fileView } from "../../contract/file";
import { id } from "../../contract/ids";
import { fileName } from "../../contract/label";
import { listView } from "../../contract/page";
import { sha256 } from "../../lib/sha256";
import { readPrincipal } from "../auth";
import { callWithRetry } from "../calls";
import { knownHeaders } from "../conditions";
import type { HttpDeps, HttpEnv } from "../deps";
import { AT, FILE, onePage, SECOND } from "../examples/shared";
import { fileExample } from "../examples/tenant";
import { answerContent } from "../file-content";
import { idempotencyHeaders } from "../idempotency";
import { sendProblem } from "../problem";
import { readAct } from "../read-act";
import { FILE_REFUSALS } from "../refusals";
import { json, jsonBody, tenantRoute } from "../routing";
import { limitQuery, toList } from "../schemas/page";
import { storeFile } from "../store-file";

const tag = "files";
const path = "/v1/files/{file_id}";
const params = z.object({ file_id: id("fil") });
const binary = z.string().openapi({ format: "binary" });

/** The bytes of a file, by each media type that is stored. */
const content = Object.fromEntries(
  FILE_TYPE_NAMES.map((type) => [type, type.endsWith("json") ? { schema: z.unknown(), example: { name: "Ada" } } : { schema: binary }]),
);

const upload = tenantRoute({
  method: "post",
  path: "/v1/files",
  tag,
  scope: "files:write",
  operationId: "uploadFile",
  summary: "Upload a file",
  description:
    "The body is the content, with its `Content-Length`. It is stored while it arrives. Its type is found by its first bytes: PNG, JPEG, GIF, WebP, PDF, or text in UTF-8. The file ends after 24 hours unless a message refers to it. An idempotency key does not make a file again that was deleted since: the answer is 404.",
  refuses: ["length_required", "upload_too_slow", "file_too_large", "file_not_found", ...FILE_REFUSALS],
  request: {
    headers: idempotencyHeaders,
    query: z.strictObject({ name: fileName.optional().openapi({ description: "The name that people and models are shown" }) }),
    body: { required: true, content: { "application/octet-stream": { schema: binary } } },
  },
  responses: { 201: json("The stored file", fileView, fileExample) },
});

const list = tenantRoute({
  method: "get",
  path: "/v1/files",
  tag,
  scope: "files:read",
  operationId: "listFiles",
  summary: "List files",
  description: "Lists the tenant's files by the time of their upload.",
  request: {
    query: z.strictObject({
      ...limitQuery,
      after: id("fil").optional().openapi({ description: "next_cursor of the page before" }),
      order: z.enum(["asc", "desc"]).default("desc").openapi({ description: "By the time of the upload" }),
    }),
  },
  responses: { 200: json("Newest first by default", listView(fileView), onePage(fileExample)) },
});

const get = tenantRoute({
  method: "get",
  path,
  tag,
  scope: "files:read",
  operationId: "getFile",
  summary: "Read a file",
  description: "Shows what is known of a file: its type, size and digest, and how many sessions refer to it.",
  refuses: ["file_not_found"],
  request: { params },
  responses: { 200: json("The file", fileView, fileExample) },
});

const fileTag = { ETag: { description: "The SHA-256 of the content, in quotes", schema: { type: "string" as const } } };

const download = tenantRoute({
  method: "get",
  path: `${path}/content`,
  tag,
  scope: "files:read",
  operationId: "downloadFile",
  summary: "Read the content of a file",
  description: "Returns the bytes as they were sent, always as a download. A signed address is accepted in place of a key.",
  refuses: ["signature_not_valid", "file_not_found", "files_disabled", "file_store_unavailable"],
  request: {
    params,
    headers: knownHeaders,
    query: z.strictObject({ signature: z.string().optional().openapi({ description: "Part of a signed address, in place of a key" }) }),
  },
  responses: {
    200: {
      description: "The bytes as they were sent",
      headers: fileTag,
      content,
    },
    304: { description: "The content is the one that `If-None-Match` names", headers: fileTag },
  },
});

const DEFAULT_SECONDS = 3_600;
const MAX_SECONDS = 86_400;

const urlExample = {
  url: `https://chat.example.com/v1/files/${FILE}/content?signature=01JD8Z3V6Q4N7R2T5W9X0Y1ABK.01JD8Z3V6Q4N7R2T5W9X0Y1ABP.1795345500000.9f86d0`,
  expires_at: AT + 300 * SECOND,
};

const share = tenantRoute({
  method: "post",
  path: `${path}/url`,
  tag,
  scope: "files:read",
  operationId: "signFileUrl",
  summary: "Make a signed address of a file",
  description: "The address reads the content without a key until it expires, or until the file is deleted.",
  refuses: ["file_not_found"],
  request: {
    params,
    body: jsonBody(
      z.strictObject({ expires_in: z.int().min(1).max(MAX_SECONDS).default(DEFAULT_SECONDS).openapi({ description: "Seconds" }) }),
      { expires_in: 300 },
      false,
    ),
  },
  responses: { 200: json("The address", fileUrl, urlExample) },
});

const remove = tenantRoute({
  method: "delete",
  path,
  tag,
  scope: "files:write",
  operationId: "deleteFile",
  summary: "Delete a file",
  description: "The file is unreadable at once, whatever refers to it. A message that refers to it keeps its place and names the file.",
  refuses: ["file_not_found"],
  request: { params },
  responses: { 200: json("The file cannot be read any more", fileErasure, { id: FILE, status: "erased" }) },
});

type App = OpenAPIHono<HttpEnv>;

async function takeUpload(
  c: Context<HttpEnv>,
  deps: HttpDeps,
  { name, key }: { readonly name: string | null; readonly key: string | undefined },
) {
  const length = c.req.header("content-length");
  const body = c.req.raw.body;
  if (length === undefined || !/^\d{1,15}$/.test(length)) return sendProblem(c, { code: "length_required" });
  const bytes = Number(length);
  if (bytes > MAX_FILE_BYTES) return sendProblem(c, { code: "file_too_large", field: "body", limit: MAX_FILE_BYTES });
  if (!body || bytes === 0) return sendProblem(c, { code: "invalid_request", errors: [{ field: "body", detail: "must not be empty" }] });
  const declared = (c.req.header("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  const identify = async (digest: string) =>
    key === undefined ? null : { key, digest: await sha256(`${c.req.method} ${c.req.path}\n${name ?? ""}\n${declared}\n${digest}`) };
  const stored = await storeFile(deps, readPrincipal(c).tenant, {
    ...{ field: "body", name, declared, body, bytes, identify },
    act: readAct(c),
  });
  if (!stored.ok) return sendProblem(c, stored.error);
  if (stored.value.replayed) c.header("idempotent-replayed", "true");
  return c.json(stored.value.file, 201);
}

export function registerFiles(app: App, deps: HttpDeps): void {
  app.openapi(upload, (c) => {
    const { name = null } = c.req.valid("query");
    return takeUpload(c, deps, { name, key: c.req.valid("header")["Idempotency-Key"] });
  });

  app.openapi(list, async (c) => {
    const { after = null, limit, order } = c.req.valid("query");
    const page = await callWithRetry(
      () => deps.tenants(readPrincipal(c).tenant),
      (api) => api.listFiles({ after, limit, order }),
    );
    return page.ok
      ? c.json(
          toList(page.value, (file) => file.id),
          200,
        )
      : sendProblem(c, page.error);
  });

  app.openapi(get, async (c) => {
    const found = await callWithRetry(
      () => deps.tenants(readPrincipal(c).tenant),
      (api) => api.getFile(c.req.valid("param").file_id),
    );
    return found.ok ? c.json(found.value, 200) : sendProblem(c, found.error);
  });

  app.openapi(download, (c) => answerContent(c, deps, { tenant: readPrincipal(c).tenant, file: c.req.valid("param").file_id }));

  app.openapi(share, async (c) => {
    const file = c.req.valid("param").file_id;
    const { tenant } = readPrincipal(c);
    const found = await callWithRetry(
      () => deps.tenants(tenant),
      (api) => api.getFile(file),
    );
    if (!found.ok) return sendProblem(c, found.error);
    const expires_at = deps.now() + c.req.valid("json").expires_in * 1_000;
    const origin = deps.config.publicUrl ?? new URL(c.req.url).origin;
    const signature = await deps.fileSigner.sign({ tenant, file, expires_at });
    return c.json({ url: `${origin}/v1/files/${file}/content?signature=${signature}`, expires_at }, 200);
  });

  app.openapi(remove, async (c) => {
    const removed = await callWithRetry(
      () => deps.tenants(readPrincipal(c).tenant),
      (api) => api.deleteFile(readAct(c), c.req.valid("param").file_id),
    );
    return removed.ok ? c.json(removed.value, 200) : sendProblem(c, removed.error);
  });
}
