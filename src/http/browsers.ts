/**
 * Requests of web pages. The tenant's `allowed_origins` say which pages may call, and the server refuses all others, so
 * that no answer depends on what a browser enforces. A request without an `Origin` is not sent by a page.
 */
import type { Context, MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import type { HttpEnv } from "./deps";

/** How long browsers may remember a preflight, in seconds. Chromium's own limit. */
const PREFLIGHT_SECONDS = 7_200;

/** What a page may read of an answer, beside its body. */
const EXPOSED = [
  "Allow",
  "ETag",
  "Idempotent-Replayed",
  "Location",
  "Preference-Applied",
  "RateLimit",
  "RateLimit-Policy",
  "Retry-After",
  "WWW-Authenticate",
  "X-Context-Compacted",
  "X-Request-Id",
  "X-Should-Retry",
  "X-Vercel-AI-UI-Message-Stream",
];

/**
 * Answers preflights for any origin, because they carry no key that would name a tenant. Lets every page read refusals: one
 * whose token has expired must see that. No answer allows credentials (cookies), which this API does not use.
 */
export function answerBrowsers(): MiddlewareHandler<HttpEnv> {
  const share = cors({
    origin: (origin) => origin,
    allowMethods: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
    exposeHeaders: EXPOSED,
    maxAge: PREFLIGHT_SECONDS,
  });
  return async (c, next) => {
    if (c.req.path.startsWith("/v1/admin/")) return await next();
    const isPreflight = c.req.header("access-control-request-method") !== undefined;
    if (c.req.header("origin") !== undefined && (c.req.method !== "OPTIONS" || isPreflight)) return await share(c, next);
    await next();
    // A cache must not give this answer to a page, which needs one with headers.
    c.header("Vary", "Origin", { append: true });
    return undefined;
  };
}

/** True for a request that no page sent, for a page of this service itself, and for a page whose origin is allowed. */
export async function isAllowedOrigin(c: Context<HttpEnv>, readAllowed: () => Promise<readonly string[]>): Promise<boolean> {
  const origin = c.req.header("origin");
  if (origin === undefined || origin === new URL(c.req.url).origin) return true;
  const allowed = await readAllowed();
  return allowed.includes(origin) || allowed.includes(ANY_ORIGIN);
}

/** In the tenant's list: pages of every origin, those without one (`null`) among them. */
export const ANY_ORIGIN = "*";
