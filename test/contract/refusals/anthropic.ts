/** Requests that the Messages API refuses. */
import { ANTHROPIC_KEY, createAnthropic } from "../../support/stand-in/providers/anthropic/anthropic.ts";
import { LONG_TEXT, type Refused, SMALL_WINDOW } from "./refused.ts";

const marks = (count: number) =>
  Array.from({ length: count }, (_, place) => ({ type: "text", text: `${place}`, cache_control: { type: "ephemeral" } }));
const toolUse = { type: "tool_use", id: "toolu_1", name: "lookup", input: {} };
const toolResult = { type: "tool_result", tool_use_id: "toolu_1", content: "found" };

export const anthropicRefusals: Refused = {
  name: "anthropic",
  dialect: createAnthropic({ window: SMALL_WINDOW, maxOutput: 1_000 }),
  path: "/messages",
  headers: { "x-api-key": ANTHROPIC_KEY, "anthropic-version": "2023-06-01" },
  taken: { model: "claude-sonnet-5-5", max_tokens: 100, stream: true, messages: [{ role: "user", content: "Hi." }] },
  changes: [
    ["no max_tokens", { max_tokens: undefined }, "max_tokens: Field required"],
    [
      "more output than the model writes",
      { max_tokens: 2_000 },
      "max_tokens: 2000 > 1000, which is the maximum allowed number of output tokens",
    ],
    ["a field that it does not know", { store: false }, "store: Extra inputs are not permitted"],
    ["no message", { messages: [] }, "at least one message is required"],
    ["another role", { messages: [{ role: "tool", content: "Hi." }] }, "messages.0.role"],
    [
      "a first message of the assistant",
      { messages: [{ role: "assistant", content: "Hi." }] },
      'first message must use the \\"user\\" role',
    ],
    [
      "a text with nothing in it",
      { messages: [{ role: "user", content: [{ type: "text", text: "" }] }] },
      "text content blocks must be non-empty",
    ],
    [
      "an answer that is begun for it",
      {
        messages: [
          { role: "user", content: "Hi." },
          { role: "assistant", content: "Yes, " },
        ],
      },
      "This model does not support assistant message prefill",
    ],
    [
      "an end in white space",
      {
        model: "claude-sonnet-4-5",
        messages: [
          { role: "user", content: "Hi." },
          { role: "assistant", content: "Yes. " },
        ],
      },
      "cannot end with trailing whitespace",
    ],
    [
      "a call without its result",
      {
        messages: [
          { role: "user", content: "Hi." },
          { role: "assistant", content: [toolUse] },
          { role: "user", content: "And?" },
        ],
      },
      "without `tool_result` blocks immediately after: toolu_1",
    ],
    [
      "a result behind other words",
      {
        messages: [
          { role: "user", content: "Hi." },
          { role: "assistant", content: [toolUse] },
          { role: "user", content: [{ type: "text", text: "Here." }, toolResult] },
        ],
      },
      "immediately after: toolu_1",
    ],
    [
      "a result without its call",
      { messages: [{ role: "user", content: [toolResult] }] },
      "unexpected `tool_use_id` found in `tool_result` blocks: toolu_1",
    ],
    [
      "two calls with one id",
      {
        messages: [
          { role: "user", content: "Hi." },
          { role: "assistant", content: [toolUse, toolUse] },
          { role: "user", content: [toolResult] },
        ],
      },
      "`tool_use` ids must be unique",
    ],
    [
      "an id with other characters",
      {
        messages: [
          { role: "user", content: "Hi." },
          { role: "assistant", content: [{ ...toolUse, id: "a:b" }] },
        ],
      },
      "String should match pattern",
    ],
    [
      "five marks",
      { messages: [{ role: "user", content: marks(5) }] },
      "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    ],
    [
      "thinking that it did not sign",
      {
        messages: [
          { role: "user", content: "Hi." },
          {
            role: "assistant",
            content: [
              { type: "thinking", thinking: "Hm.", signature: "bm8=" },
              { type: "text", text: "Yes." },
            ],
          },
          { role: "user", content: "And?" },
        ],
      },
      "Invalid `signature` in `thinking` block",
    ],
    [
      "a mark on thinking",
      {
        messages: [
          { role: "assistant", content: [{ type: "thinking", thinking: "Hm.", signature: "bm8=", cache_control: { type: "ephemeral" } }] },
        ],
      },
      "cache_control: Extra inputs are not permitted",
    ],
    [
      "a round without its thinking, where thinking is on",
      { max_tokens: 1_000, thinking: { type: "enabled", budget_tokens: 1_024 } },
      "`max_tokens` must be greater than `thinking.budget_tokens`",
    ],
    [
      "an image by http",
      { messages: [{ role: "user", content: [{ type: "image", source: { type: "url", url: "http://a.example/a.png" } }] }] },
      "Only HTTPS URLs are supported",
    ],
    ["more than its window", { messages: [{ role: "user", content: LONG_TEXT }] }, "tokens > 2000 maximum"],
  ],
};
