/** The checker itself: it accepts a stream that is right, and every rule has streams that break it. */
import { describe, expect, test } from "vitest";
import { checkStream, type SentEvent } from "./check-stream";
import { RESPONSE_KEYS, responseResource } from "./resource-schemas";
import { RULES, type RuleName } from "./rules";

type Fields = Readonly<Record<string, unknown>>;
type Stream = readonly (Fields & { readonly type: string })[];

const WHOLE = {
  id: "resp_1",
  object: "response",
  created_at: 100,
  completed_at: null,
  status: "in_progress",
  incomplete_details: null,
  model: "scripted",
  previous_response_id: null,
  instructions: null,
  output: [],
  error: null,
  tools: [{ type: "function", name: "look_up", description: null, parameters: { type: "object" }, strict: false }],
  tool_choice: "auto",
  truncation: "disabled",
  parallel_tool_calls: true,
  text: { format: { type: "text" } },
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  top_logprobs: 0,
  temperature: 1,
  reasoning: null,
  usage: null,
  max_output_tokens: null,
  max_tool_calls: null,
  store: true,
  background: false,
  service_tier: "default",
  metadata: {},
  safety_identifier: null,
  prompt_cache_key: null,
} as const;
const USAGE = {
  input_tokens: 5,
  input_tokens_details: { cached_tokens: 2 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 1 },
  total_tokens: 12,
};

const thought = { type: "reasoning", id: "rs_1", status: "completed", summary: [{ type: "summary_text", text: "Hm, 狗" }] };
const said = { type: "message", id: "msg_1", status: "completed", role: "assistant", content: [outputText("Let me see.")] };
const server = {
  type: "mcp_call",
  id: "mcp_1",
  server_label: "longhand",
  name: "find",
  arguments: "{}",
  output: "found",
  error: null,
  status: "completed",
};
const call = { type: "function_call", id: "fc_1", call_id: "call_1", name: "look_up", arguments: '{"of":"狗"}', status: "completed" };
const OUTPUT = [thought, said, server, call];

function outputText(text: string): Fields {
  return { type: "output_text", text, annotations: [] };
}

const begin = (item: Fields, output_index: number, content: Fields) => ({
  type: "response.output_item.added",
  output_index,
  item: { ...item, status: "in_progress", ...content },
});
const end = (item: Fields, output_index: number) => ({ type: "response.output_item.done", output_index, item });

function tellThought(): Stream {
  const [place, part] = [{ item_id: "rs_1", output_index: 0, summary_index: 0 }, thought.summary[0]];
  return [
    begin(thought, 0, { summary: [] }),
    { type: "response.reasoning_summary_part.added", ...place, part: { type: "summary_text", text: "" } },
    { type: "response.reasoning_summary_text.delta", ...place, delta: "Hm, " },
    { type: "response.reasoning_summary_text.delta", ...place, delta: "狗" },
    { type: "response.reasoning_summary_text.done", ...place, text: "Hm, 狗" },
    { type: "response.reasoning_summary_part.done", ...place, part },
    end(thought, 0),
  ];
}

function tellMessage(): Stream {
  const place = { item_id: "msg_1", output_index: 1, content_index: 0 };
  return [
    begin(said, 1, { content: [] }),
    { type: "response.content_part.added", ...place, part: outputText("") },
    { type: "response.output_text.delta", ...place, delta: "Let me", logprobs: [] },
    { type: "response.output_text.delta", ...place, delta: " see.", logprobs: [] },
    { type: "response.output_text.done", ...place, text: "Let me see.", logprobs: [] },
    { type: "response.content_part.done", ...place, part: { ...outputText("Let me see."), logprobs: [] } },
    end(said, 1),
  ];
}

