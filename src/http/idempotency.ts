/** `Idempotency-Key`: with it a request may be sent again and happens once. Kept for 24 hours by the object it concerns. */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Idempotency } from "../app/session-api";
import type { HttpEnv } from "./deps";

export const idempotencyHeaders = z.object({
  "Idempotency-Key": z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, "1 to 255 visible ASCII characters")
    .optional()
    .openapi({ description: "The same key and body again: the first outcome. Another body: 422. Kept for 24 hours." }),
});

async function sha256Hex(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The key with the digest of method, path and body as they came; null without a key. */
export async function readIdempotency(c: Context<HttpEnv>, key: string | undefined): Promise<Idempotency | null> {
  if (key === undefined) return null;
  return { key, digest: await sha256Hex(`${c.req.method} ${c.req.path}\n${c.get("rawBody") ?? ""}`) };
}
