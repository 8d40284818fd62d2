/**
 * What a response was asked with, as its resource repeats it. It is kept as the note of the turn, because a turn of ours knows only what
 * changes its result. A turn that began through another surface has no such note, and is shown with what it was asked with.
 */
import { z } from "zod";
import type { TurnSettings } from "../../../contract/turn";
import { utf8Bytes } from "../../../lib/text-bytes";

const text = z.string().nullable().default(null);
const number = z.number().nullable().default(null);

const echoedTool = z.object({
  type: z.literal("function"),
  name: z.string(),
  description: z.string().nullable(),
  parameters: z.record(z.string(), z.unknown()).nullable(),
  strict: z.boolean().nullable(),
});
type EchoedTool = z.infer<typeof echoedTool>;
type AnyTool = z.infer<typeof anyTool>;
const anyTool = z.union([echoedTool, z.looseObject({ type: z.enum(["mcp", "custom", "namespace"]) })]);

/** Defaults are those of the OpenAI API. */
const responseAsked = z.object({
  surface: z.literal("openai.responses"),
  model: z.string(),
  previous_response_id: text,
  /** The name of the conversation. Null: the client named none. */
  conversation: text,
  instructions: text,
  tools: z.array(anyTool).default([]),
  tool_choice: z.unknown().default("auto"),
  parallel_tool_calls: z.boolean().default(true),
  text: z.looseObject({ format: z.unknown() }).default({ format: { type: "text" } }),
  reasoning: z.object({ effort: text, summary: text }).nullable().default(null),
  temperature: z.number().default(1),
  top_p: z.number().default(1),
  truncation: z.enum(["auto", "disabled"]).default("disabled"),
  max_output_tokens: number,
  max_tool_calls: number,
  background: z.boolean().default(false),
  store: z.boolean().default(true),
  service_tier: z.string().default("default"),
  metadata: z.record(z.string(), z.string()).default({}),
  safety_identifier: text,
  prompt_cache_key: text,
  /** How many messages and results the request brought. No client sees it. Null: they were not counted. */
  added: number,
  /** The compaction that the request asked for, and that came before the response. No client sees it here. */
  compaction: text,
});
export type ResponseAsked = z.infer<typeof responseAsked>;

/** What a request says of its response. Absent fields have their defaults. */
export const buildAsked = (given: Omit<z.input<typeof responseAsked>, "surface">): ResponseAsked =>
  responseAsked.parse({ ...given, surface: "openai.responses" });

/** A text that the note of every response with a compaction has. */
export const COMPACTED = '"compaction":"cmp_';

/** The MCP servers that the request named. */
export const listServers = ({ tools }: ResponseAsked): readonly string[] =>
  tools.flatMap((tool) => (tool.type === "mcp" && typeof tool.server_label === "string" ? [tool.server_label] : []));

/** Less than a session keeps of a note, in bytes. The names of a request come to it before it is kept. */
const MOST_NOTE = 60_000;

export const toNote = (asked: ResponseAsked): string => JSON.stringify(shortenAsked(asked));

/**
 * What is kept of a request. Agents send more instructions and definitions of tools than a note may hold: the turn has them, and the note has the
 * forms of the tools alone.
 */
export function shortenAsked(asked: ResponseAsked): ResponseAsked {
  if (utf8Bytes(JSON.stringify(asked)) <= MOST_NOTE) return asked;
  const short = { ...asked, instructions: null, tools: asked.tools.map(toForm) };
  if (utf8Bytes(JSON.stringify(short)) <= MOST_NOTE) return short;
  return { ...short, tools: [], text: { format: { type: "text" } }, tool_choice: "auto" };
}

const toForm = (tool: AnyTool): AnyTool => {
  if (tool.type === "function") return { ...tool, description: null, parameters: null };
  const { type, name, tools, server_label } = tool;
  const named = Array.isArray(tools) ? tools.map(toNamed) : undefined;
  return { type, ...(name !== undefined && { name }), ...(server_label !== undefined && { server_label }), ...(named && { tools: named }) };
};

const namedTool = z.looseObject({ type: z.string(), name: z.string() });
function toNamed(tool: unknown): unknown {
  const read = namedTool.safeParse(tool);
  return read.success ? { type: read.data.type, name: read.data.name } : tool;
}

/** A note of another surface, and one of the client's own, say nothing about a response. */
export function readNote(settings: TurnSettings): ResponseAsked {
  const noted = responseAsked.safeParse(parseJson(settings.note));
  return noted.success ? noted.data : describeSettings(settings);
}

/** Whether the note is of a response that a compaction came before. */
export function isCompacted(note: string): boolean {
  const noted = responseAsked.safeParse(parseJson(note));
  return noted.success && noted.data.compaction !== null;
}

function parseJson(note: string | null): unknown {
  try {
    return JSON.parse(note ?? "null");
  } catch {
    return null;
  }
}

function describeSettings({ model, system, tools, generation }: TurnSettings): ResponseAsked {
  const { temperature, top_p, max_output_tokens, tool_choice, parallel_tool_calls, reasoning, response_format } = generation;
  return buildAsked({
    model,
    instructions: system,
    tools: tools.flatMap(({ runs, name, description = null, parameters }): EchoedTool[] =>
      runs ? [] : [{ type: "function", name, description, parameters: { ...parameters }, strict: false }],
    ),
    tool_choice: typeof tool_choice === "object" ? { type: "function", ...tool_choice } : tool_choice,
    ...(temperature !== undefined && { temperature }),
    ...(top_p !== undefined && { top_p }),
    ...(max_output_tokens !== undefined && { max_output_tokens }),
    ...(parallel_tool_calls !== undefined && { parallel_tool_calls }),
    ...(reasoning && { reasoning: { effort: reasoning.effort, summary: null } }),
    ...(response_format && { text: { format: toTextFormat(response_format) } }),
  });
}

type ResponseFormat = NonNullable<TurnSettings["generation"]["response_format"]>;

const toTextFormat = (format: ResponseFormat): object =>
  format.type === "json" ? { type: "json_object" } : format.type === "text" ? format : showFormat(format);

/** A text format as a resource shows it: with every member. */
export const showFormat = (format: { readonly type: string }): object =>
  format.type === "json_schema" ? { description: null, ...format, strict: "strict" in format && format.strict === true } : format;