function tellCalls(): Stream {
  const [ofServer, ofClient] = [
    { item_id: "mcp_1", output_index: 2 },
    { item_id: "fc_1", output_index: 3 },
  ];
  return [
    begin(server, 2, { arguments: "", output: null }),
    { type: "response.mcp_call.in_progress", ...ofServer },
    { type: "response.mcp_call_arguments.delta", ...ofServer, delta: "{}" },
    { type: "response.mcp_call_arguments.done", ...ofServer, arguments: "{}" },
    { type: "response.mcp_call.completed", ...ofServer },
    end(server, 2),
    begin(call, 3, { arguments: "" }),
    { type: "response.function_call_arguments.delta", ...ofClient, delta: '{"of":' },
    { type: "response.function_call_arguments.delta", ...ofClient, delta: '"狗"}' },
    { type: "response.function_call_arguments.done", ...ofClient, arguments: '{"of":"狗"}', name: "look_up" },
    end(call, 3),
  ];
}

const opening: Stream = [
  { type: "response.created", response: WHOLE },
  { type: "response.in_progress", response: WHOLE },
];
const completed = { ...WHOLE, status: "completed", completed_at: 101, output: OUTPUT, usage: USAGE };
const GOOD: Stream = number([
  ...opening,
  ...tellThought(),
  ...tellMessage(),
  ...tellCalls(),
  { type: "response.completed", response: completed },
]);

const failure = { code: "server_error", message: "The model failed." };
const errorEvent = { type: "error", ...failure, param: null, error: { ...failure, type: "server_error", param: null } };
const failed = { ...WHOLE, status: "failed", error: failure };
const FAILED: Stream = number([...opening, errorEvent, { type: "response.failed", response: failed }]);

const half = { ...said, status: "incomplete" };
const cut = { ...WHOLE, status: "incomplete", incomplete_details: { reason: "max_output_tokens" }, output: [thought, half], usage: USAGE };
const CUT: Stream = number([
  ...opening,
  ...tellThought(),
  ...tellMessage().slice(0, -1),
  end(half, 1),
  { type: "response.incomplete", response: cut },
]);

const waiting = { ...WHOLE, background: true };
const BACKGROUND: Stream = number([
  { type: "response.created", response: { ...waiting, status: "queued" } },
  { type: "response.queued", response: { ...waiting, status: "queued" } },
  { type: "response.in_progress", response: waiting },
  { type: "response.completed", response: { ...completed, output: [], background: true } },
]);

function number(events: Stream): Stream {
  return events.map((event, sequence_number) => ({ ...event, sequence_number }));
}

const toSent = (events: Stream): SentEvent[] => [
  ...events.map((event) => ({ event: event.type, data: JSON.stringify(event) })),
  { event: null, data: "[DONE]" },
];
const toFrames = (events: Stream): SentEvent[] => events.map((event) => ({ event: null, data: JSON.stringify(event) }));

/** The stream with one kind of event changed. */
const change = (events: Stream, type: string, fields: Fields): Stream =>
  events.map((event) => (event.type === type ? { ...event, ...fields } : event));
const changeItem = (events: Stream, id: string, fields: Fields, step = "done"): Stream =>
  events.map((event) => {
    const item = event.item;
    const isIt =
      event.type === `response.output_item.${step}` && typeof item === "object" && item !== null && "id" in item && item.id === id;
    return isIt ? { ...event, item: { ...item, ...fields } } : event;
  });
const without = (events: Stream, ...types: readonly string[]): Stream => number(events.filter(({ type }) => !types.includes(type)));
const twice = (events: Stream, type: string): Stream => number(events.flatMap((event) => (event.type === type ? [event, event] : [event])));
const swap = (events: Stream, type: string): Stream => {
  const at = events.findIndex((event) => event.type === type);
  const [before, after] = [events[at], events[at + 1]];
  return before && after ? number([...events.slice(0, at), after, before, ...events.slice(at + 2)]) : [];
};
const withLast = (events: Stream, fields: Fields): Stream =>
  events.map((event, at) => (at === events.length - 1 ? { ...event, response: { ...Object(event.response), ...fields } } : event));

const NO_PART = { content_index: undefined, logprobs: undefined };

