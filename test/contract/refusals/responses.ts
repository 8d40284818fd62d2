/** Requests that the Responses API refuses. */
import { OPENAI_KEY } from "../../support/stand-in/providers/openai/errors.ts";
import { createResponses } from "../../support/stand-in/providers/openai/responses.ts";
import { LONG_TEXT, type Refused, SMALL_WINDOW } from "./refused.ts";

const input = (...items: readonly object[]) => ({ input: [{ role: "user", content: "Hi." }, ...items] });
const functionCall = { type: "function_call", call_id: "call_1", name: "lookup", arguments: "{}" };
const functionOutput = { type: "function_call_output", call_id: "call_1", output: "found" };

export const responsesRefusals: Refused = {
  name: "openai",
  dialect: createResponses({ window: SMALL_WINDOW }),
  path: "/responses",
  headers: { authorization: `Bearer ${OPENAI_KEY}` },
  taken: { model: "gpt-6-sol", stream: true, store: false, input: [{ role: "user", content: "Hi." }] },
  changes: [
    ["a field that it does not know", { max_tokens: 100 }, "Unknown parameter: 'max_tokens'."],
    [
      "a field of a message that it does not know",
      { input: [{ role: "user", content: "Hi.", name: "me" }] },
      "Unknown parameter: 'input[0].name'.",
    ],
    ["a message without content", { input: [{ role: "user" }] }, "Missing required parameter: 'input[0].content'."],
    ["nothing", { input: [] }, "must be provided"],
    ["to keep the conversation", { store: true }, "Zero data retention"],
    ["a call without its output", input(functionCall), "No tool output found for function call call_1."],
    ["an output without its call", input(functionOutput), "No tool call found for function call output with call_id call_1."],
    ["an id of a call that is too long", input({ ...functionCall, call_id: "c".repeat(65) }), "Expected a string with maximum length 64"],
    ["an item that was not kept", input({ type: "item_reference", id: "rs_1" }), "Items are not persisted when `store` is set to false"],
    [
      "reasoning that is not sealed",
      input({ type: "reasoning", id: "rs_1", summary: [] }),
      "Items are not persisted when `store` is set to false",
    ],
    [
      "reasoning that it did not seal",
      input({ type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAAAA" }),
      "could not be verified",
    ],
    ["an id of another kind of item", input({ ...functionCall, id: "call_1" }, functionOutput), "Expected an ID that begins with 'fc'"],
    ["more than its window", { input: [{ role: "user", content: LONG_TEXT }] }, "context_length_exceeded"],
  ],
};
