/** Requests that chat completions refuse. */
import { createChat } from "../../support/stand-in/providers/openai/chat.ts";
import { OPENAI_KEY } from "../../support/stand-in/providers/openai/errors.ts";
import { LONG_TEXT, type Refused, SMALL_WINDOW } from "./refused.ts";

const chatCall = {
  role: "assistant",
  content: null,
  tool_calls: [{ id: "call_1", type: "function", function: { name: "lookup", arguments: "{}" } }],
};
const hi = { role: "user", content: "Hi." };
export const chatRefusals: Refused = {
  name: "openai-chat",
  dialect: createChat({ window: SMALL_WINDOW, style: "openai" }),
  path: "/chat/completions",
  headers: { authorization: `Bearer ${OPENAI_KEY}` },
  taken: { model: "gpt-4o", stream: true, messages: [hi] },
  changes: [
    ["a field that it does not know", { cache_control: {} }, "Unknown parameter: 'cache_control'."],
    [
      "thinking of another's",
      { messages: [hi, { role: "assistant", content: "Yes.", reasoning_content: "Hm." }, hi] },
      "Unknown parameter: 'messages[1].reasoning_content'.",
    ],
    ["the older name of the cap, for a model that thinks", { model: "gpt-6-sol", max_tokens: 100 }, "Use 'max_completion_tokens' instead"],
    ["no message", { messages: [] }, "empty_array"],
    ["a call without its result", { messages: [hi, chatCall, hi] }, "did not have response messages: call_1"],
    [
      "a result without its call",
      { messages: [hi, { role: "tool", tool_call_id: "call_1", content: "found" }] },
      "must be a response to a preceeding message with 'tool_calls'",
    ],
    [
      "an id of a call that is too long",
      { messages: [hi, { ...chatCall, tool_calls: [{ ...chatCall.tool_calls[0], id: "c".repeat(41) }] }] },
      "Expected a string with maximum length 40",
    ],
    [
      "a message of the assistant with nothing in it",
      { messages: [hi, { role: "assistant", content: null }] },
      "expected a string, got null",
    ],
    [
      "a file by its address",
      { messages: [{ role: "user", content: [{ type: "file", file: { file_data: "https://a.example/a.pdf" } }] }] },
      "Expected a base64-encoded data URL",
    ],
    ["more than its window", { messages: [{ role: "user", content: LONG_TEXT }] }, "maximum context length is 2000 tokens"],
  ],
};
