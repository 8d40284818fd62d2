/** Tells an unknown path from a known one with the wrong method. */
import type { Context } from "hono";
import type { HttpEnv } from "./deps";
import { sendProblem } from "./problem";

interface Route {
  readonly method: string;
  /** `/v1/sessions/:session_id` */
  readonly path: string;
}

function toPattern(path: string): RegExp {
  const segments = path.split("/").map((segment) => (segment.startsWith(":") ? "[^/]+" : segment.replaceAll(".", "\\.")));
  return new RegExp(`^${segments.join("/")}$`);
}

/** A model's id may contain slashes, which a path would take for its own. */
const MODEL_PATH = /^\/v1\/models\/[^/]+\/./;
const SLASH_HINT = "In a model id, encode / as %2F.";

/** The app's `notFound`: answers 405 with `Allow` for a known path, else 404. */
export function answerUnknown(routes: readonly Route[]): (c: Context<HttpEnv>) => Response {
  const known = routes.filter(({ method }) => method !== "ALL").map(({ method, path }) => ({ method, pattern: toPattern(path) }));
  return (c) => {
    const methods = known.filter(({ pattern }) => pattern.test(c.req.path)).map(({ method }) => method);
    if (methods.length === 0) return sendProblem(c, { code: "not_found", ...(MODEL_PATH.test(c.req.path) && { hint: SLASH_HINT }) });
    return sendProblem(c, { code: "method_not_allowed", allow: [...new Set(methods)].sort() });
  };
}
