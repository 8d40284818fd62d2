/** Routes about the service itself. They need no key. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { isKnownTo, knownHeaders } from "../conditions";
import type { HttpEnv } from "../deps";
import { serveDocument } from "../document";
import { acceptsGzip } from "../negotiate";
import { json, publicRoute } from "../routing";

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

const etagHeader = { ETag: { description: "Names this version of the document", schema: { type: "string" as const } } };

const openapi = publicRoute({
  method: "get",
  path: "/openapi.json",
  tag,
  operationId: "getOpenapiDocument",
  summary: "Read this OpenAPI document",
  description: "The document describes the deployment that serves it: what it lists is what is enforced.",
  request: { headers: knownHeaders },
  responses: {
    200: { ...json("OpenAPI 3.1", z.looseObject({ openapi: z.string() }), { openapi: "3.1.0" }), headers: etagHeader },
    304: { description: "The document is the one that `If-None-Match` names", headers: etagHeader },
  },
});

/** The platform replaces the client's own Accept-Encoding by its own, and reports the client's beside the request. */
function readAcceptEncoding(c: Context<HttpEnv>): string | undefined {
  const given = c.req.raw.cf?.clientAcceptEncoding;
  return typeof given === "string" ? given : c.req.header("accept-encoding");
}

export function registerService(app: OpenAPIHono<HttpEnv>): void {
  const readDocument = serveDocument(app);
  app.openapi(health, (c) => c.json({ status: "ok" as const }, 200));
  app.openapi(openapi, async (c) => {
    const { json: text, gzip, etag } = await readDocument();
    const headers = { etag, "cache-control": "public, max-age=0, must-revalidate", vary: "accept-encoding" };
    if (isKnownTo(c.req.header("if-none-match"), etag)) return new Response(null, { status: 304, headers });
    const typed = { ...headers, "content-type": "application/json" };
    if (!acceptsGzip(readAcceptEncoding(c))) return new Response(text, { status: 200, headers: typed });
    return new Response(gzip, { status: 200, headers: { ...typed, "content-encoding": "gzip" }, encodeBody: "manual" });
  });
}
