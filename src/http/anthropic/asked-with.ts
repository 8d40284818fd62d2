/** The parameters of a request as our tools and generation settings. */
import type { TurnInput } from "../../app/session-api";
import type { Effort, GenerationChoice, GenerationField } from "../../context/generation";
import type { FieldError } from "../../contract/problem";
import { generationInput } from "../schemas/generation";
import type { ToolInput } from "../schemas/tool";
import { toolsInput } from "../schemas/tool";
import { toFieldErrors } from "../validation";
import type { CountBody, GivenTool, MessageBody } from "./request-body";

/** The name of a schema, which Anthropic's API does not have and others ask for. */
const FORMAT_NAME = "output";
/** Budgets from which our next effort begins. */
const MEDIUM_BUDGET = 4_096;
const HIGH_BUDGET = 16_384;

const ofBudget = (tokens: number): Effort => (tokens < MEDIUM_BUDGET ? "low" : tokens < HIGH_BUDGET ? "medium" : "high");

/** Null: the model's own. An effort that the client names goes before a budget. */
function toEffort({ thinking, output_config }: CountBody): Effort | null {
  if (thinking?.type === "disabled") return "none";
  const effort = output_config?.effort ?? null;
  if (effort !== null) return effort === "xhigh" || effort === "max" ? "high" : effort;
  return thinking?.type === "enabled" ? ofBudget(thinking.budget_tokens) : null;
}

type Choice = NonNullable<GenerationChoice["tool_choice"]>;
function toChoice(choice: NonNullable<CountBody["tool_choice"]>): Choice {
  if (choice.type === "tool") return { name: choice.name };
  return choice.type === "any" ? "required" : choice.type;
}

const isHeldToOne = (choice: CountBody["tool_choice"]): boolean => choice?.type !== "none" && choice?.disable_parallel_tool_use === true;

/** The settings that the request names. An absent one is the session's, or the provider's. */
export function toGeneration(body: CountBody & Partial<MessageBody>): GenerationChoice {
  const { max_tokens, temperature, top_p, stop_sequences, tool_choice, output_config, output_format } = body;
  const effort = toEffort(body);
  const format = output_config?.format ?? output_format ?? null;
  return {
    ...(max_tokens !== undefined && { max_output_tokens: max_tokens }),
    ...(typeof temperature === "number" && { temperature }),
    ...(typeof top_p === "number" && { top_p }),
    ...(stop_sequences && stop_sequences.length > 0 && { stop: stop_sequences }),
    ...(tool_choice && { tool_choice: toChoice(tool_choice) }),
    ...(isHeldToOne(tool_choice) && { parallel_tool_calls: false }),
    ...(effort !== null && { reasoning: { effort } }),
    ...(format && { response_format: { type: "json_schema", name: FORMAT_NAME, schema: format.schema, strict: true } }),
  };
}

/** Anthropic's name of a field that our refusal names as ours. `results` and `messages` name what the request adds. */
const FIELDS: Readonly<Record<GenerationField, string>> = {
  temperature: "temperature",
  top_p: "top_p",
  max_output_tokens: "max_tokens",
  stop: "stop_sequences",
  seed: "seed",
  tool_choice: "tool_choice",
  parallel_tool_calls: "tool_choice.disable_parallel_tool_use",
  response_format: "output_config.format",
  reasoning: "thinking",
};

/** What our settings refuse before any model is asked, by Anthropic's names. */
export function findGenerationFaults(body: CountBody): FieldError[] {
  const checked = generationInput.safeParse(toGeneration(body));
  if (checked.success) return [];
  return toFieldErrors(checked.error.issues).map(({ field, detail }) => ({ field: toTheirField(`generation.${field}`), detail }));
}

export function toTheirField(field: string): string {
  const [head, name = "", ...rest] = field.split(".");
  if (head !== "generation") return field;
  const theirs = Object.entries(FIELDS).find(([ours]) => ours === name)?.[1];
  return [theirs ?? name, ...(name === "stop" || name === "response_format" ? rest : [])].join(".");
}

export function toSystem(system: CountBody["system"]): string | null {
  if (system === undefined) return null;
  return typeof system === "string" ? system : system.map(({ text }) => text).join("\n\n");
}

export const toAsked = (body: CountBody & Partial<MessageBody>): TurnInput => ({
  model: body.model,
  generation: toGeneration(body),
  system: toSystem(body.system),
  note: null,
});

/** Tools that Anthropic runs itself. An agent declares them whatever its model is, and works without them. */
const HOSTED = /^(?:web_search|web_fetch|code_execution|tool_search_tool|advisor)_|^mcp_toolset$/;

const isHosted = ({ type }: GivenTool): boolean => HOSTED.test(type ?? "");

/** The names under which the answer reports tools that were left out. */
export const listServerTools = (tools: readonly GivenTool[] | null | undefined): readonly string[] =>
  (tools ?? []).flatMap((tool, index) => (isHosted(tool) ? [`tools.${index}:${tool.type}`] : []));

/**
 * Null: the request names none, and the session's own are offered. Tools of Anthropic's that the client runs are refused: without them an agent
 * would lose its shell or its editor.
 */
export function readTools({ tools, tool_choice: choice }: ToolBody, errors: FieldError[]): readonly ToolInput[] | null {
  if (!tools || tools.length === 0) return null;
  const own = tools.flatMap((tool, index) => (isHosted(tool) ? [] : [{ tool, field: `tools.${index}` }]));
  const faults = own.flatMap(({ tool, field }) => findToolFaults(tool, field));
  const forced = choice?.type === "tool" ? tools.find(({ name }) => name === choice.name) : own.length === 0 ? tools[0] : undefined;
  if (forced && isHosted(forced) && (choice?.type === "tool" || choice?.type === "any"))
    faults.push({ field: "tool_choice", detail: `a call is required, and only Anthropic runs ${forced.type}` });
  errors.push(...faults);
  // Faults of definitions are reported by their place among all.
  if (faults.length > 0 || own.length === 0) return null;
  const checked = toolsInput.safeParse(own.map(({ tool }) => toTool(tool)));
  if (checked.success) return checked.data;
  const toPlace = (field: string): string => toTheirToolField(field).replace(/^\d+/, (index) => own[Number(index)]?.field ?? index);
  errors.push(...toFieldErrors(checked.error.issues).map(({ field, detail }) => ({ field: toPlace(field), detail })));
  return null;
}

type ToolBody = Pick<CountBody, "tools" | "tool_choice">;

function findToolFaults({ type, name, allowed_callers }: GivenTool, field: string): readonly FieldError[] {
  if ((type ?? "custom") !== "custom")
    return [{ field: `${field}.type`, detail: `only Anthropic's models know ${type} (${name}): define a tool with an input_schema` }];
  if (!allowed_callers || allowed_callers.includes("direct")) return [];
  return [{ field: `${field}.allowed_callers`, detail: "must include direct" }];
}

const toTheirToolField = (field: string): string => field.replace(/^(\d+)\.parameters/, "$1.input_schema");

function toTool({ name, description, input_schema, input_examples = [] }: GivenTool): unknown {
  const examples = input_examples.map((example) => `Example: ${JSON.stringify(example)}`);
  const text = [...(description === undefined ? [] : [description]), ...examples].join("\n");
  return { name, ...(text !== "" && { description: text }), parameters: input_schema };
}
