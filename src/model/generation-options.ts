/** The generation settings as the AI SDK takes them. What only one provider says in its own way is in its adapter. */
import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from "@ai-sdk/provider";
import type { ModelRequest } from "../app/ports";
import type { Generation } from "../context/generation";

type Options = Pick<
  LanguageModelV4CallOptions,
  "temperature" | "topP" | "stopSequences" | "seed" | "toolChoice" | "responseFormat" | "reasoning"
>;

/** `tools`: those of the request. Providers refuse a choice among none. */
export function toGenerationOptions({ generation = {} }: ModelRequest, tools: readonly LanguageModelV4FunctionTool[]): Options {
  const { temperature, top_p: topP, stop, seed, tool_choice: choice, response_format: format, reasoning } = generation;
  return {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(stop && { stopSequences: [...stop] }),
    ...(seed !== undefined && { seed }),
    ...(choice && tools.length > 0 && { toolChoice: toToolChoice(choice) }),
    ...(format && format.type !== "text" && { responseFormat: toResponseFormat(format) }),
    ...(reasoning && { reasoning: reasoning.effort }),
  };
}

const toToolChoice = (choice: NonNullable<Generation["tool_choice"]>): NonNullable<Options["toolChoice"]> =>
  typeof choice === "string" ? { type: choice } : { type: "tool", toolName: choice.name };

type Format = Exclude<NonNullable<Generation["response_format"]>, { type: "text" }>;

const toResponseFormat = (format: Format): NonNullable<Options["responseFormat"]> =>
  format.type === "json" ? { type: "json" } : { type: "json", name: format.name, schema: format.schema };

/** Whether one reply may hold several calls. Null: the request does not say, or offers no tool to call. */
export const findParallel = ({ generation }: ModelRequest, tools: readonly unknown[]): boolean | null =>
  tools.length === 0 ? null : (generation?.parallel_tool_calls ?? null);

/** Whether the provider must enforce the schema of the reply. Null: the reply has no schema. */
export const findStrictness = ({ generation }: ModelRequest): boolean | null => {
  const format = generation?.response_format;
  return format?.type === "json_schema" ? (format.strict ?? false) : null;
};
