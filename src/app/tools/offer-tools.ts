/** A tenant's tools as a session offers them: whole definitions, so that what the model reads stays as it is until somebody sets it anew. */
import type { ToolDefinition } from "../../domain/message";
import type { HttpToolEntry, McpServerEntry } from "../tool-entry";

/** The names that every provider takes. */
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

/** `chosen`: the server's own names, in that order; null: all of the listing. A name that the server does not have is left out. */
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

/** `server__tool`, in characters that every provider takes. What is cut, or would be there twice, ends in a hash of its own name. */
export function offeredNames(server: string, tools: readonly string[]): readonly string[] {
  const taken = new Set<string>();
  return tools.map((tool) => {
    const clean = `${server}__${tool}`.replace(/[^A-Za-z0-9_-]/g, "_");
    const hashed = `${clean.slice(0, MAX_NAME - HASH_LENGTH - 1)}_${hashOf(tool)}`;
    const name = clean.length > MAX_NAME || taken.has(clean) ? hashed : clean;
    taken.add(name);
    return name;
  });
}

const HASH_LENGTH = 8;

/** FNV-1a over UTF-16 units, in hex: the same name gives the same, and that is all that is asked of it. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(HASH_LENGTH, "0");
}
