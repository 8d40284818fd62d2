/**
 * The refusals that the OpenAPI document lists for every operation, as components of the document. A refusal with another status is
 * documented as `default`; all of them are RFC 9457 documents.
 */
import type { OpenAPIHono, RouteConfig } from "@hono/zod-openapi";
import { problem } from "../contract/problem";
import { API_KEY } from "./auth";
import { takesConditions } from "./conditions";
import type { HttpEnv } from "./deps";

interface Refusal {
  readonly status: number;
  readonly title: string;
  readonly code: string;
  /** When the service answers with it. */
  readonly description: string;
  /** The `detail` of the example. */
  readonly detail: string;
  readonly field?: string;
}

const REFUSALS = {
  BadRequest: {
    status: 400,
    title: "Invalid request",
    code: "invalid_request",
    description: "The request is malformed. `errors` names each field at fault",
    detail: "must be an integer from 1 to 200",
    field: "limit",
  },
  Unauthorized: {
    status: 401,
    title: "Unauthorized",
    code: "unauthorized",
    description: "There is no key or access token, or it is unknown, expired or revoked",
    detail: "A valid key is required: Authorization: Bearer …",
  },
  Forbidden: {
    status: 403,
    title: "Scope missing",
    code: "forbidden",
    description:
      "The key lacks the scope that this operation needs, the operation takes no access token, or the origin of the page is not allowed",
    detail: "The key or access token does not have the scope sessions:write.",
  },
  NotFound: {
    status: 404,
    title: "Not found",
    code: "session_not_found",
    description: "A parameter of the path names nothing that the caller may know of",
    detail: "no such session",
    field: "session_id",
  },
  PreconditionFailed: {
    status: 412,
    title: "Precondition failed",
    code: "precondition_failed",
    description: "The resource is not as If-Match or If-None-Match asks. Nothing was changed",
    detail: "The resource is not as If-Match or If-None-Match asks; nothing was changed. Read it again.",
  },
  BodyTooLarge: {
    status: 413,
    title: "Body too large",
    code: "body_too_large",
    description: "The body, or the answer that it asks for, is larger than the service accepts",
    detail: "at most 1000000 bytes",
    field: "body",
  },
  UnsupportedMediaType: {
    status: 415,
    title: "Unsupported media type",
    code: "unsupported_media_type",
    description: "The body is not of a documented content type",
    detail: "must be application/json in UTF-8",
    field: "Content-Type",
  },
  Refused: {
    status: 409,
    title: "Conflict",
    code: "turn_running",
    description:
      "Any other refusal. `type` names the reason: 409 if the state of the resource forbids the request, 422 if the request is well-formed and cannot be carried out, 502 and 504 if a provider failed, 503 if the request may be sent again later",
    detail: "A turn of this session is under way.",
  },
} as const satisfies Record<string, Refusal>;

type RefusalName = keyof typeof REFUSALS;

interface Declared {
  readonly request: NonNullable<RouteConfig["request"]>;
  readonly security: readonly Record<string, string[]>[];
}

/** Lists the refusals of a route: what its key, path and body can be refused for. */
export function refusalsFor({ request, security }: Declared): RouteConfig["responses"] {
  const names: RefusalName[] = ["BadRequest"];
  if (security.length > 0) names.push("Unauthorized");
  if (security.some((entry) => API_KEY in entry)) names.push("Forbidden");
  if (request.params) names.push("NotFound");
  if (takesConditions(request)) names.push("PreconditionFailed");
  if (request.body) names.push("BodyTooLarge", "UnsupportedMediaType");
  const listed = names.map((name) => [String(REFUSALS[name].status), toRef(name)] as const);
  return { ...Object.fromEntries(listed), default: toRef("Refused") };
}

const toRef = (name: RefusalName) => ({ $ref: `#/components/responses/${name}` });

function toExample({ status, title, code, detail, field }: Refusal) {
  const errors = field === undefined ? {} : { errors: [{ field, detail }] };
  const shown = field === undefined ? detail : `${field}: ${detail}.`;
  const requestId = "0b0f1f5e-6f0c-4c57-9b3a-8f6c2f1f7a11";
  return { type: `urn:longhand:problem:${code}`, title, status, detail: shown, request_id: requestId, ...errors };
}

export function registerRefusals(app: OpenAPIHono<HttpEnv>): void {
  app.openAPIRegistry.register("Problem", problem);
  const schema = { $ref: "#/components/schemas/Problem" };
  for (const [name, refusal] of Object.entries(REFUSALS)) {
    const content = { "application/problem+json": { schema, example: toExample(refusal) } };
    app.openAPIRegistry.registerComponent("responses", name, { description: refusal.description, content });
  }
}