/** What breaks each rule. */
const BREACHES: Readonly<Record<RuleName, readonly SentEvent[][]>> = {
  json: [[...toSent(GOOD).slice(0, 3), { event: "error", data: '{"type":' }, ...toSent(GOOD).slice(3)]],
  schema: [
    toSent(change(GOOD, "response.output_text.delta", { delta: null })),
    toSent(change(GOOD, "response.output_text.delta", { flavour: "new" })),
    toSent(number([...GOOD.slice(0, 2), { type: "longhand.notice" }, ...GOOD.slice(2)])),
    toSent(changeItem(GOOD, "msg_1", { content: [{ type: "output_text", text: "Let me see." }] })),
    toSent(withLast(GOOD, { usage: { ...USAGE, total_tokens: 11 } })),
    toSent(withLast(GOOD, { completed_at: null })),
  ],
  name: [
    toSent(GOOD).map((sent, at) => (at === 4 ? { ...sent, event: "message" } : sent)),
    toSent(GOOD).map((sent, at) => (at === 4 ? { ...sent, event: null } : sent)),
    toSent(GOOD).map((sent) => (sent.data === "[DONE]" ? { ...sent, event: "done" } : sent)),
  ],
  number: [
    toSent(GOOD.map((event, at) => ({ ...event, sequence_number: at + 1 }))),
    toSent(GOOD.filter((_, at) => at !== 5)),
    toSent(change(GOOD, "response.completed", { sequence_number: 0 })),
  ],
  beginning: [
    toSent(without(GOOD, "response.created")),
    toSent(without(GOOD, "response.in_progress")),
    toSent(swap(GOOD, "response.created")),
    toSent(twice(GOOD, "response.created")),
    toSent(change(BACKGROUND, "response.queued", { response: waiting })),
    toSent(
      number([GOOD[0], { type: "response.queued", response: { ...WHOLE, status: "queued" } }, ...GOOD.slice(1)].flatMap((e) => e ?? [])),
    ),
    toSent(change(GOOD, "response.in_progress", { response: { ...WHOLE, usage: USAGE } })),
    toSent(change(GOOD, "response.created", { response: { ...WHOLE, output: [said] } })),
  ],
  response: [
    toSent(withLast(GOOD, { id: "resp_2" })),
    toSent(withLast(GOOD, { temperature: 0.5 })),
    toSent(withLast(GOOD, { created_at: 99 })),
  ],
  index: [
    toSent(swap(GOOD, "response.output_item.done")),
    toSent(GOOD.map((event) => ("output_index" in event ? { ...event, output_index: Number(event.output_index) + 1 } : event))),
    toSent(GOOD.map((event) => (event.output_index === 3 ? { ...event, output_index: 1_000_000_000 } : event))),
  ],
  identity: [
    toSent(change(GOOD, "response.output_text.delta", { item_id: "msg_2" })),
    toSent(changeItem(GOOD, "msg_1", { id: "msg_2" })),
    toSent(changeItem(GOOD, "fc_1", { call_id: "call_2" })),
    toSent(changeItem(GOOD, "mcp_1", { name: "other" })),
    toSent(change(GOOD, "response.function_call_arguments.done", { name: "other" })),
    toSent(changeItem(GOOD, "fc_1", { id: "msg_1" }, "added")),
  ],
  added: [
    toSent(changeItem(GOOD, "msg_1", { status: "completed" }, "added")),
    toSent(changeItem(GOOD, "msg_1", { content: [outputText("")] }, "added")),
    toSent(changeItem(GOOD, "fc_1", { arguments: '{"of":"狗"}' }, "added")),
    toSent(changeItem(GOOD, "rs_1", { summary: thought.summary }, "added")),
    toSent(changeItem(GOOD, "mcp_1", { output: "found" }, "added")),
  ],
  known: [
    toSent(number([...GOOD.slice(0, -1), ...tellMessage().slice(2, 3), ...GOOD.slice(-1)])),
    toSent(twice(GOOD, "response.output_item.done")),
    toSent(number(GOOD.filter(({ type }, at) => !(type === "response.output_item.added" && at > 4)))),
  ],
  part: [
    toSent(without(GOOD, "response.content_part.added")),
    toSent(swap(GOOD, "response.content_part.added")),
    toSent(without(GOOD, "response.output_text.done")),
    toSent(twice(GOOD, "response.content_part.done")),
    toSent(swap(GOOD, "response.output_text.done")),
    toSent(change(GOOD, "response.content_part.added", { content_index: 1 })),
    toSent(change(GOOD, "response.content_part.added", { part: outputText("Let") })),
    toSent(change(GOOD, "response.reasoning_summary_part.added", { summary_index: 1 })),
    toSent(
      number(GOOD.flatMap((event) => (event.type === "response.content_part.done" ? [event, ...tellMessage().slice(1, 6)] : [event]))),
    ),
    toSent(change(GOOD, "response.content_part.done", { part: { type: "refusal", refusal: "No." } })),
  ],
  call: [
    toSent(without(GOOD, "response.function_call_arguments.done")),
    toSent(twice(GOOD, "response.function_call_arguments.done")),
    toSent(swap(GOOD, "response.function_call_arguments.done")),
    toSent(without(GOOD, "response.mcp_call.completed")),
    toSent(without(GOOD, "response.mcp_call.in_progress")),
    toSent(swap(GOOD, "response.mcp_call_arguments.done")),
    toSent(change(GOOD, "response.mcp_call.completed", { type: "response.mcp_call.failed" })),
    toSent(changeItem(GOOD, "mcp_1", { output: null })),
    toSent(change(GOOD, "response.output_text.delta", { type: "response.mcp_call.in_progress", delta: undefined, ...NO_PART })),
  ],
  text: [
    toSent(number(GOOD.filter(({ delta }) => delta !== "Let me"))),
    toSent(change(GOOD, "response.output_text.done", { text: "Let me see!" })),
    toSent(change(GOOD, "response.content_part.done", { part: outputText("") })),
    toSent(changeItem(withLast(GOOD, { output: [] }), "msg_1", { content: [outputText("Let me")] })),
    toSent(change(GOOD, "response.reasoning_summary_text.done", { text: "Hm" })),
    toSent(change(GOOD, "response.function_call_arguments.done", { arguments: "{}" })),
    toSent(change(GOOD, "response.mcp_call_arguments.delta", { delta: "{ }" })),
    toSent(changeItem(GOOD, "fc_1", { arguments: "{}" })),
  ],
  status: [
    toSent(changeItem(GOOD, "fc_1", { status: "in_progress" })),
    toSent(changeItem(GOOD, "fc_1", { status: "incomplete" })),
    toSent(changeItem(CUT, "rs_1", { status: "incomplete" })),
  ],
  open: [
    toSent(without(GOOD, "response.output_item.done")),
    toSent(without(GOOD, "response.content_part.done")),
    toSent(without(GOOD, "response.reasoning_summary_part.done")),
    toSent(number(GOOD.filter((event) => !(event.type === "response.output_item.done" && event.output_index === 3)))),
  ],
  ending: [
    toSent(without(GOOD, "response.completed")),
    toSent([]),
    toSent(twice(GOOD, "response.completed")),
    toSent(number([...GOOD, ...tellMessage().slice(2, 3)])),
    toSent(change(CUT, "response.incomplete", { type: "response.completed" })),
    toSent(withLast(FAILED, { status: "cancelled", error: null })),
  ],
  output: [
    toSent(withLast(GOOD, { output: [said, thought, server, call] })),
    toSent(withLast(GOOD, { output: [] })),
    toSent(withLast(GOOD, { output: [...OUTPUT, { ...said, id: "msg_2" }] })),
    toSent(withLast(GOOD, { output: [thought, { ...said, content: [outputText("Let me see!")] }, server, call] })),
  ],
  error: [
    toSent(without(FAILED, "error")),
    toSent(swap(FAILED, "error")),
    toSent(change(FAILED, "error", { code: "rate_limit_exceeded" })),
    toSent(withLast(FAILED, { error: { ...failure, message: "Another one." } })),
    toSent(change(FAILED, "error", { error: { ...errorEvent.error, message: "Another one." } })),
    toSent(number([...GOOD.slice(0, 3), errorEvent, ...GOOD.slice(3)])),
  ],
  done: [
    toSent(GOOD).slice(0, -1),
    [...toSent(GOOD), { event: null, data: "[DONE]" }],
    [{ event: null, data: "[DONE]" }, ...toSent(GOOD).slice(0, -1)],
  ],
};

