/** Refusals of a session in the words and fields of a response's request. */
import type { GenerationField } from "../../../context/generation";
import type { HttpError } from "../../problem";
import { ofNamedModel } from "../../session-model";
import type { ReadInput } from "../items/transcript";
import type { ResponseBody } from "./input";

/** OpenAI's name of a setting that our refusal names as ours. */
const SETTINGS: Readonly<Record<GenerationField, string>> = {
  temperature: "temperature",
  top_p: "top_p",
  max_output_tokens: "max_output_tokens",
  stop: "stop",
  seed: "seed",
  tool_choice: "tool_choice",
  parallel_tool_calls: "parallel_tool_calls",
  response_format: "text.format",
  reasoning: "reasoning",
};
const isSetting = (name: string): name is GenerationField => Object.hasOwn(SETTINGS, name);

/** `generation.response_format.schema` as `text.format.schema`. `toolFields`: where the request has each tool that is offered. */
export function toResponseField(given: string, toolFields: readonly string[] = []): string {
  const [head, name = "", ...rest] = given.split(".");
  if (head === "generation" && isSetting(name)) return [SETTINGS[name], ...rest].join(".");
  if (head === "tools" && name !== "") return [toolFields[Number(name)] ?? `tools.${name}`, ...toToolPath(rest)].join(".");
  if (head === "system") return "instructions";
  return given === "messages" ? "input" : given;
}

/** Our words for the members of an MCP server, as OpenAI's. */
function toToolPath([member, ...rest]: readonly string[]): readonly string[] {
  if (member === "server") return ["server_label"];
  return member === "tools" ? ["allowed_tools", ...rest] : member === undefined ? [] : [member, ...rest];
}

const invalid = (field: string, detail: string): HttpError => ({ code: "invalid_request", errors: [{ field, detail }] });

interface Asked {
  readonly body: ResponseBody;
  readonly input: ReadInput;
  readonly toolFields: readonly string[];
}

export function toResponseError(error: HttpError, { body, input, toolFields }: Asked): HttpError {
  switch (error.code) {
    case "invalid":
      return { ...error, field: toInputField(error.field, input) };
    case "invalid_request":
      return { ...error, errors: error.errors.map((each) => ({ ...each, field: toResponseField(each.field, toolFields) })) };
    case "call_not_open": {
      const call = (error.index === null ? null : input.results[error.index]?.result.call_id) ?? error.call;
      return invalid("input", `No tool call found for function call output with call_id ${call}.`);
    }
    case "approval_not_open":
      return invalid(`${input.approvals[error.index]?.field}.approval_request_id`, "The approval request is not waiting for an answer.");
    case "calls_unanswered":
      return invalid("input", `No tool output found for function call ${error.calls[0]?.call_id ?? ""}.`);
    case "unknown_model":
      return ofNamedModel(error, body);
    default:
      return toUnknownPlace(error, body);
  }
}

/** A response or a conversation that is not there. */
export function toUnknownPlace(
  error: HttpError,
  { previous_response_id: previous }: Pick<ResponseBody, "previous_response_id">,
): HttpError {
  const isGone = error.code === "turn_not_found" || error.code === "session_not_found" || error.code === "session_erased";
  if (!isGone || typeof previous !== "string") return error;
  return invalid("previous_response_id", `Previous response with id '${previous.slice(0, MAX_SHOWN)}' not found.`);
}

/** A name that is refused is repeated up to this length. */
const MAX_SHOWN = 128;

/** `messages.1.parts` and `results.0` are items of the input. */
function toInputField(field: string, { messages, results }: ReadInput): string {
  const [list, index = "", ...rest] = field.split(".");
  const given = list === "messages" ? messages : list === "results" ? results : null;
  const place = given?.[Number(index)]?.field;
  return place === undefined ? toResponseField(field) : [place, ...rest].join(".");
}
