/** Opens a conversation's session as a request does: by the directory, under an external id, with the channel's settings as its own. */
import type { SessionRefusal, WantedSession } from "../../app/channels/chat-ports";
import { toOpenInput } from "../../app/open-input";
import { adoptSession, type OpeningPorts } from "../../app/open-session";
import type { SessionError } from "../../app/session-api";
import type { TenantApi, TenantError } from "../../app/tenant-api";
import { offerHttpTool, offerMcpTools } from "../../app/tools/offer-tools";
import type { PolicyChoice } from "../../context/policy-choice";
import type { SessionDescription } from "../../contract/session";
import type { ToolDefinition } from "../../domain/message";
import { err, ok, type Result } from "../../lib/result";

interface OpenDeps {
  readonly tenant: Pick<TenantApi, "settings" | "listTools" | "listMcpServers">;
  readonly deploymentPolicy: PolicyChoice;
  readonly ports: OpeningPorts;
}

/** An external id that is spent on a session that was erased, or is being erased. */
const GONE: readonly string[] = ["session_erased", "session_not_found"];
/** Refusals that pass by themselves. */
const PASSING: readonly string[] = ["models_unavailable", "budgets_unavailable"];

function toRefusal({ code }: SessionError | TenantError): SessionRefusal {
  if (GONE.includes(code)) return { kind: "gone", code };
  return { kind: PASSING.includes(code) ? "again" : "refused", code };
}

export async function openChatSession(
  { tenant, deploymentPolicy, ports }: OpenDeps,
  { channel: { settings: asked }, chat: _, ...labels }: WantedSession,
): Promise<Result<SessionDescription, SessionRefusal>> {
  const settings = await tenant.settings();
  if (!settings.ok) return err(toRefusal(settings.error));
  const tools = asked.tools && (await findNamedTools(tenant, asked.tools));
  if (tools && !tools.ok) return err(toRefusal(tools.error));
  const chosen = { model: asked.model ?? undefined, policy: asked.policy ?? undefined, system: asked.system };
  const input = toOpenInput({ ...chosen, ...labels }, { ...settings.value, deploymentPolicy, tools: tools ? tools.value : null });
  const opened = await adoptSession(input, ports);
  if (opened.ok) return ok(opened.value.session);
  if (opened.error.code !== "external_id_taken") return err(toRefusal(opened.error));
  // An earlier life has opened it, or the tenant gave the conversation a session of its own.
  const described = await ports.describe(opened.error.session);
  return described.ok ? described : err(toRefusal(described.error));
}

/** Names of HTTP tools, and of MCP servers with all their tools. A name that is gone is left out: the bot goes on without it. */
async function findNamedTools(
  tenant: OpenDeps["tenant"],
  names: readonly string[],
): Promise<Result<readonly ToolDefinition[], TenantError>> {
  const [tools, servers] = await Promise.all([tenant.listTools(names), tenant.listMcpServers(names)]);
  if (!tools.ok) return tools;
  if (!servers.ok) return servers;
  const offered = [...tools.value.map(offerHttpTool), ...servers.value.flatMap((server) => offerMcpTools(server, null))];
  return ok([...new Map(offered.map((tool) => [tool.name, tool])).values()]);
}