const readRules = (sent: readonly SentEvent[], transport: "sse" | "socket" = "sse"): string[] =>
  checkStream(sent, transport).map(({ rule, at, detail }) => `${rule} at ${at}: ${detail}`);

describe("a stream that is right", () => {
  test.each([
    ["with every kind of item", GOOD],
    ["of a response that failed", FAILED],
    ["of a response that ran out of tokens", CUT],
    ["of a response in the background", BACKGROUND],
  ])("%s has no fault, as server-sent events and on a socket", (_, events) => {
    expect(readRules(toSent(events))).toEqual([]);
    expect(readRules(toFrames(events), "socket")).toEqual([]);
  });

  test("as server-sent events is wrong on a socket, and the other way round", () => {
    expect(checkStream(toSent(GOOD), "socket").map(({ rule }) => rule)).toContain("done");
    expect(checkStream(toFrames(GOOD), "sse").map(({ rule }) => rule)).toEqual(expect.arrayContaining(["name", "done"]));
  });
});

describe("a stream that breaks a rule", () => {
  const cases = Object.keys(RULES).flatMap((rule) =>
    Object.entries(BREACHES).flatMap(([name, streams]) => (name === rule ? streams.map((sent, nth) => [rule, nth, sent] as const) : [])),
  );

  test.each(cases)("%s (%i) is found", (rule, _, sent) => {
    expect(checkStream(sent, "sse").map((fault) => fault.rule)).toContain(rule);
  });

  test("at any place of it is found, whatever event is missing, doubled or moved", () => {
    for (const [at, event] of GOOD.entries()) {
      const [before, after] = [GOOD.slice(0, at), GOOD.slice(at + 1)];
      expect(checkStream(toSent(number([...before, ...after])), "sse"), `without ${at}: ${event.type}`).not.toEqual([]);
      expect(checkStream(toSent(number([...before, event, event, ...after])), "sse"), `twice ${at}: ${event.type}`).not.toEqual([]);
      const next = after[0];
      if (next && next.type !== event.type)
        expect(checkStream(toSent(number([...before, next, event, ...after.slice(1)])), "sse"), `late ${at}: ${event.type}`).not.toEqual(
          [],
        );
    }
  });

  test("by a cut after any event is found", () => {
    for (const at of GOOD.keys()) expect(checkStream(toSent(GOOD.slice(0, at)), "sse").map(({ rule }) => rule)).toContain("ending");
  });
});

