/** Declares routes. What the OpenAPI document says a route needs is enforced from the same declaration. */
import { createRoute, type RouteConfig, z } from "@hono/zod-openapi";
import type { MiddlewareHandler } from "hono";
import type { AdminRole } from "../domain/admin-roles";
import type { Scope } from "../domain/scopes";
import { requireRole } from "./admin-access";
import { ACCESS_TOKEN, ADMIN_KEY, API_KEY, isStreamPath, requireScope, STREAM_TOKEN, type TokenUse } from "./auth";
import { readBody, readLongBody } from "./body";
import { etagHeader, refuseConditions, takesConditions } from "./conditions";
import type { HttpEnv } from "./deps";
import type { ProblemCode } from "./problem";
import { namesField, refusalsFor } from "./refusals";
import type { Tag } from "./tags";
import { refuseQuery } from "./validation";

type Method = "get" | "post" | "put" | "patch" | "delete";
type RouteRequest = NonNullable<RouteConfig["request"]>;
type Responses = RouteConfig["responses"];

interface RouteInput<M extends Method, P extends string, Q extends RouteRequest> {
  readonly method: M;
  readonly path: P;
  readonly tag: Tag;
  /** The name of the method in a generated client. It is unique, a verb first. */
  readonly operationId: string;
  /** A few words without a full stop. */
  readonly summary: string;
  /** Whole sentences: what the operation does, and what a caller would get wrong. */
  readonly description: string;
  readonly request: Q;
  readonly responses: Responses;
  /** The reasons for a refusal that do not follow from scope, path, headers and body (`refusals`). */
  readonly refuses?: readonly ProblemCode[];
  /** The body may be as long as a conversation: it holds results of tools, which are cut when they are recorded. */
  readonly takesLongBody?: boolean;
}

/** A JSON answer with an example, which a test holds to the schema. */
export function json<S extends z.ZodType>(description: string, schema: S, example: z.input<S>): Responses[string] {
  return { description, content: { "application/json": { schema, example } } };
}

const header = (description: string) => ({ description, schema: { type: "string" as const } });
const REPLAYED = {
  "Idempotent-Replayed": header("`true`: the answer repeats the outcome of an earlier request with this Idempotency-Key"),
};
const PREFERRED = { "Preference-Applied": header("The preference of the header `Prefer` that was applied") };
const LOCATION = { Location: header("The path of the resource") };

/** An answer that says where the resource is. */
export const located = (response: Responses[string]): Responses[string] => addHeaders(response, LOCATION);

function addHeaders(response: Responses[string], more: Readonly<Record<string, ReturnType<typeof header>>>): Responses[string] {
  // A schema of headers could not be added to, and a shared response has its own.
  if ("$ref" in response || response.headers instanceof z.ZodObject) return response;
  return { ...response, headers: { ...response.headers, ...more } };
}

/** The headers of successes that follow from those of the request. */
function addAnswered(responses: Responses, { headers }: RouteRequest): Responses {
  const isKeyed = namesField(headers, "Idempotency-Key");
  const prefers = namesField(headers, "Prefer");
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => {
      const keyed = isKeyed ? addHeaders(response, REPLAYED) : response;
      return [status, prefers && status === "202" ? addHeaders(keyed, PREFERRED) : keyed];
    }),
  );
}

/** A JSON answer with the resource's etag. */
export function taggedJson<S extends z.ZodType>(description: string, schema: S, example: z.input<S>): Responses[string] {
  return { ...json(description, schema, example), headers: etagHeader };
}

/** Server-sent events. OpenAPI 3.1 has no word for them: the schema is that of one event's data, which is JSON. */
export function eventStream<S extends z.ZodType>(schema: S, example: z.input<S>) {
  return { "text/event-stream": { schema, example } };
}

/** An answer that is JSON or server-sent events, as the client asked. */
export function jsonOrEvents<S extends z.ZodType>(
  description: string,
  { schema, example, events }: { readonly schema: S; readonly example: z.input<S>; readonly events: ReturnType<typeof eventStream> },
): Responses[string] {
  return { description, content: { "application/json": { schema, example }, ...events } };
}

/** A request body with an example. `required` only informs readers of the document: an empty body counts as `{}`. */
export function jsonBody<S extends z.ZodType>(schema: S, example: z.input<S>, required = true) {
  return { required, content: { "application/json": { schema, example } } };
}

interface Access {
  readonly security: Record<string, string[]>[];
  readonly needsKey: boolean;
  readonly guards: MiddlewareHandler<HttpEnv>[];
}

function declare<M extends Method, P extends string, Q extends RouteRequest>(
  { tag, responses, request, refuses = [], takesLongBody = false, ...rest }: RouteInput<M, P, Q>,
  { security, needsKey, guards }: Access,
) {
  const answers: Responses = { ...addAnswered(responses, request), ...refusalsFor({ ...rest, request, security, needsKey, refuses }) };
  const unconditional = rest.method === "get" || takesConditions(request) ? [] : [refuseConditions];
  // Another body than JSON is read by its route.
  const reads = request.body?.content["application/json"] ? [takesLongBody ? readLongBody : readBody] : [];
  const middleware = [...guards, ...(request.query ? [] : [refuseQuery]), ...unconditional, ...reads];
  return createRoute({ ...rest, tags: [tag], security, request, middleware, responses: answers });
}

/** A route of a tenant. A null `scope` accepts any valid key. Without `opensTo` it refuses access tokens. */
export function tenantRoute<M extends Method, P extends string, Q extends RouteRequest>(
  input: RouteInput<M, P, Q> & { readonly scope: Scope | null; readonly opensTo?: TokenUse; readonly bounded?: boolean },
) {
  const { scope, opensTo = null, bounded = false, ...rest } = input;
  const scopes = scope ? [scope] : [];
  const schemes = [API_KEY, ...(opensTo === null ? [] : [ACCESS_TOKEN]), ...(isStreamPath(rest) ? [STREAM_TOKEN] : [])];
  const security = schemes.map((scheme) => ({ [scheme]: scopes }));
  return declare<M, P, Q>(rest, { security, needsKey: opensTo !== "session", guards: [requireScope(scope, opensTo, bounded)] });
}

/** A route of the deployment's admin, below `/v1/admin`, where the key is checked. `role`: the smallest one that may use it. */
export function adminRoute<M extends Method, P extends string, Q extends RouteRequest>(
  input: RouteInput<M, P, Q> & { readonly role: AdminRole },
) {
  const { role, ...rest } = input;
  return declare<M, P, Q>(rest, { security: [{ [ADMIN_KEY]: [role] }], needsKey: true, guards: [requireRole(role)] });
}

/** A route that needs no key. */
export function publicRoute<M extends Method, P extends string, Q extends RouteRequest>(input: RouteInput<M, P, Q>) {
  return declare<M, P, Q>(input, { security: [], needsKey: false, guards: [] });
}
