/** Gives every request an id and one line in the log. The line has the route's pattern, never the path, query or body. */

import type { Context, MiddlewareHandler } from "hono";
import { HTTPException } from "hono/http-exception";
import { routePath } from "hono/route";
import { parseId } from "../domain/ids";
import { serveRequest } from "../lib/request-scope";
import { isReasonHidden, isStorageFull } from "../lib/sync-sql";
import { readMarks } from "./calls";
import type { HttpDeps, HttpEnv } from "./deps";
import { type RequestError, sendProblem } from "./problem";
import { addMissing, listSecurityHeaders } from "./security-headers";

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;
const FRAMES = 8;

/** Keeps a client's own id, so that the client can find its request in our log. */
export function observe({ log, now, config }: HttpDeps): MiddlewareHandler<HttpEnv> {
  const security = listSecurityHeaders(config);
  return async (c, next) => {
    const given = c.req.header("x-request-id") ?? "";
    const id = REQUEST_ID.test(given) ? given : crypto.randomUUID();
    c.set("requestId", id);
    const start = now();
    await serveRequest(id, next);
    // This makes an answer with headers that can be changed. Each further call would make another one.
    c.header("x-request-id", id);
    addMissing(c.res.headers, security);
    addMissing(c.res.headers, c.get("rateHeaders") ?? {});
    const { key, access_token } = c.get("principal") ?? {};
    const admin = c.get("admin");
    log.info("http.request", {
      request_id: id,
      method: c.req.method,
      route: routePath(c, -1),
      status: c.res.status,
      ms: now() - start,
      ...(key && { key }),
      ...(admin?.key && { admin_key: admin.key }),
      ...(access_token && { access_token: access_token.id }),
      ...readNames(c, c.res.headers.get("location")),
    });
  };
}

const SESSION_PATH = /\/sessions\/(ses_[0-9A-Z]{26})(?:\/|$)/;

/**
 * The ids of the request's tenant and session. The session's id is also taken from the `location` of the answer that created
 * it.
 */
function readNames(c: Context<HttpEnv>, location: string | null = null): Readonly<Record<string, string>> {
  const { tenant } = c.get("principal") ?? {};
  const [, id] = SESSION_PATH.exec(c.req.path) ?? SESSION_PATH.exec(location ?? "") ?? [];
  const session = id === undefined ? null : parseId("ses", id);
  return { ...(tenant && { tenant_id: tenant }), ...(session && { session }) };
}

/** The stack frames without the error's message, which may quote content. */
function readStackFrames(error: Error): string[] {
  const lines = (error.stack ?? "").split("\n").map((line) => line.trim());
  return lines.filter((line) => line.startsWith("at ")).slice(0, FRAMES);
}

interface StorageFull {
  readonly code: "storage_full";
}

const NOT_JSON: RequestError = { code: "invalid_request", errors: [{ field: "body", detail: "not JSON" }] };

/** Whether the request's own body is what could not be parsed. An empty one counts as `{}`. */
function isBodyAtFault(error: Error, body = ""): boolean {
  if (!(error instanceof SyntaxError) || body === "") return false;
  try {
    JSON.parse(body);
    return false;
  } catch {
    return true;
  }
}

/** `isOfSession`: the request changes a session, whose own answer says that there is no room. */
function toRequestError(
  error: Error,
  { body, isOfSession, isLocal }: { readonly body: string | undefined; readonly isOfSession: boolean; readonly isLocal: boolean },
): RequestError | StorageFull {
  if (error instanceof HTTPException) {
    if (error.status === 415) return { code: "unsupported_media_type" };
    if (error.status === 400) return NOT_JSON;
  }
  if (isBodyAtFault(error, body)) return NOT_JSON;
  const full = { code: isOfSession ? "storage_full" : "unavailable" } as const;
  if (isStorageFull(error)) return full;
  const { overloaded, retryable } = readMarks(error);
  if (overloaded) return { code: "overloaded" };
  if (retryable || error.name === "TimeoutError") return { code: "unavailable" };
  return isLocal && isReasonHidden(error) ? full : { code: "internal" };
}

/** The app's `onError`: a thrown error is a defect, an object out of reach, or hono's own refusal of a body. */
export function answerThrown(deps: HttpDeps): (error: Error, c: Context<HttpEnv>) => Response {
  return (error, c) => sendProblem(c, noteThrown(deps, c, error));
}

/** Logs what was thrown, and returns what its caller may know of it. */
export function noteThrown({ log, config: { isLocal } }: HttpDeps, c: Context<HttpEnv>, error: Error): RequestError | StorageFull {
  const isOfSession = c.req.method !== "GET" && c.req.param("session_id") !== undefined;
  const answer = toRequestError(error, { body: c.get("rawBody"), isOfSession, isLocal });
  const fields = {
    request_id: c.get("requestId"),
    route: routePath(c, -1),
    name: error.name,
    frames: readStackFrames(error),
    ...readNames(c),
  };
  if (answer.code === "storage_full" || isStorageFull(error)) log.error("http.disk_full", fields);
  else if (answer.code === "internal") log.error("http.defect", fields);
  else if (answer.code === "overloaded" || answer.code === "unavailable") log.warn("http.unavailable", { ...fields, code: answer.code });
  return answer;
}
