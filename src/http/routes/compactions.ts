/** What the model sees, and how it came to see that. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { HttpDeps, HttpEnv } from "../deps";
import { sendProblem } from "../problem";
import { json, tenantRoute } from "../routing";
import { compactionView, contextView } from "../schemas/compaction";
import { id, sessionPath } from "../schemas/ids";
import { listOf, pageQuery, toList } from "../schemas/page";
import { sessionCalls } from "../session-calls";
import { ofSessionModel } from "../session-model";

const tag = "context";

const list = tenantRoute({
  method: "get",
  path: "/v1/sessions/{session_id}/compactions",
  tag,
  scope: "sessions:read",
  summary: "List compactions with their receipts",
  request: { params: sessionPath, query: pageQuery },
  responses: { 200: json("A page in order of time", listOf(compactionView)) },
});

const get = tenantRoute({
  method: "get",
  path: "/v1/sessions/{session_id}/compactions/{compaction_id}",
  tag,
  scope: "sessions:read",
  summary: "Read a compaction",
  request: { params: sessionPath.extend({ compaction_id: id("cmp") }) },
  responses: { 200: json("The compaction", compactionView) },
});

const context = tenantRoute({
  method: "get",
  path: "/v1/sessions/{session_id}/context",
  tag,
  scope: "sessions:read",
  summary: "See exactly what the next request to the model sends",
  request: {
    params: sessionPath,
    query: z.strictObject({
      content: z
        .string()
        .refine((text) => text.trim() !== "", "must not be empty")
        .optional()
        .openapi({ description: "As if this user message were sent next" }),
    }),
  },
  responses: { 200: json("The request and what its parts weigh; refused with 413 where it is too large for one answer", contextView) },
});

export function registerCompactions(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(list, async (c) => {
    const { after = null, limit, order } = c.req.valid("query");
    const calls = sessionCalls(deps, c, c.req.valid("param").session_id);
    const page = await calls.repeatable((api, caller) => api.compactions(caller, { after, limit, order }));
    return page.ok
      ? c.json(
          toList(page.value, (row) => row.seq),
          200,
        )
      : sendProblem(c, page.error);
  });

  app.openapi(get, async (c) => {
    const { session_id, compaction_id } = c.req.valid("param");
    const found = await sessionCalls(deps, c, session_id).repeatable((api, caller) => api.compaction(caller, compaction_id));
    return found.ok ? c.json(found.value, 200) : sendProblem(c, found.error);
  });

  app.openapi(context, async (c) => {
    const { content } = c.req.valid("query");
    const parts = content === undefined ? null : [{ type: "text" as const, text: content }];
    const calls = sessionCalls(deps, c, c.req.valid("param").session_id);
    const report = await calls.repeatable((api, caller) => api.context(caller, { content: parts }));
    return report.ok ? c.json(report.value, 200) : sendProblem(c, ofSessionModel(report.error));
  });
}
