/**
 * Converts the answers of providers that send the whole reply as one JSON document although a stream was requested. They
 * become the events that would have been streamed, so that one decoder reads both. Null when the answer is not a reply but
 * an error, which some providers report under status 200.
 */
import { asObject, asText, isError } from "./wire-chunk";

type Json = Readonly<Record<string, unknown>>;
export type ToEvents = (answer: unknown) => readonly Json[] | null;

const toObjects = (value: unknown): readonly Json[] =>
  Array.isArray(value) ? value.flatMap((each: unknown): Json[] => asObjects(each)) : [];
const asObjects = (value: unknown): Json[] => {
  const object = asObject(value);
  return object ? [object] : [];
};

/** Chat completions have a `message` where a chunk has a `delta`. */
export const chatEvents: ToEvents = (answer) => {
  const reply = asObject(answer);
  if (!reply || isError(reply)) return null;
  const choices = toObjects(reply.choices).map((choice) => ({ ...choice, delta: choice.delta ?? choice.message }));
  return choices.length > 0 ? [{ ...reply, choices }] : null;
};

/** Gemini answers with an array of its events, or with one event that holds everything. */
export const googleEvents: ToEvents = (answer) => {
  const events = Array.isArray(answer) ? toObjects(answer) : asObjects(answer);
  const isReply = events.some(({ candidates, promptFeedback }) => Array.isArray(candidates) || asObject(promptFeedback) !== null);
  return isReply && !events.some(isError) ? events : null;
};

/** Reads a whole message of Anthropic. */
export const anthropicEvents: ToEvents = (answer) => {
  const message = asObject(answer);
  if (message?.type !== "message" || !Array.isArray(message.content)) return null;
  const { stop_reason, stop_sequence, usage } = message;
  return [
    { type: "message_start", message: { ...message, content: [], stop_reason: null, stop_sequence: null } },
    ...toObjects(message.content).flatMap((block, index) => blockEvents(block, index)),
    { type: "message_delta", delta: { stop_reason, stop_sequence: stop_sequence ?? null }, usage: asObject(usage) ?? {} },
    { type: "message_stop" },
  ];
};

function blockEvents(block: Json, index: number): readonly Json[] {
  const { start, deltas } = openBlock(block);
  return [
    { type: "content_block_start", index, content_block: start },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
}

function openBlock(block: Json): { readonly start: Json; readonly deltas: readonly Json[] } {
  switch (block.type) {
    case "text":
      return { start: { ...block, text: "" }, deltas: [{ type: "text_delta", text: asText(block.text) ?? "" }] };
    case "thinking": {
      const thinking = { type: "thinking_delta", thinking: asText(block.thinking) ?? "" };
      const signature = { type: "signature_delta", signature: asText(block.signature) ?? "" };
      return { start: { ...block, thinking: "", signature: "" }, deltas: [thinking, signature] };
    }
    case "tool_use": {
      const input = { type: "input_json_delta", partial_json: JSON.stringify(block.input ?? {}) };
      return { start: { ...block, input: {} }, deltas: [input] };
    }
    default:
      return { start: block, deltas: [] };
  }
}

/** Reads a whole response of OpenAI's Responses API. */
export const responsesEvents: ToEvents = (answer) => {
  const response = asObject(answer);
  if (response?.object !== "response" || !Array.isArray(response.output)) return null;
  const status = asText(response.status) ?? "completed";
  const items = toObjects(response.output).flatMap((item, output_index) => itemEvents(item, output_index));
  const opened = { ...response, status: "in_progress", output: [], usage: null, incomplete_details: null };
  const events: readonly Json[] = [{ type: "response.created", response: opened }, ...items, { type: `response.${status}`, response }];
  return events.map((event, sequence_number) => ({ ...event, sequence_number }));
};

function itemEvents(item: Json, output_index: number): readonly Json[] {
  const at = { item_id: item.id, output_index };
  const added = (changes: Json): Json => ({ type: "response.output_item.added", output_index, item: { ...item, ...changes } });
  const done = { type: "response.output_item.done", output_index, item };
  if (item.type === "message") {
    const said = toObjects(item.content).map((part, content_index) => saidEvent(part, { ...at, content_index }));
    return [added({ content: [], status: "in_progress" }), ...said, done];
  }
  if (item.type === "reasoning") {
    const summary = toObjects(item.summary).flatMap(({ text }, summary_index): Json[] => [
      { type: "response.reasoning_summary_part.added", ...at, summary_index, part: { type: "summary_text", text: "" } },
      { type: "response.reasoning_summary_text.delta", ...at, summary_index, delta: text },
      { type: "response.reasoning_summary_part.done", ...at, summary_index, part: { type: "summary_text", text } },
    ]);
    return [added({ summary: [] }), ...summary, done];
  }
  return item.type === "function_call" ? [added({ arguments: "", status: "in_progress" }), done] : [added({}), done];
}

const saidEvent = (part: Json, at: Json): Json =>
  part.type === "refusal"
    ? { type: "response.refusal.delta", ...at, delta: part.refusal }
    : { type: "response.output_text.delta", ...at, delta: part.text, logprobs: [] };