describe("the response resource", () => {
  test("has 31 members, and misses none of them", () => {
    expect(RESPONSE_KEYS).toHaveLength(31);
    expect(responseResource.safeParse(completed).success).toBe(true);
    for (const key of RESPONSE_KEYS) {
      const { [key]: _, ...rest } = completed as Fields;
      expect(responseResource.safeParse(rest).success, `without ${key}`).toBe(false);
    }
  });

  test.each([
    "temperature",
    "top_p",
    "presence_penalty",
    "frequency_penalty",
    "top_logprobs",
    "service_tier",
    "truncation",
    "store",
    "background",
    "text",
    "metadata",
    "tools",
    "output",
    "tool_choice",
    "parallel_tool_calls",
  ])("has a %s that is never null", (key) => {
    expect(responseResource.safeParse({ ...completed, [key]: null }).success).toBe(false);
  });

  test.each([
    ["a text format that is null", { text: { format: null } }],
    ["reasoning without its summary", { reasoning: { effort: "low" } }],
    ["a tool without its strictness", { tools: [{ type: "function", name: "a", description: null, parameters: null }] }],
    ["a schema without its description", { text: { format: { type: "json_schema", name: "a", schema: {}, strict: true } } }],
    ["usage without its details", { usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } }],
    ["a phase that is null", { output: [{ ...said, phase: null }] }],
    [
      "a result of a client's tool",
      { output: [{ type: "function_call_output", id: "fco_1", call_id: "c", output: "", status: "completed" }] },
    ],
    ["an error though it completed", { error: failure }],
    ["a time of completion though it failed", { status: "failed", error: failure }],
    ["no reason for being incomplete", { status: "incomplete", completed_at: null }],
    ["two items of one id", { output: [said, said] }],
    ["an unknown member", { flavour: "new" }],
  ])("does not have %s", (_, fields) => {
    expect(responseResource.safeParse({ ...completed, ...fields }).success).toBe(false);
  });
});
