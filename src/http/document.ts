/** The OpenAPI document as it is served: built once for each isolate, with its digest, and compressed once. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { sha256 } from "../lib/sha256";
import { ACCESS_TOKEN, ADMIN_KEY, API_KEY, STREAM_TOKEN } from "./auth";
import type { HttpEnv } from "./deps";
import { registerRefusals } from "./refusals";
import { tagList } from "./tags";

const DESCRIPTION = `A chat backend whose conversations never run out of context: every message is kept in full, the model reads a compacted view, \
and looks up what the view leaves out.

Send an API key as \`Authorization: Bearer lh_…\`. The key names the tenant; no request does. A web page sends an access token of \`POST /v1/tokens\` in its place. Refusals are RFC 9457 documents \
(\`application/problem+json\`) whose \`type\` is stable. Lists are \`{data, has_more, next_cursor}\`. Times are epoch milliseconds.`;

const DIGEST_CHARS = 32;

interface ServedDocument {
  readonly json: string;
  readonly gzip: ArrayBuffer;
  /** Weak, because it names the text and not its encoding. */
  readonly etag: string;
}

/**
 * Returns a function that builds the document at its first call. Requests share the finished value and never a promise: one that began in
 * a request that was cancelled would never resolve.
 */
export function serveDocument(app: OpenAPIHono<HttpEnv>): () => Promise<ServedDocument> {
  let json: string | null = null;
  let served: ServedDocument | null = null;
  return async () => {
    json ??= JSON.stringify(describeApp(app));
    served ??= await encode(json);
    return served;
  };
}

async function encode(json: string): Promise<ServedDocument> {
  const compressed = new Blob([json]).stream().pipeThrough(new CompressionStream("gzip"));
  return { json, gzip: await new Response(compressed).arrayBuffer(), etag: `W/"${(await sha256(json)).slice(0, DIGEST_CHARS)}"` };
}

function describeApp(app: OpenAPIHono<HttpEnv>) {
  const bearer = { type: "http", scheme: "bearer" } as const;
  const description = "A tenant's API key, lh_…. An operation names the scope that the key needs";
  const adminDescription =
    "The deployment's ADMIN_KEY, or an admin key, lhadm_…. An operation names the role that the key needs: read, operate or own, each with the rights of those before";
  app.openAPIRegistry.registerComponent("securitySchemes", API_KEY, { ...bearer, description });
  app.openAPIRegistry.registerComponent("securitySchemes", ADMIN_KEY, { ...bearer, description: adminDescription });
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
