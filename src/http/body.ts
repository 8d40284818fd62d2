/**
 * Reads a JSON body once. The limit applies to the bytes that arrive, because a header may claim less. An empty body counts
 * as `{}`.
 */
import type { Context, MiddlewareHandler } from "hono";
import { BODY_SECONDS, readInTime } from "../lib/bounded-body";
import { err, ok, type Result } from "../lib/result";
import type { HttpEnv } from "./deps";
import { findJsonFault } from "./json-check";
import { type RequestError, sendProblem } from "./problem";

export const BODY_LIMIT = 1_048_576;
/** For clients that send their copy of the conversation with each message. */
export const LONG_BODY_LIMIT = 8 * BODY_LIMIT;

const JSON_TYPE = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?(;\s*)?$/i;

const invalidBody = (detail: string): RequestError => ({ code: "invalid_request", errors: [{ field: "body", detail }] });

export const TOO_SLOW = invalidBody(`did not arrive within ${BODY_SECONDS} seconds`);

function decode(bytes: Uint8Array): Result<string, RequestError> {
  try {
    return ok(new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes));
  } catch {
    return err(invalidBody("not UTF-8"));
  }
}

function checkJson(text: string): Result<string, RequestError> {
  try {
    const fault = findJsonFault(text);
    return fault ? err({ code: "invalid_request", errors: [fault] }) : ok(text);
  } catch (error) {
    if (error instanceof SyntaxError) return err(invalidBody("not JSON"));
    throw error;
  }
}

async function readText(request: Request, limit: number): Promise<Result<string, RequestError>> {
  if (Number(request.headers.get("content-length")) > limit) return err({ code: "body_too_large", limit });
  const bytes = await readInTime(request.body, limit);
  if (!bytes.ok) return err(bytes.error === "too_slow" ? TOO_SLOW : { code: "body_too_large", limit });
  if (bytes.value.byteLength === 0) return ok("");
  if (!JSON_TYPE.test(request.headers.get("content-type") ?? "")) return err({ code: "unsupported_media_type" });
  const text = decode(bytes.value);
  return text.ok ? checkJson(text.value) : text;
}

const METHODS_WITH_BODY: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH"]);

/**
 * The request with that body for the validators, because the original's body has been read. An empty body becomes `{}` with its type: the
 * validators pass over an optional body without one, and its defaults would be missing.
 */
function rewind({ url, method, headers, signal }: Request, text: string): Request {
  if (text !== "") return new Request(url, { method, headers, signal, body: new TextEncoder().encode(text) });
  if (!METHODS_WITH_BODY.has(method)) return new Request(url, { method, headers, signal });
  const typed = new Headers(headers);
  typed.set("content-type", "application/json");
  return new Request(url, { method, headers: typed, signal, body: "{}" });
}

const readWithin =
  (limit: number): MiddlewareHandler<HttpEnv> =>
  async (c: Context<HttpEnv>, next) => {
    const text = await readText(c.req.raw, limit);
    if (!text.ok) return sendProblem(c, text.error);
    c.set("rawBody", text.value);
    c.req.raw = rewind(c.req.raw, text.value);
    return await next();
  };

/** Runs before the validators. */
export const readBody = readWithin(BODY_LIMIT);
export const readLongBody = readWithin(LONG_BODY_LIMIT);
