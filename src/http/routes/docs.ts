/** The reference page: a viewer of the OpenAPI document, served by this deployment without any other site. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { knownHeaders } from "../conditions";
import type { HttpDeps, HttpEnv } from "../deps";
import { sendProblem } from "../problem";
import { publicRoute } from "../routing";

const tag = "service";
const PAGE = "index.html";
const FILES = ["start.js", "swagger-ui-bundle.js", "swagger-ui-bundle.js.LICENSE.txt", "swagger-ui.css"] as const;

/**
 * The page runs the scripts of its own files only, and sends requests to this deployment only: a reader types an API key into it. Images
 * of the viewer's style sheet are data URLs.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const text = (description: string) => ({ schema: z.string().openapi({ description }) });
const headers = { ETag: { description: "Names this version of the file", schema: { type: "string" as const } } };
const unchanged = { description: "The file is the one that `If-None-Match` names", headers };

const page = publicRoute({
  method: "get",
  path: "/docs",
  tag,
  operationId: "getReferencePage",
  summary: "Read the reference page",
  description: "Shows this document to people, and lets them send requests with their own key.",
  refuses: ["not_found"],
  request: { headers: knownHeaders },
  responses: { 200: { description: "The page", headers, content: { "text/html": text("The page") } }, 304: unchanged },
});

const file = publicRoute({
  method: "get",
  path: "/docs/{file}",
  tag,
  operationId: "getReferenceFile",
  summary: "Read a file of the reference page",
  description: "The scripts and the style sheet of the reference page.",
  request: { params: z.object({ file: z.enum(FILES).openapi({ description: "The name of the file" }) }), headers: knownHeaders },
  responses: {
    200: {
      description: "The file",
      headers,
      content: { "text/javascript": text("A script"), "text/css": text("A style sheet"), "text/plain": text("Licences") },
    },
    304: unchanged,
  },
});

async function send(c: Context<HttpEnv>, deps: HttpDeps, name: string): Promise<Response> {
  const found = await deps.readDocsFile(name, conditionsFrom(c));
  if (!found) return sendProblem(c, { code: "not_found" });
  const answer = new Response(found.body, found);
  answer.headers.set("content-security-policy", CONTENT_SECURITY_POLICY);
  // A reader types a key into the page: no other page that opens it keeps a hold on it.
  answer.headers.set("cross-origin-opener-policy", "same-origin");
  if (found.status === 304) answer.headers.delete("content-type");
  return answer;
}

function conditionsFrom(c: Context<HttpEnv>): Headers {
  const known = c.req.header("if-none-match");
  return new Headers(known === undefined ? {} : { "if-none-match": known });
}

export function registerDocs(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(page, (c) => send(c, deps, PAGE));
  app.openapi(file, (c) => send(c, deps, c.req.valid("param").file));
}
