/** Makes, lists, reads, rotates and revokes the deployment's admin keys. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { AdminKeyOutcome, DeploymentApi, NewSecret } from "../../app/deployment-api";
import type { Idempotency } from "../../app/session-api";
import { adminKeyView } from "../../contract/deployment";
import { id, time } from "../../contract/ids";
import { plainLine } from "../../contract/label";
import { listView } from "../../contract/page";
import { shownOnce } from "../../contract/tenant";
import { ADMIN_ROLES } from "../../domain/admin-roles";
import { readAdmin } from "../admin-access";
import { callWithRetry } from "../calls";
import type { HttpDeps, HttpEnv } from "../deps";
import { ADMIN_KEY_ID, AT, onePage, SECOND } from "../examples/shared";
import { adminKeyExample } from "../examples/tenant";
import { idempotencyHeaders, readIdempotency } from "../idempotency";
import { refuseExpiry } from "../issue-key";
import { sendProblem } from "../problem";
import { readAct } from "../read-act";
import { adminRoute, json, jsonBody } from "../routing";
import { namedPageQuery, takeListPage } from "../schemas/page";

const tag = "admin";
const role = "own";
const keyPath = z.object({ key_id: id("adm") });
const DEFAULT_OVERLAP_SECONDS = 3_600;
const MAX_OVERLAP_SECONDS = 7 * 86_400;

const newKeyView = adminKeyView.extend({ key: shownOnce });
const newKeyExample = { ...adminKeyExample, key: "lhadm_production_…" };

const keyInput = z
  .strictObject({
    name: plainLine(200),
    role: z.enum(ADMIN_ROLES),
    expires_at: time.nullable().optional().openapi({ description: "Default: that of the calling key. Null if the key does not expire" }),
  })
  .openapi("CreateAdminKey");

const rotationInput = z
  .strictObject({
    overlap_seconds: z
      .int()
      .min(0)
      .max(MAX_OVERLAP_SECONDS)
      .default(DEFAULT_OVERLAP_SECONDS)
      .openapi({ description: "How long the old key stays valid. 0 ends it at once" }),
  })
  .openapi("RotateAdminKey");

const list = adminRoute({
  method: "get",
  path: "/v1/admin/keys",
  tag,
  role,
  operationId: "listAdminKeys",
  summary: "List admin keys",
  description: "Lists all admin keys, including those that ended, without their secrets. ADMIN_KEY is not among them.",
  request: { query: namedPageQuery({ first: "desc" }) },
  responses: { 200: json("A page, the newest first", listView(adminKeyView), onePage(adminKeyExample)) },
});

const create = adminRoute({
  method: "post",
  path: "/v1/admin/keys",
  tag,
  role,
  operationId: "createAdminKey",
  summary: "Create an admin key",
  description: "The new key must not outlive the calling key. The secret is shown by this answer only.",
  refuses: ["beyond_own_key", "key_limit"],
  request: { headers: idempotencyHeaders, body: jsonBody(keyInput, { name: "on call", role: "operate" }) },
  responses: { 201: json("The key. It is shown only once", newKeyView, newKeyExample) },
});

const read = adminRoute({
  method: "get",
  path: "/v1/admin/keys/{key_id}",
  tag,
  role,
  operationId: "getAdminKey",
  summary: "Read an admin key",
  description: "Shows the key without its secret.",
  refuses: ["key_not_found"],
  request: { params: keyPath },
  responses: { 200: json("The key", adminKeyView, adminKeyExample) },
});

const revoke = adminRoute({
  method: "delete",
  path: "/v1/admin/keys/{key_id}",
  tag,
  role,
  operationId: "revokeAdminKey",
  summary: "Revoke an admin key",
  description:
    "A key that outlives the calling key, and without ADMIN_KEY the owner that lasts longest, cannot be revoked. Cached checks of the key expire within 30 seconds.",
  refuses: ["key_not_found", "beyond_own_key", "last_owner"],
  request: { params: keyPath },
  responses: { 200: json("The revoked key", adminKeyView, { ...adminKeyExample, revoked_at: AT, revoked_by: ADMIN_KEY_ID }) },
});

const rotate = adminRoute({
  method: "post",
  path: "/v1/admin/keys/{key_id}/rotate",
  tag,
  role,
  operationId: "rotateAdminKey",
  summary: "Replace an admin key",
  description:
    "Creates a key with the same name, role and expiry, and lets the old one end after the overlap. The secret is shown by this answer only. A key is rotated once: its successor is rotated next.",
  refuses: ["key_not_found", "key_ended", "beyond_own_key", "key_limit"],
  request: { params: keyPath, headers: idempotencyHeaders, body: jsonBody(rotationInput, { overlap_seconds: 600 }, false) },
  responses: {
    201: json("The new key. It is shown only once", newKeyView, { ...newKeyExample, created_at: AT + SECOND, rotated_from: ADMIN_KEY_ID }),
  },
});

interface Issue {
  readonly idempotency: Idempotency | null;
  readonly store: (api: DeploymentApi, secret: NewSecret) => Promise<AdminKeyOutcome>;
}

/** Makes a key, of which the deployment's object gets the hash. The key is null where the request repeats one that made it. */
async function issue(deps: HttpDeps, { idempotency, store }: Issue) {
  const key = await deps.adminKeys.generate();
  const secret = { id: deps.newId("adm"), hash: await deps.hashKey(key) };
  const add = (api: DeploymentApi) => store(api, secret);
  // Without an idempotency key, a repetition after a lost answer would make a second key.
  const stored = idempotency ? await callWithRetry(() => deps.deployment(), add) : await add(deps.deployment());
  return stored.ok ? { ...stored, value: { ...stored.value, key: stored.value.id === secret.id ? key : null } } : stored;
}

