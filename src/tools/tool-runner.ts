/**
 * Runs a tenant's tools. A definition holds a name; the call goes to what is registered under that name at the moment of the
 * call (docs/decisions/0011). A tool that is no longer registered is not called, and no other tool is called in its place.
 */
import type { ToolOutcome, ToolRequest, ToolRunner } from "../app/ports";
import type { HttpTool, McpServer, SecretHeader } from "../contract/registered-tool";
import type { ServerTool } from "../domain/message";
import { assertNever } from "../lib/assert-never";
import { callHttpTool, type HttpToolDeps } from "./http-tool";
import { callMcpTool } from "./mcp-tool";
import { type OpenSecret, openSecretHeader, type ToolSecret } from "./tool-secret";

/**
 * The tenant's registered tools and servers, by name. May throw when the tenant's object is out of reach and nothing is
 * cached.
 */
interface ToolDirectory {
  http(name: string): Promise<HttpTool | null>;
  mcp(name: string): Promise<McpServer | null>;
}

export interface ToolRunnerDeps extends HttpToolDeps {
  readonly directory: ToolDirectory;
  readonly openSecret: OpenSecret;
}

const notConfigured = (output: string): ToolOutcome => ({ output, failure: "not_configured" });
/** The tool began to require approval after that was checked and before the call. */
const notAllowed = (name: string): ToolOutcome => ({
  output: `${name} was not called: it is for a person to allow since a moment ago. Call it again, and a person is asked.`,
  failure: "denied",
});
const OUT_OF_REACH: ToolOutcome = {
  output: "The tool was not called: its registration is out of reach. It may work later.",
  failure: "internal",
};

export function createToolRunner({ directory, openSecret, ...deps }: ToolRunnerDeps): ToolRunner {
  async function runHttp(found: HttpTool | null, { name, arguments: given, execution, allowed }: ToolRequest, signal: AbortSignal) {
    if (!found) return notConfigured(`The tool ${name} is not registered any more.`);
    if (found.needs_approval && !allowed) return notAllowed(name);
    return withSecret(found.secret_header, (secret) => callHttpTool({ tool: found, arguments: given, execution, secret, signal }, deps));
  }
  async function runMcp(
    { server, tool }: { readonly server: McpServer | null; readonly tool: string },
    request: ToolRequest,
    signal: AbortSignal,
  ) {
    const { name, arguments: given, allowed } = request;
    const isListed = server?.allowed_tools?.includes(tool) ?? true;
    if (!server || !isListed) return notConfigured(`The tool ${name} is not registered any more.`);
    if (server.needs_approval && !allowed) return notAllowed(name);
    return withSecret(server.secret_header, (secret) => callMcpTool({ server, tool, arguments: given, secret, signal }, deps));
  }
  async function run(request: ToolRequest, signal: AbortSignal): Promise<ToolOutcome> {
    const { tool, name } = request;
    switch (tool.by) {
      case "http":
        return runHttp(await directory.http(tool.tool), request, signal);
      case "mcp":
        return runMcp({ server: await directory.mcp(tool.server), tool: tool.tool }, request, signal);
      case "builtin":
        // Built-in tools run in the session's object.
        return notConfigured(`The tool ${name} is not run here.`);
      default:
        return assertNever(tool);
    }
  }
  async function withSecret(header: SecretHeader | null, call: (secret: ToolSecret | null) => Promise<ToolOutcome>): Promise<ToolOutcome> {
    const secret = await openSecretHeader(header, openSecret);
    return secret.ok ? call(secret.value) : notConfigured("The tool was not called: its credential is gone or cannot be opened.");
  }
  async function needsApproval(tool: ServerTool): Promise<boolean> {
    switch (tool.by) {
      case "http":
        return (await directory.http(tool.tool))?.needs_approval === true;
      case "mcp":
        return (await directory.mcp(tool.server))?.needs_approval === true;
      case "builtin":
        return false;
      default:
        return assertNever(tool);
    }
  }
  return {
    needsApproval,
    run: (request, { signal }) => run(request, signal).catch(() => OUT_OF_REACH),
  };
}
