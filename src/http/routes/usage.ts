/** Shows what model calls used and cost: call by call for one session, and in groups for the tenant. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { UsageInput } from "../../app/read-api";
import { ledgerRow } from "../../contract/model-call";
import { listView } from "../../contract/page";
import { usageList } from "../../contract/usage";
import { readPrincipal } from "../auth";
import type { HttpDeps, HttpEnv } from "../deps";
import { onePage } from "../examples/shared";
import { modelCallExample, usageExample } from "../examples/tenant";
import { acceptsLines, prefers } from "../negotiate";
import { sendProblem } from "../problem";
import { reachReadModel } from "../read-model";
import { json, tenantRoute } from "../routing";
import { pageQuery, toList } from "../schemas/page";
import { sessionPath } from "../schemas/paths";
import { MAX_USAGE_DAYS, toRange, usageQuery } from "../schemas/usage";
import { sessionClient } from "../session-calls";
import { EXPORT_TYPES, type ExportFormat, exportUsage } from "../usage-export";

const tag = "usage";

const ofTenant = tenantRoute({
  method: "get",
  path: "/v1/usage",
  tag,
  scope: "usage:read",
  operationId: "listUsage",
  summary: "Sum up usage",
  description:
    "Sums the tenant's model calls in a period, by day, session, model, purpose, key or end user. The sums follow the calls with a short delay.",
  refuses: ["invalid_cursor", "read_model_unavailable"],
  request: { query: usageQuery },
  responses: {
    200: {
      description:
        "A page in order of the groups; it follows the calls with a short delay; those of erased sessions count on, from the beginning of their quarter of an hour. As CSV or JSON lines: all groups. If older usage was removed, the header `usage-complete-from` says from when on the rows are complete. A CSV cell of free text that begins like a formula has an apostrophe in front",
      content: {
        "application/json": { schema: usageList, example: usageExample },
        "text/csv": { schema: z.string(), example: "day,model,calls\r\n2026-11-22,gpt-5,2\r\n" },
        "application/x-ndjson": { schema: z.string(), example: '{"day":"2026-11-22","model":"gpt-5","calls":2}\n' },
      },
    },
  },
});

const ofSession = tenantRoute({
  method: "get",
  path: "/v1/sessions/{session_id}/usage",
  tag,
  scope: "usage:read",
  operationId: "listModelCalls",
  summary: "List a session's model calls",
  description: "Lists every call with its tokens and cost: turns, summaries, titles and comparisons.",
  request: { params: sessionPath, query: pageQuery },
  responses: { 200: json("A page, in order of time", listView(ledgerRow), onePage(modelCallExample)) },
});

const chooseFormat = (accept: string | undefined): ExportFormat | "json" => {
  if (prefers("text/csv", accept)) return "csv";
  return acceptsLines(accept) ? "jsonl" : "json";
};

interface Asking {
  readonly c: Context<HttpEnv>;
  readonly deps: HttpDeps;
}

async function sendExport({ c, deps }: Asking, selected: Omit<UsageInput, "limit">, format: ExportFormat): Promise<Response> {
  const reached = await reachReadModel(c, deps, () => exportUsage(deps.usageList, selected, format));
  if (!reached.ok) return sendProblem(c, reached.error);
  if (!reached.value.ok) return sendProblem(c, reached.value.error);
  const disposition = `attachment; filename="usage.${format}"`;
  const { body, completeFrom } = reached.value.value;
  return c.body(body, 200, {
    "content-type": EXPORT_TYPES[format],
    "content-disposition": disposition,
    vary: "accept",
    ...(completeFrom !== null && { "usage-complete-from": String(completeFrom) }),
  });
}

export function registerUsage(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(ofTenant, async (c) => {
    const { group_by: groupBy, limit, after = null, session = null, model = null, purpose = null, ...asked } = c.req.valid("query");
    const { key_id: key = null, end_user: endUser = null } = asked;
    const range = toRange(asked, deps.now());
    const detail = `the time from it to \`to\` must not be negative, and at most ${MAX_USAGE_DAYS} days`;
    if (!range) return sendProblem(c, { code: "invalid_request", errors: [{ field: "from", detail }] });
    const selected = { tenant: readPrincipal(c).tenant, groupBy, ...range, session, model, purpose, key, endUser, after };
    const format = asked.format ?? chooseFormat(c.req.header("accept"));
    if (format !== "json") return sendExport({ c, deps }, selected, format);
    const input = { ...selected, limit };
    const reached = await reachReadModel(c, deps, () => deps.usageList.sumUsage(input));
    if (!reached.ok) return sendProblem(c, reached.error);
    return reached.value.ok ? c.json({ ...reached.value.value, ...range }, 200) : sendProblem(c, reached.value.error);
  });

  app.openapi(ofSession, async (c) => {
    const { after = null, limit, order } = c.req.valid("query");
    const calls = sessionClient(deps, c, c.req.valid("param").session_id);
    const page = await calls.repeatable((api, caller) => api.usage(caller, { after, limit, order }));
    return page.ok
      ? c.json(
          toList(page.value, (row) => row.seq),
          200,
        )
      : sendProblem(c, page.error);
  });
}
