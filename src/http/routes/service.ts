/** Routes about the service itself. They need no key. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { HttpEnv } from "../deps";
import { ACCESS_TOKEN, ADMIN_KEY, API_KEY, json, publicRoute, STREAM_TOKEN } from "../routing";

const tag = "service";

const health = publicRoute({
  method: "get",
  path: "/healthz",
  tag,
  summary: "Check that the service is up",
  request: {},
  responses: { 200: json("The service is up", z.object({ status: z.literal("ok") })) },
});

const openapi = publicRoute({
  method: "get",
  path: "/openapi.json",
  tag,
  summary: "Read this OpenAPI document",
  request: {},
  responses: { 200: json("OpenAPI 3.1", z.looseObject({ openapi: z.string() })) },
});

function buildDocument(app: OpenAPIHono<HttpEnv>) {
  const bearer = { type: "http", scheme: "bearer" } as const;
  app.openAPIRegistry.registerComponent("securitySchemes", API_KEY, { ...bearer, description: "A tenant's key, lh_…" });
  app.openAPIRegistry.registerComponent("securitySchemes", ADMIN_KEY, { ...bearer, description: "The deployment's ADMIN_KEY" });
  app.openAPIRegistry.registerComponent("securitySchemes", ACCESS_TOKEN, {
    ...bearer,
    description: "An access token from POST /v1/tokens, for browsers",
  });
  app.openAPIRegistry.registerComponent("securitySchemes", STREAM_TOKEN, {
    type: "apiKey",
    in: "query",
    name: "token",
    description: "An access token in the query, for EventSource, which sends no header. An API key is refused here",
  });
  return app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "Longhand",
      version: "1",
      description: "A chat backend whose conversations never run out of context. Refusals are RFC 9457 documents.",
    },
  });
}

export function registerService(app: OpenAPIHono<HttpEnv>): void {
  let document: ReturnType<typeof buildDocument> | null = null;
  app.openapi(health, (c) => c.json({ status: "ok" as const }, 200));
  app.openapi(openapi, (c) => {
    document ??= buildDocument(app);
    return c.json(document, 200);
  });
}
