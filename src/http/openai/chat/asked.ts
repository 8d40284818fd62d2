/** The parameters of a chat completion as our generation settings and tools. */
import type { TurnInput } from "../../../app/session-api";
import type { GenerationChoice, GenerationField } from "../../../context/generation";
import type { FieldError } from "../../../contract/problem";
import { err, ok, type Result } from "../../../lib/result";
import { generationInput } from "../../schemas/generation";
import { NO_PARAMETERS, type ToolInput, toolsInput } from "../../schemas/tool";
import { toFieldErrors } from "../../validation";
import type { CompletionInput, CompletionTool } from "./input";

type Format = NonNullable<GenerationChoice["response_format"]>;
function toFormat(format: NonNullable<CompletionInput["response_format"]>): Format {
  if (format.type === "text") return { type: "text" };
  if (format.type === "json_object") return { type: "json" };
  const { name, schema, strict } = format.json_schema;
  return { type: "json_schema", name, schema, ...(typeof strict === "boolean" && { strict }) };
}

const toStops = (stop: NonNullable<CompletionInput["stop"]>): readonly string[] => (typeof stop === "string" ? [stop] : stop);

/** The settings that the request names. The session's, or the provider's, hold for the others. */
function toGeneration(body: CompletionInput): GenerationChoice {
  const { temperature, top_p, stop, seed, tool_choice, parallel_tool_calls, response_format, reasoning_effort: effort } = body;
  const max = body.max_completion_tokens ?? body.max_tokens;
  const stops = toStops(stop ?? []);
  return {
    ...(typeof temperature === "number" && { temperature }),
    ...(typeof top_p === "number" && { top_p }),
    ...(typeof max === "number" && { max_output_tokens: max }),
    ...(stops.length > 0 && { stop: stops }),
    ...(typeof seed === "number" && { seed }),
    ...(tool_choice && { tool_choice }),
    ...(typeof parallel_tool_calls === "boolean" && { parallel_tool_calls }),
    ...(response_format && { response_format: toFormat(response_format) }),
    ...(effort && { reasoning: { effort: effort === "xhigh" || effort === "max" ? "high" : effort } }),
  };
}

/** OpenAI's name of a setting that our refusal names as ours. */
const FIELDS: Readonly<Record<GenerationField, string>> = {
  temperature: "temperature",
  top_p: "top_p",
  max_output_tokens: "max_completion_tokens",
  stop: "stop",
  seed: "seed",
  tool_choice: "tool_choice",
  parallel_tool_calls: "parallel_tool_calls",
  response_format: "response_format",
  reasoning: "reasoning_effort",
};

const isSetting = (name: string): name is GenerationField => Object.hasOwn(FIELDS, name);

/** `generation.max_output_tokens` as `max_completion_tokens`. */
export function toChatField(field: string): string {
  const [head, name = "", ...rest] = field.split(".");
  if (head !== "generation" || !isSetting(name)) return field;
  if (name === "response_format" && rest.length > 0) return [name, "json_schema", ...rest].join(".");
  return [FIELDS[name], ...(name === "stop" ? rest : [])].join(".");
}

/** `note`: none, because a completion echoes no parameters. */
export function readAsked(body: CompletionInput): Result<TurnInput, readonly FieldError[]> {
  const generation = toGeneration(body);
  const checked = generationInput.safeParse(generation);
  if (checked.success) return ok({ model: body.model, generation, note: null });
  return err(toFieldErrors(checked.error.issues).map(({ field, detail }) => ({ field: toChatField(`generation.${field}`), detail })));
}

function toTool({ function: { name, description, parameters } }: CompletionTool): unknown {
  return { name, ...(description && { description }), parameters: parameters ?? NO_PARAMETERS };
}

/** Null: the request names none, and the session's are offered. */
export function readChatTools({ tools }: CompletionInput): Result<readonly ToolInput[] | null, readonly FieldError[]> {
  if (!tools) return ok(null);
  const checked = toolsInput.safeParse(tools.map(toTool));
  if (checked.success) return ok(checked.data);
  const toField = (field: string): string => (field === "body" ? "tools" : `tools.${field.replace(/^(\d+)\./, "$1.function.")}`);
  return err(toFieldErrors(checked.error.issues).map(({ field, detail }) => ({ field: toField(field), detail })));
}
