/**
 * Turns a tenant's tools into the definitions that a session stores. They are complete copies, so that the text that the model reads
 * changes only when a client sets the tools again.
 */
import type { HttpToolEntry } from "../../contract/registered-tool";
import type { ToolDefinition } from "../../domain/message";
import type { McpServerEntry } from "../tool-entry";

/** Names that every provider accepts. */
export const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const MAX_NAME = 64;

export function offerHttpTool({ name, description, parameters, needs_approval, files }: HttpToolEntry): ToolDefinition {
  return {
    name,
    ...(description !== null && { description }),
    parameters,
    runs: { by: "http", tool: name },
    ...(needs_approval && { needs_approval }),
    ...(files && { files }),
  };
}

/**
 * `chosen`: the server's own tool names, in the order to offer them; null: all of the listing. A name that the server does not have is left
 * out.
 */
export function offerMcpTools(server: McpServerEntry, chosen: readonly string[] | null): readonly ToolDefinition[] {
  const { name, listing, needs_approval } = server;
  const names = offeredNames(
    name,
    listing.tools.map((tool) => tool.name),
  );
  const offered = listing.tools.map(
    (tool, index): ToolDefinition => ({
      name: names[index] ?? name,
      ...(tool.description !== null && { description: tool.description }),
      parameters: tool.parameters,
      runs: { by: "mcp", server: name, tool: tool.name },
      ...(needs_approval && { needs_approval }),
    }),
  );
  if (chosen === null) return offered;
  return chosen.flatMap((wanted) => offered[listing.tools.findIndex((tool) => tool.name === wanted)] ?? []);
}

/**
 * `server__tool`, in characters that every provider accepts. A name that is too long, or taken already, is cut and ends in a hash of the
 * tool's name.
 */
export function offeredNames(server: string, tools: readonly string[]): readonly string[] {
  const taken = new Set<string>();
  return tools.map((tool) => {
    const clean = `${server}__${tool}`.replace(UNCLEAN, "_");
    const hashed = `${clean.slice(0, MAX_NAME - HASH_LENGTH - 1)}_${hashText(tool)}`;
    const name = clean.length > MAX_NAME || taken.has(clean) ? hashed : clean;
    taken.add(name);
    return name;
  });
}

/** Whether a tool of this name may be one of the server's. */
export const isOfferedName = (server: string, name: string): boolean =>
  name.startsWith(`${server}__`.replace(UNCLEAN, "_").slice(0, MAX_NAME - HASH_LENGTH - 1));

const UNCLEAN = /[^A-Za-z0-9_-]/g;
const HASH_LENGTH = 8;

/** FNV-1a over UTF-16 units, in hexadecimal. The hash only has to be stable; it is not for security. */
function hashText(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(HASH_LENGTH, "0");
}
