/**
 * The refusals that the OpenAPI document lists for each operation, by status and with every `type` that may be answered. Most follow from
 * what the operation takes; a route names the others. Tests hold every answer to this list, and the list to the answers.
 */
import { type OpenAPIHono, type RouteConfig, z } from "@hono/zod-openapi";
import { problem } from "../contract/problem";
import { ADMIN_ROLES } from "../domain/admin-roles";
import type { Scope } from "../domain/scopes";
import { ADMIN_KEY, API_KEY } from "./auth";
import { takesConditions } from "./conditions";
import type { HttpEnv } from "./deps";
import { describeRefusal, type ProblemCode } from "./problem";
import { PROBLEM_CODES, PROBLEMS } from "./problem-samples";

type Responses = RouteConfig["responses"];

const REQUEST_ID = "0b0f1f5e-6f0c-4c57-9b3a-8f6c2f1f7a11";

/** Of a request that may name a model for itself. */
export const MODEL_REFUSALS = ["unknown_model", "model_gone", "models_unavailable"] as const satisfies readonly ProblemCode[];
/** The refusals of a request that asks a model. */
export const BUDGET_REFUSALS = ["budget_exhausted", "budgets_unavailable"] as const satisfies readonly ProblemCode[];
/** The refusals of a request that creates a session. */
export const CREATION_REFUSALS = [
  "beyond_own_key",
  "session_erased",
  "session_limit",
  "unknown_model",
  "default_model_gone",
  "models_unavailable",
] as const satisfies readonly ProblemCode[];
/** Of a request that brings content, which may become files. */
export const FILE_REFUSALS = [
  "file_type_not_allowed",
  "file_limit",
  "files_disabled",
  "file_store_unavailable",
] as const satisfies readonly ProblemCode[];

/** The scopes of operations that change a session. */
const WRITES: ReadonlySet<string> = new Set<Scope>(["sessions:write", "sessions:erase"]);

interface Declared {
  readonly method: string;
  readonly path: string;
  readonly request: NonNullable<RouteConfig["request"]>;
  readonly security: readonly Record<string, string[]>[];
  /** The route refuses some access tokens, or all. */
  readonly needsKey: boolean;
  /** The reasons that do not follow from the rest. */
  readonly refuses: readonly ProblemCode[];
}

/** Every reason for which the operation can be refused. */
function listReasons({ method, path, request, security, needsKey, refuses }: Declared): readonly ProblemCode[] {
  const roles = security.flatMap((entry) => entry[ADMIN_KEY] ?? []);
  const scopes = roles.length > 0 ? [] : security.flatMap((entry) => Object.values(entry).flat());
  const isOfTenant = security.some((entry) => API_KEY in entry);
  const { params, body, headers } = request;
  const isOfSession = namesField(params, "session_id");
  // A session that was erased is erased again, and its object has made room.
  const isErasure = method === "delete" && path.endsWith("/{session_id}");
  const follow: readonly (readonly [boolean, ...ProblemCode[]])[] = [
    [true, "invalid_request", "url_too_long", "headers_too_large", "internal", "misconfigured"],
    [security.length > 0, "unauthorized", "rate_limited", "unavailable", "overloaded"],
    [isOfTenant, "origin_not_allowed", "tenant_suspended"],
    [isOfTenant && needsKey, "key_required"],
    [scopes.length > 0, "forbidden"],
    // Every admin key may do what the smallest role may.
    [roles.some((role) => role !== ADMIN_ROLES[0]), "role_missing"],
    [hasForm(params), "not_found"],
    [isOfTenant && isOfSession, "session_not_found"],
    [isOfTenant && isOfSession && !isErasure, "session_erased"],
    [isOfSession && scopes.some((scope) => WRITES.has(scope)), "storage_full"],
    [body?.content["application/json"] !== undefined, "body_too_large", "unsupported_media_type"],
    [takesConditions(request), "precondition_failed"],
    [namesField(headers, "Idempotency-Key"), "idempotency_conflict"],
  ];
  return [...new Set([...follow.flatMap(([isSo, ...reasons]) => (isSo ? reasons : [])), ...refuses])];
}

const readShape = (schema: unknown): object => (schema instanceof z.ZodObject ? schema.shape : {});
/** True when the object schema has the field. */
export const namesField = (schema: unknown, name: string): boolean => name in readShape(schema);

/** True when some text cannot be a parameter of the path. */
function hasForm(params: Declared["request"]["params"]): boolean {
  const odd = Object.fromEntries(Object.keys(readShape(params)).map((name) => [name, "\u0000"]));
  return params !== undefined && !params.safeParse(odd).success;
}

