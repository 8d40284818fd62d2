/** The MCP servers that a request names. The tenant registered them: their addresses, their secrets, and which calls a person approves. */
import type { FieldError } from "../../../contract/problem";
import type { TenantId } from "../../../domain/ids";
import type { ToolDefinition } from "../../../domain/message";
import { err, ok, type Result } from "../../../lib/result";
import { callWithRetry } from "../../calls";
import type { HttpDeps } from "../../deps";
import type { HttpError } from "../../problem";
import { findTools } from "../../session-tools";
import { toResponseError } from "./refusal";
import type { ResponseRequest } from "./request";
import type { BroughtTools } from "./tools";

type McpTool = Extract<NonNullable<BroughtTools>[number]["tool"], { type: "mcp" }>;

/** The tools of the request as its session offers them. Null: the session's own. */
export async function findResponseTools(
  deps: Pick<HttpDeps, "tenants">,
  tenant: TenantId,
  request: ResponseRequest,
): Promise<Result<readonly ToolDefinition[] | null, HttpError>> {
  const found = await findTools(deps, tenant, request.tools);
  if (!found.ok) return err(toResponseError(found.error, request));
  const brought = request.brought ?? [];
  const tools = brought.flatMap(({ tool }) => (tool.type === "mcp" ? [tool] : []));
  const foreign = await findForeign(deps, tenant, brought);
  if (!foreign.ok) return foreign;
  if (foreign.value.length > 0) return err({ code: "invalid_request", errors: foreign.value });
  return ok(found.value?.map((tool) => askFirst(tool, tools)) ?? null);
}

/** A request may ask for approvals that the registration does not, and lifts none. */
function askFirst(tool: ToolDefinition, tools: readonly McpTool[]): ToolDefinition {
  const { runs } = tool;
  if (runs?.by !== "mcp") return tool;
  const isAsked = tools.some((each) => each.server_label === runs.server && asksFor(each, runs.tool));
  return isAsked ? { ...tool, needs_approval: true } : tool;
}

/** Of a tool that both lists have, or none of two lists, a person is asked: the list of the others says which calls go without. */
function asksFor({ require_approval: asked }: McpTool, tool: string): boolean {
  if (typeof asked === "string" || !asked) return asked === "always";
  const { always, never } = asked;
  if (always?.tool_names?.includes(tool)) return true;
  return never ? !never.tool_names?.includes(tool) : false;
}

/** A label whose server is at another address would run tools of a server that the client does not mean. */
async function findForeign(
  deps: Pick<HttpDeps, "tenants">,
  tenant: TenantId,
  brought: NonNullable<BroughtTools>,
): Promise<Result<readonly FieldError[], HttpError>> {
  const named = brought.flatMap(({ tool, field }) =>
    tool.type === "mcp" && tool.server_url ? [{ field, label: tool.server_label, url: tool.server_url }] : [],
  );
  if (named.length === 0) return ok([]);
  const servers = await callWithRetry(
    () => deps.tenants(tenant),
    (api) => api.listMcpServers(named.map(({ label }) => label)),
  );
  if (!servers.ok) return servers;
  const isRegistered = ({ label, url }: { readonly label: string; readonly url: string }): boolean =>
    servers.value.some((server) => server.name === label && toAddress(server.url) === toAddress(url));
  return ok(
    named.flatMap((each) =>
      isRegistered(each)
        ? []
        : [{ field: `${each.field}.server_url`, detail: "the server that is registered by this label has another address" }],
    ),
  );
}

const toAddress = (url: string): string => (URL.canParse(url) ? new URL(url).href : url);
