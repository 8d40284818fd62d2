/** What is stored of the tools that an MCP server lists: those that can be offered to a model. */
import { MAX_OFFERED_TOOLS, type McpListing, type McpTool } from "../tool-entry";
import { boundsFault } from "./schema-bounds";

const MAX_NAME = 128;
const MAX_DESCRIPTION = 16_384;
/**
 * Maximum length of a listing as JSON text, in UTF-16 units. A listing is one row in the tenant's object, and goes into
 * sessions.
 */
const MAX_LISTING = 500_000;

/** A tool as the server listed it. */
export interface RawTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export function toListing(found: readonly RawTool[], isMore: boolean): McpListing {
  const usable = found.filter(isUsable);
  const tools: McpTool[] = [];
  let size = 0;
  for (const tool of usable.slice(0, MAX_OFFERED_TOOLS).map(toTool)) {
    size += JSON.stringify(tool).length;
    if (size > MAX_LISTING) break;
    tools.push(tool);
  }
  const skipped = found.filter((tool) => !isUsable(tool)).map(({ name }) => name.slice(0, MAX_NAME).toWellFormed());
  return { tools, skipped: skipped.slice(0, MAX_OFFERED_TOOLS), truncated: isMore || tools.length < usable.length };
}

/** Matches the JSON escape of a lone surrogate, which no request may contain. */
const LONE_SURROGATE = /\\ud[89a-f]/i;

/**
 * A schema by which arguments cannot be judged here is accepted, because the server judges them itself. A tool with a schema
 * out of bounds is offered to no model.
 */
function isUsable({ name, inputSchema }: RawTool): boolean {
  const isFit = name.length > 0 && name.length <= MAX_NAME && boundsFault(inputSchema) === null;
  return isFit && name.isWellFormed() && !LONE_SURROGATE.test(JSON.stringify(inputSchema));
}

function toTool({ name, description = "", inputSchema }: RawTool): McpTool {
  const said = description.slice(0, MAX_DESCRIPTION).toWellFormed();
  return { name, description: said.trim() === "" ? null : said, parameters: inputSchema };
}