/** The status of a reason, and the statuses of one that has several. */
const listStatuses = (code: ProblemCode): readonly number[] => {
  const [, ...errors] = PROBLEMS[code];
  return errors.map((error) => describeRefusal(error, REQUEST_ID).status);
};

/** Lists the refusals of a route by status: as a component that operations share, where one reason alone has the status. */
export function refusalsFor(declared: Declared): Responses {
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of listReasons(declared)) {
    for (const status of listStatuses(code)) byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const listed = [...byStatus].sort(([one], [other]) => one - other);
  return Object.fromEntries(listed.map(([status, codes]) => [String(status), toResponse(status, codes)]));
}

/** The sets of reasons that many operations have, under the names of their components. */
const SHARED: Readonly<Record<string, readonly ProblemCode[]>> = {
  BadRequest: ["invalid_request"],
  Unauthorized: ["unauthorized"],
  Forbidden: ["origin_not_allowed", "tenant_suspended", "forbidden"],
  RoleMissing: ["role_missing"],
  KeyRequired: ["origin_not_allowed", "tenant_suspended", "key_required", "forbidden"],
  SessionNotFound: ["not_found", "session_not_found", "session_erased"],
  PreconditionFailed: ["precondition_failed"],
  BodyTooLarge: ["body_too_large"],
  UrlTooLong: ["url_too_long"],
  HeadersTooLarge: ["headers_too_large"],
  UnsupportedMediaType: ["unsupported_media_type"],
  IdempotencyConflict: ["idempotency_conflict"],
  RateLimited: ["rate_limited"],
  Failed: ["internal", "misconfigured"],
  Unavailable: ["unavailable", "overloaded"],
  StorageFull: ["storage_full"],
};

function toResponse(status: number, codes: readonly ProblemCode[]): Responses[string] {
  const shared = Object.entries(SHARED).find(([, set]) => set.length === codes.length && set.every((code) => codes.includes(code)));
  return shared ? { $ref: `#/components/responses/${shared[0]}` } : buildResponse(status, codes);
}

function buildResponse(status: number, codes: readonly ProblemCode[]) {
  const description = codes.map((code) => `\`${code}\`: ${PROBLEMS[code][0]}`).join(". ");
  const type = { type: "string" as const, enum: codes.map((code) => `urn:longhand:problem:${code}`) };
  const narrowed = { type: "object" as const, required: ["type"], properties: { type } };
  const schema = { allOf: [{ $ref: "#/components/schemas/Problem" }, narrowed] };
  const examples = Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${toExampleName(code, status)}` }]));
  return { description, ...readHeaders(codes, status), content: { "application/problem+json": { schema, examples } } };
}

const toExampleName = (code: ProblemCode, status: number): string => (listStatuses(code).length > 1 ? `${code}_${status}` : code);

const HEADERS: Readonly<Record<string, string>> = {
  Allow: "The methods of the resource",
  ETag: "The etag of the resource as it is, if it exists",
  "Retry-After": "Seconds to wait before the request is sent again",
  "WWW-Authenticate": "The scheme of the credential, and the scope that is missing (RFC 6750)",
};

/** The headers that a refusal with this status may have. */
function readHeaders(codes: readonly ProblemCode[], status: number) {
  const sent = codes.flatMap((code) => sample(code, status).flatMap(({ headers }) => Object.keys(headers)));
  const named = Object.entries(HEADERS).filter(([name]) => sent.includes(name));
  if (named.length === 0) return {};
  return { headers: Object.fromEntries(named.map(([name, description]) => [name, { description, schema: { type: "string" } as const }])) };
}

const sample = (code: ProblemCode, status: number) => {
  const [, ...errors] = PROBLEMS[code];
  return errors.map((error) => describeRefusal(error, REQUEST_ID)).filter((refusal) => refusal.status === status);
};

export function registerRefusals({ openAPIRegistry: registry }: OpenAPIHono<HttpEnv>): void {
  registry.register("Problem", problem);
  for (const [name, codes] of Object.entries(SHARED)) {
    const [first] = codes.flatMap(listStatuses);
    if (first !== undefined) registry.registerComponent("responses", name, buildResponse(first, codes));
  }
  for (const code of PROBLEM_CODES) {
    for (const status of listStatuses(code)) {
      const [refusal] = sample(code, status);
      registry.registerComponent("examples", toExampleName(code, status), { summary: PROBLEMS[code][0], value: refusal?.document });
    }
  }
}
