/**
 * Finds the tools that a message names, so that any tool can be tried offline. A name must match whole and in its case; each
 * mention is one call. The arguments of a call are the JSON object that follows the name, or else the pairs `key: value` and
 * `key=value` whose key is in the tool's schema, up to the next mention. A value with spaces must be in quotes. Plain words do as well: "use the
 * weather tool for Paris".
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
  const named = mentions.map(({ tool, from }, index) => toCall(tool, said.slice(from + tool.name.length, mentions[index + 1]?.from), said));
  return named.length > 0 ? named : callsInWords(said, tools);
}

function toCall(tool: ToolDefinition, rest: string, said: string): NamedCall {
  const given = objectIn(rest) ?? pairsIn(rest, tool);
  return { name: tool.name, arguments: JSON.stringify({ ...wordsFor(tool, { rest, said, given }), ...given }) };
}

/** Verbs that a tool's name begins with, and a person leaves out. */
const VERBS: ReadonlySet<string> = new Set(["get", "fetch", "find", "look", "up", "lookup", "read", "show", "search", "check", "current"]);
const WANTED =
  /\b(?:use|using|call|run|ask|try|with) (?:(?:the|my|your|a) )?([\p{L}\p{N}_-]+(?: [\p{L}\p{N}_-]+){0,3}?) (?:tool|function)\b/giu;
/** A person asks in few words. A pasted text is none. */
const MOST_WORDS = 1_000;

const toWords = (name: string): readonly string[] =>
  name
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .split(/[\s_-]+/)
    .filter((word) => word !== "" && !VERBS.has(word));

/** "Use the weather tool for Paris" calls `get_weather`: a tool whose words are those, without the verb of its name. */
function callsInWords(said: string, tools: readonly ToolDefinition[]): readonly NamedCall[] {
  const plain = said.slice(0, MOST_WORDS).replaceAll(/\s+/g, " ");
  return [...plain.matchAll(WANTED)].slice(0, MOST_CALLS).flatMap((match) => {
    const asked = toWords(match[1] ?? "").join(" ");
    const tool = asked === "" ? undefined : tools.find(({ name }) => toWords(name).join(" ") === asked);
    return tool ? [toCall(tool, plain.slice(match.index + match[0].length), plain)] : [];
  });
}

interface Around {
  /** What follows the tool's name. */
  readonly rest: string;
  readonly said: string;
  readonly given: object;
}

const ABOUT = /\b(?:for|in|of|at|about|on|to)\s+(?:"([^"]+)"|'([^']+)'|(?!the\s|my\s|your\s|a\s)([^\s,;.!?][^,;.!?\n]{0,80}))/iu;

/** The one text that the tool needs and the message does not give by its name: what the message says it is for. */
function wordsFor({ parameters }: ToolDefinition, { rest, said, given }: Around): object {
  const needed = (Array.isArray(parameters.required) ? parameters.required : []).filter(
    (name) => typeof name === "string" && !(name in given),
  );
  const properties = parameters.properties as Readonly<Record<string, { readonly type?: unknown }>> | undefined;
  const [name] = needed;
  if (needed.length !== 1 || properties?.[name]?.type !== "string") return {};
  const found = ABOUT.exec(rest.slice(0, MOST_WORDS)) ?? ABOUT.exec(said.slice(0, MOST_WORDS));
  const value = (found?.[1] ?? found?.[2] ?? found?.[3])?.trim();
  return value ? { [name]: value } : {};
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
