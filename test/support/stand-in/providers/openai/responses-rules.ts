/** The rules that a schema cannot express, with the Responses API's wording of a refusal. */
import { makeSeal } from "../mint.ts";
import type { Refusal } from "../script.ts";
import { refuseTooLong, refuseWith } from "./errors.ts";
import type { InputItem, ResponsesBody } from "./responses-shape.ts";

/** Longest `call_id`. */
const MOST_CALL_ID = 64;

/** The reasoning that directly preceded each issued item, by the item's id. */
export type Given = ReadonlyMap<string, string>;

export function refuseItems(items: readonly InputItem[], given: Given): Refusal | null {
  if (items.length === 0)
    return refuseWith({
      message: "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation_id' must be provided.",
      param: "input",
      code: "missing_required_parameter",
    });
  for (const [place, item] of items.entries()) {
    const refusal = refuseItem(item, { place, before: items.slice(0, place), after: items.slice(place + 1), given });
    if (refusal) return refusal;
  }
  return refusePairs(items);
}

interface Around {
  readonly place: number;
  readonly before: readonly InputItem[];
  readonly after: readonly InputItem[];
  readonly given: Given;
}

const readType = (item: InputItem): string => item.type ?? "message";

function refuseItem(item: InputItem, around: Around): Refusal | null {
  const path = `input[${around.place}]`;
  switch (item.type) {
    case "item_reference":
      return refuseWith({
        message: `Item with id '${item.id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
        param: "input",
      });
    case "reasoning":
      return refuseReasoning(item, around);
    case "function_call_output":
      return refuseTooLong({ path: `${path}.call_id`, value: item.call_id, most: MOST_CALL_ID });
    case "function_call":
      return (
        refuseTooLong({ path: `${path}.call_id`, value: item.call_id, most: MOST_CALL_ID }) ??
        refuseId(item.id, { prefix: "fc", path }) ??
        refuseAlone(item, around)
      );
    default:
      if (item.role !== "assistant") return refuseMedia(item.content, path);
      return refuseId(item.id, { prefix: "msg", path }) ?? refuseAlone(item, around);
  }
}

function refuseId(id: string | undefined, { prefix, path }: { readonly prefix: string; readonly path: string }): Refusal | null {
  if (id === undefined || id.startsWith(prefix)) return null;
  return refuseWith({
    message: `Invalid '${path}.id': '${id}'. Expected an ID that begins with '${prefix}'.`,
    param: `${path}.id`,
    code: "invalid_value",
  });
}

function refuseReasoning(item: Extract<InputItem, { type: "reasoning" }>, { after, place }: Around): Refusal | null {
  const bare = refuseId(item.id, { prefix: "rs", path: `input[${place}]` });
  if (bare) return bare;
  if (!item.encrypted_content) {
    return refuseWith({
      message: `Item with id '${item.id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
      param: "input",
    });
  }
  if (
    item.encrypted_content !==
    encryptedReasoning(
      item.id,
      item.summary.map(({ text }) => text),
    )
  ) {
    return refuseWith({
      message: `The encrypted content for item ${item.id} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`,
      code: "invalid_encrypted_content",
    });
  }
  const next = after.find(({ type }) => type !== "reasoning");
  const follows = next && (next.type === "function_call" || (readType(next) === "message" && "role" in next && next.role === "assistant"));
  return follows
    ? null
    : refuseWith({ message: `Item '${item.id}' of type 'reasoning' was provided without its required following item.`, param: "input" });
}

/** An item with its issued id needs the reasoning that preceded it. */
function refuseAlone(item: InputItem, { before, given }: Around): Refusal | null {
  const id = "id" in item ? item.id : undefined;
  const needed = typeof id === "string" ? given.get(id) : undefined;
  if (needed === undefined || before.some((other) => other.type === "reasoning" && other.id === needed)) return null;
  return refuseWith({
    message: `Item '${id}' of type '${readType(item)}' was provided without its required 'reasoning' item: '${needed}'.`,
    param: "input",
  });
}

function refuseMedia(content: Extract<InputItem, { role: "user" | "system" | "developer" }>["content"], path: string): Refusal | null {
  if (typeof content === "string") return null;
  for (const [index, part] of content.entries()) {
    const at = `${path}.content[${index}]`;
    if (part.type === "input_image" && !part.image_url && !part.file_id)
      return refuseWith({
        message: `Missing required parameter: '${at}.image_url'.`,
        param: `${at}.image_url`,
        code: "missing_required_parameter",
      });
    if (part.type === "input_image" && part.image_url && !/^(?:https?:|data:image\/)/.test(part.image_url)) {
      return refuseWith({
        message: `Invalid '${at}.image_url'. Expected a valid URL, but got a value with an invalid format.`,
        param: `${at}.image_url`,
        code: "invalid_value",
      });
    }
    if (part.type === "input_file" && [part.file_url, part.file_data, part.file_id].filter(Boolean).length !== 1) {
      return refuseWith({
        message: "Mutually exclusive parameters. Ensure you are only providing one of: 'file_id', 'file_data' or 'file_url'.",
        param: at,
        code: "mutually_exclusive_parameters",
      });
    }
  }
  return null;
}

/** Each call has its output, and each output has an earlier call. */
function refusePairs(items: readonly InputItem[]): Refusal | null {
  const outputs = items.flatMap((item) => (item.type === "function_call_output" ? [item.call_id] : []));
  for (const [place, item] of items.entries()) {
    if (item.type === "function_call" && !outputs.includes(item.call_id))
      return refuseWith({ message: `No tool output found for function call ${item.call_id}.`, param: "input" });
    if (item.type !== "function_call_output") continue;
    const called = items.slice(0, place).some((other) => other.type === "function_call" && other.call_id === item.call_id);
    if (!called)
      return refuseWith({ message: `No tool call found for function call output with call_id ${item.call_id}.`, param: "input" });
  }
  return null;
}

/** The content of a reasoning item's encryption: its id and its summary. */
export const encryptedReasoning = (id: string, summary: readonly string[]): string => `gAAAAAB${makeSeal("reasoning", [id, summary])}`;

/** Models that think, and those of them whose thinking can be turned off. */
const THINKS = /^(?:o\d|gpt-(?:[5-9]|\d\d))/;
const RESTS = /^gpt-(?:5\.[1-9]|6-(?:sol|luna)$)/;

/** A parameter that the model does not support, and a choice among no tools. */
export function refuseGeneration({ model, temperature, top_p, reasoning, tools = [], ...body }: ResponsesBody): Refusal | null {
  const isIdle = !THINKS.test(model) || (RESTS.test(model) && reasoning?.effort === "none");
  const sampling = temperature !== undefined ? "temperature" : top_p !== undefined ? "top_p" : null;
  if (!isIdle && sampling) return refuseUnsupported(sampling);
  if (reasoning?.effort && !THINKS.test(model)) return refuseUnsupported("reasoning.effort");
  if (tools.length > 0 || (body.tool_choice === undefined && body.parallel_tool_calls === undefined)) return null;
  return refuseWith({ message: "Tool choice 'tool_choice' is only allowed when 'tools' are specified.", param: "tool_choice" });
}

const refuseUnsupported = (param: string): Refusal =>
  refuseWith({ message: `Unsupported parameter: '${param}' is not supported with this model.`, param, code: "unsupported_parameter" });
