/**
 * The header `Idempotency-Key`: a request that has it may be sent again and takes effect once. The object that the request
 * concerns keeps the key for 24 hours.
 */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Idempotency } from "../app/session-api";
import { err, ok, type Result } from "../lib/result";
import { sha256 } from "../lib/sha256";
import type { Asker, HttpEnv } from "./deps";
import type { HttpError } from "./problem";
import { toFieldErrors } from "./validation";

const KEPT =
  "A repeated request with the same key and body returns the first outcome. A different body is refused with 422. Keys are kept for 24 hours.";

const buildHeaders = (description: string) =>
  z.object({
    "Idempotency-Key": z
      .string()
      .regex(/^[\x21-\x7e]{1,255}$/, "1 to 255 visible ASCII characters")
      .optional()
      .openapi({ description }),
  });

export const idempotencyHeaders = buildHeaders(KEPT);

/** The key of a request to a route outside of the OpenAPI document, which checks no headers there. */
export function readIdempotencyKey(c: Context<HttpEnv>): Result<string | undefined, HttpError> {
  const key = idempotencyHeaders.safeParse({ "Idempotency-Key": c.req.header("idempotency-key") });
  return key.success ? ok(key.data["Idempotency-Key"]) : err({ code: "invalid_request", errors: toFieldErrors(key.error.issues) });
}

/** The tenant's id is derived from the key (docs/decisions/0007), so a key can make only one tenant. */
export const newTenantHeaders = buildHeaders(`${KEPT} After that the key is spent: 409 tenant_exists.`);

/** The key, with the digest of method, path and body as received. Null without a key. */
export async function readIdempotency(c: Asker, key: string | undefined): Promise<Idempotency | null> {
  if (key === undefined) return null;
  return { key, digest: await sha256(`${c.req.method} ${c.req.path}\n${c.get("rawBody") ?? ""}`) };
}

/** Keeps the admin's keys apart from those of tenants, which cannot contain a space. */
export async function readAdminIdempotency(c: Context<HttpEnv>, key: string | undefined): Promise<Idempotency | null> {
  const read = await readIdempotency(c, key);
  return read && { ...read, key: `admin ${read.key}` };
}
