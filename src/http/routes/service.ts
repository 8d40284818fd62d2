/** Routes about the service itself. They need no key. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { HttpEnv } from "../deps";
import { registerRefusals } from "../refusals";
import { ADMIN_KEY, API_KEY, json, publicRoute } from "../routing";
import { tagList } from "../tags";

const tag = "service";

const health = publicRoute({
  method: "get",
  path: "/healthz",
  tag,
  operationId: "getHealth",
  summary: "Check that the service is up",
  description: "Answers as long as the Worker runs. It looks at no database and no provider.",
  request: {},
  responses: { 200: json("The service is up", z.object({ status: z.literal("ok") }), { status: "ok" }) },
});

const openapi = publicRoute({
  method: "get",
  path: "/openapi.json",
  tag,
  operationId: "getOpenapiDocument",
  summary: "Read this OpenAPI document",
  description: "The document describes the deployment that serves it: what it lists is what is enforced.",
  request: {},
  responses: { 200: json("OpenAPI 3.1", z.looseObject({ openapi: z.string() }), { openapi: "3.1.0" }) },
});

const DESCRIPTION = `A chat backend whose conversations never run out of context: every message is kept in full, the model reads a compacted view, \
and looks up what the view leaves out.

Send an API key as \`Authorization: Bearer lh_…\`. The key names the tenant; no request does. Refusals are RFC 9457 documents \
(\`application/problem+json\`) whose \`type\` is stable. Lists are \`{data, has_more, next_cursor}\`. Times are epoch milliseconds.`;

function buildDocument(app: OpenAPIHono<HttpEnv>) {
  const bearer = { type: "http", scheme: "bearer" } as const;
  const description = "A tenant's API key, lh_…. An operation names the scope that the key needs";
  app.openAPIRegistry.registerComponent("securitySchemes", API_KEY, { ...bearer, description });
  app.openAPIRegistry.registerComponent("securitySchemes", ADMIN_KEY, { ...bearer, description: "The deployment's ADMIN_KEY" });
  registerRefusals(app);
  return app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "Longhand",
      version: "1",
      description: DESCRIPTION,
      license: { name: "MIT", url: "https://opensource.org/license/mit" },
    },
    // Relative to the document's own address, so that it is right for every deployment.
    servers: [{ url: "/", description: "The deployment that serves this document" }],
    tags: tagList,
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