export function registerAdminKeys(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  const ask = <T>(work: (api: DeploymentApi) => Promise<T>): Promise<T> => callWithRetry(() => deps.deployment(), work);

  app.openapi(list, async (c) => {
    const keys = await ask((api) => api.listAdminKeys());
    return c.json(
      takeListPage(keys, c.req.valid("query"), ({ id }) => id),
      200,
    );
  });

  app.openapi(create, async (c) => {
    const admin = readAdmin(c);
    const { name, role, expires_at = admin.expires_at } = c.req.valid("json");
    const detail = refuseExpiry(expires_at, deps.now());
    if (detail) return sendProblem(c, { code: "invalid_request", errors: [{ field: "expires_at", detail }] });
    const idempotency = await readIdempotency(c, c.req.valid("header")["Idempotency-Key"]);
    const order = { name, role, expires_at, by: admin.key, idempotency };
    const issued = await issue(deps, { idempotency, store: (api, secret) => api.addAdminKey(readAct(c), { ...order, ...secret }) });
    if (!issued.ok) return sendProblem(c, issued.error);
    if (issued.value.key === null) c.header("idempotent-replayed", "true");
    return c.json(issued.value, 201);
  });

  app.openapi(read, async (c) => {
    const found = await ask((api) => api.getAdminKey(c.req.valid("param").key_id));
    return found.ok ? c.json(found.value, 200) : sendProblem(c, found.error);
  });

  app.openapi(revoke, async (c) => {
    const revocation = { id: c.req.valid("param").key_id, by: readAdmin(c).key, hasAdminKey: deps.config.adminKey !== null };
    const revoked = await ask((api) => api.revokeAdminKey(readAct(c), revocation));
    deps.adminKeys.noteChange();
    return revoked.ok ? c.json(revoked.value, 200) : sendProblem(c, revoked.error);
  });

  app.openapi(rotate, async (c) => {
    const idempotency = await readIdempotency(c, c.req.valid("header")["Idempotency-Key"]);
    const overlap = c.req.valid("json").overlap_seconds * 1_000;
    const order = { old: c.req.valid("param").key_id, overlap, by: readAdmin(c).key, idempotency };
    const issued = await issue(deps, { idempotency, store: (api, next) => api.rotateAdminKey(readAct(c), { ...order, next }) });
    deps.adminKeys.noteChange();
    if (!issued.ok) return sendProblem(c, issued.error);
    if (issued.value.key === null) c.header("idempotent-replayed", "true");
    return c.json(issued.value, 201);
  });
}
