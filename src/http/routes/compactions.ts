/** Shows a session's compactions: how the model came to see what it sees. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { compactionView } from "../../contract/compaction";
import { id } from "../../contract/ids";
import { listView } from "../../contract/page";
import type { HttpDeps, HttpEnv } from "../deps";
import { onePage } from "../examples/shared";
import { compactionExample } from "../examples/view";
import { sendProblem } from "../problem";
import { json, tenantRoute } from "../routing";
import { pageQuery, toList } from "../schemas/page";
import { sessionPath } from "../schemas/paths";
import { sessionClient } from "../session-calls";

const tag = "context";

const list = tenantRoute({
  method: "get",
  path: "/v1/sessions/{session_id}/compactions",
  tag,
  scope: "sessions:read",
  operationId: "listCompactions",
  summary: "List compactions",
  description: "Each compaction has a receipt that says what it freed and what it cost.",
  request: { params: sessionPath, query: pageQuery },
  responses: { 200: json("A page, in order of time", listView(compactionView), onePage(compactionExample)) },
});

const get = tenantRoute({
  method: "get",
  path: "/v1/sessions/{session_id}/compactions/{compaction_id}",
  tag,
  scope: "sessions:read",
  operationId: "getCompaction",
  summary: "Read a compaction",
  description: "Shows one compaction. For a draft, the receipt says what committing it now would do.",
  refuses: ["compaction_not_found"],
  request: { params: sessionPath.extend({ compaction_id: id("cmp") }) },
  responses: { 200: json("The compaction", compactionView, compactionExample) },
});

export function registerCompactions(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(list, async (c) => {
    const { after = null, limit, order } = c.req.valid("query");
    const calls = sessionClient(deps, c, c.req.valid("param").session_id);
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
    const found = await sessionClient(deps, c, session_id).repeatable((api, caller) => api.compaction(caller, compaction_id));
    return found.ok ? c.json(found.value, 200) : sendProblem(c, found.error);
  });
}
