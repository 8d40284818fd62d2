/**
 * Finds the tools that a message names, so that any tool can be tried offline. A name must match whole and in its case; each
 * mention is one call. The arguments of a call are the JSON object that follows the name, or else the pairs `key: value` and
 * `key=value` whose key is in the tool's schema, up to the next mention. A value with spaces must be in quotes.
 */
import type { ToolDefinition } from "../../domain/message";

export interface NamedCall {
  readonly name: string;
  readonly arguments: string;
}

/** More calls than a person would name. A pasted log may name a tool a thousand times. */
const MOST_CALLS = 16;
/** Maximum number of closing brackets that are tried as the end of an object. */
const MOST_BRACKETS = 64;

export function namedCalls(said: string, tools: readonly ToolDefinition[]): readonly NamedCall[] {
  const mentions = tools
    .flatMap((tool) => findPlaces(tool.name, said).map((from) => ({ tool, from })))
    .sort((one, other) => one.from - other.from)
    .slice(0, MOST_CALLS);
  return mentions.map(({ tool, from }, index) => {
    const rest = said.slice(from + tool.name.length, mentions[index + 1]?.from);
    return { name: tool.name, arguments: JSON.stringify(objectIn(rest) ?? pairsIn(rest, tool)) };
  });
}

function findPlaces(name: string, said: string): readonly number[] {
  const whole = new RegExp(String.raw`(?<![\p{L}\p{N}_.-])${escaped(name)}(?![\p{L}\p{N}_-])`, "gu");
  return [...said.matchAll(whole)].map(({ index }) => index);
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** The first JSON object in `text`. Text after it is not read. */
function objectIn(text: string): object | null {
  const from = text.indexOf("{");
  let end = text.indexOf("}", from);
  for (let tries = 0; from >= 0 && end >= 0 && tries < MOST_BRACKETS; end = text.indexOf("}", end + 1), tries++) {
    try {
      return JSON.parse(text.slice(from, end + 1)) as object;
    } catch {
      // The object may end at a later bracket.
    }
  }
  return null;
}

function pairsIn(text: string, { parameters }: ToolDefinition): object {
  const properties = typeof parameters.properties === "object" && parameters.properties !== null ? parameters.properties : {};
  const found = Object.entries(properties).flatMap(([key, schema]) => {
    const pair = new RegExp(String.raw`(?<![\p{L}\p{N}_])${escaped(key)}\s*[:=]\s*(?:"([^"]*)"|'([^']*)'|([^\s,;]+))`, "u").exec(text);
    const value = pair?.[1] ?? pair?.[2] ?? pair?.[3]?.replace(/(?<![.!?])[.!?]+$/, "");
    return value === undefined ? [] : [[key, toValue(value, schema)] as const];
  });
  return Object.fromEntries(found);
}

/** Converts the text to a number or a boolean where the schema wants one. Any other text is passed on, and the tool judges it. */
function toValue(text: string, schema: unknown): unknown {
  const type = typeof schema === "object" && schema !== null && "type" in schema ? schema.type : null;
  if ((type === "number" || type === "integer") && text.trim() !== "" && Number.isFinite(Number(text))) return Number(text);
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true";
  return text;
}
