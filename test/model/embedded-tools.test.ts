/** How the embedded model uses tools: those that a message names, and `memory_query` for content outside its view. */
import { describe, expect, it } from "vitest";
import type { ChatMessage, ModelRequest, ModelStreamPart } from "../../src/app/ports";
import { RECALL_TOOL } from "../../src/context/recall-tool";
import { estimateTokens } from "../../src/context/tokens";
import type { ToolDefinition } from "../../src/domain/message";
import { createChatModel } from "../../src/model/chat-model";
import { assistant, collect, modelRequest, modelSpec, spokenText, user } from "./model-request";

const model = createChatModel({ credentials: async () => null, estimate: estimateTokens });
const request = (changes: Partial<ModelRequest>) =>
  modelRequest({ model: modelSpec({ provider: "embedded", base_url: null }), ...changes });
const ask = (changes: Partial<ModelRequest>) => collect(model.stream(request(changes), { signal: new AbortController().signal }));

const callsIn = (chunks: readonly ModelStreamPart[]) =>
  chunks.flatMap((chunk) =>
    chunk.type === "tool_call" ? [{ ...chunk.call, arguments: JSON.parse(chunk.call.arguments) as unknown }] : [],
  );
const wanted = async (changes: Partial<ModelRequest>) => callsIn(await ask(changes)).map(({ name, arguments: given }) => [name, given]);

const weather: ToolDefinition = {
  name: "get_weather",
  parameters: { type: "object", properties: { city: { type: "string" }, days: { type: "integer" }, hourly: { type: "boolean" } } },
};
const stocks: ToolDefinition = { name: "stocks", parameters: { type: "object", properties: { symbol: { type: "string" } } } };

const called = (call_id: string, name: string, given: unknown): ChatMessage => ({
  role: "assistant",
  parts: [{ type: "tool_call", call_id, name, arguments: JSON.stringify(given) }],
});
const returned = (call_id: string, name: string, output: string): ChatMessage => ({
  role: "tool",
  parts: [{ type: "tool_result", call_id, name, output, is_error: false }],
});

describe("a message that names an offered tool calls it", () => {
  it.each([
    ['Call get_weather {"city": "Osaka", "wind": {"unit": "m/s"}} now.', { city: "Osaka", wind: { unit: "m/s" } }],
    ["get_weather city: Lisbon, days=3, hourly: true.", { city: "Lisbon", days: 3, hourly: true }],
    ['Please run get_weather with city="New York".', { city: "New York" }],
    ["get_weather", {}],
    ["get_weather {not json} city=Rome", { city: "Rome" }],
  ])("%j", async (said, given) => {
    expect(await wanted({ tools: [weather], messages: [user(said)] })).toEqual([["get_weather", given]]);
  });

  it("several are called beside one another, each with what follows its name", async () => {
    const messages = [user('get_weather {"city":"Rome"} and get_weather {"city":"Oslo"}, then stocks symbol=ABC')];
    const chunks = await ask({ tools: [weather, stocks], messages });
    expect(callsIn(chunks).map(({ call_id, name, arguments: given }) => [call_id, name, given])).toEqual([
      ["call_1", "get_weather", { city: "Rome" }],
      ["call_2", "get_weather", { city: "Oslo" }],
      ["call_3", "stocks", { symbol: "ABC" }],
    ]);
    expect(chunks.at(-1)).toMatchObject({ type: "finish", finish: "tool_calls", usage: { output: expect.any(Number) } });
  });

  it("ids go on from those that are shown", async () => {
    const before = [
      user("get_weather"),
      called("call_7", "get_weather", {}),
      returned("call_7", "get_weather", "rain"),
      assistant("Rain."),
    ];
    const chunks = await ask({ tools: [weather], messages: [...before, user("get_weather city=Rome")] });
    expect(callsIn(chunks)).toMatchObject([{ call_id: "call_8" }]);
  });

  const needs = (name: string): ModelRequest["tools"][number] => ({
    name,
    parameters: { type: "object", properties: { city: { type: "string" }, days: { type: "number" } }, required: ["city"] },
  });

  it.each([
    ["weather", "use the weather tool for Paris"],
    ["get_weather", "Please use the weather tool for Paris."],
    ["getWeather", "What is it like in Paris? Use the weather tool."],
    ["get_weather", 'Call get_weather for "Paris", please.'],
    ["weather", "run the Weather function in Paris, and tell me"],
  ])("%s in plain words: %s", async (name, said) => {
    expect(await wanted({ tools: [stocks, needs(name)], messages: [user(said)] })).toEqual([[name, { city: "Paris" }]]);
  });

  it.each(["use the time tool for Paris", "the weather tool is broken", "I used a tool for that"])("%s names no tool", async (said) => {
    expect(await wanted({ tools: [needs("get_weather")], messages: [user(said)] })).toEqual([]);
  });

  it.each(["my_get_weather_2", "get_weather_now", "GET_WEATHER", "the weather"])("%s is another name", async (said) => {
    expect(await wanted({ tools: [weather], messages: [user(said)] })).toEqual([]);
  });

  it("not once it has results: it tells them, each of a round", async () => {
    const messages = [
      user("get_weather city=Rome and stocks symbol=ABC"),
      { role: "assistant", parts: [...called("a", "get_weather", { city: "Rome" }).parts, ...called("b", "stocks", {}).parts] } as const,
      returned("a", "get_weather", "It rains."),
      returned("b", "stocks", "ABC stands at 12."),
    ];
    const said = spokenText(await ask({ tools: [weather, stocks], messages }));
    expect(said).toContain("It rains.");
    expect(said).toContain("ABC stands at 12.");
  });

  it("a call that is longer than the reply may be is not made", async () => {
    const chunks = await ask({ tools: [weather], messages: [user("get_weather city=Rome")], maxOutput: 2 });
    expect(chunks).toMatchObject([{ type: "finish", finish: "length" }]);
  });
});

const recall = (changes: Partial<ModelRequest>) => wanted({ tools: [RECALL_TOOL], ...changes });
const cleared = (name: string, execution: string): string =>
  `[Tool ${name}]: OK - [Old tool result content cleared (execution_id: ${execution}). Use memory_query tool with session_id or execution_id to retrieve full details]`;

describe("what it does not see it looks up", () => {
  it("by the words of the question", async () => {
    const messages = [user("What was the gate code of the depot in Lyon?")];
    expect(await recall({ messages })).toEqual([["memory_query", { query: "gate code depot Lyon" }]]);
  });

  it.each([
    ["Wie lautet der Torcode von Depot Lyon-7?", "lautet Torcode Depot Lyon-7"],
    ["北门仓库的密码是多少？", "北门仓库的密码是多少"],
    ["What is HALCYON-42's owner_id in src/a.ts?", "HALCYON-42 owner_id src/a.ts"],
  ])("%j → %j", async (question, query) => {
    expect(await recall({ messages: [user(question)] })).toEqual([["memory_query", { query }]]);
  });

  it("also where something similar is in view", async () => {
    const messages = [user("The gate code of the depot in Nantes is 9920."), user("What was the gate code of the depot in Lyon?")];
    expect(await recall({ messages })).toHaveLength(1);
  });

  it("not what it sees, and nothing where the tool is not offered", async () => {
    const seen = [user("The gate code of the depot in Lyon is 4471."), user("What was the gate code of the depot in Lyon?")];
    expect(await recall({ messages: seen })).toEqual([]);
    expect(await wanted({ messages: [user("What was the gate code in Lyon?")], tools: [weather] })).toEqual([]);
  });

  it("by the execution that the question names", async () => {
    const messages = [user("Which value did exe_01HZZZZZZZ0000000000000042 return?")];
    expect(await recall({ messages })).toEqual([["memory_query", { execution_id: "exe_01HZZZZZZZ0000000000000042" }]]);
  });

  it("by the execution of the cleared result whose call fits best", async () => {
    const messages = [
      user("Look."),
      called("call_1", "read_meter", { meter: "M-204" }),
      returned("call_1", "read_meter", cleared("read_meter", "exe_A")),
      called("call_2", "read_meter", { meter: "M-377" }),
      returned("call_2", "read_meter", cleared("read_meter", "exe_B")),
      user("What reading did meter M-377 show?"),
    ];
    expect(await recall({ messages })).toEqual([["memory_query", { execution_id: "exe_B" }]]);
  });

  it("a result that is shown is read with its call", async () => {
    const messages = [
      user("Look."),
      called("call_1", "read_meter", { meter: "M-204" }),
      returned("call_1", "read_meter", "unit: kWh\nreading: 88231"),
      user("What is the reading of meter M-204?"),
    ];
    expect(spokenText(await ask({ messages, tools: [RECALL_TOOL] }))).toContain("88231");
  });
});

describe("what was looked up", () => {
  const question = user("What was the gate code of the depot in Lyon?");
  const looked = (output: string, given: unknown = { query: "gate code depot Lyon" }): readonly ChatMessage[] => [
    called("call_1", "memory_query", given),
    returned("call_1", "memory_query", output),
  ];
  const told = async (...messages: readonly ChatMessage[]) => spokenText(await ask({ messages, tools: [RECALL_TOOL] }));

  it("is answered from, prefixes and questions of the record aside", async () => {
    const output =
      "#12 user 2026-01-01: What was the gate code of the depot in Lyon?\n#7 user 2026-01-01: The gate code of the depot in Lyon is 4471.\n#9 The gate in Nantes is green.";
    const said = await told(question, ...looked(output));
    expect(said).toContain("4471");
    expect(said).not.toContain("green");
    expect(said).not.toContain("What was");
  });

  it("goes before the similar that is in view", async () => {
    const said = await told(
      user("The gate code of the depot in Nantes is 9920."),
      question,
      ...looked("The gate code of the depot in Lyon is 4471."),
    );
    expect(said.indexOf("4471")).toBeGreaterThan(0);
    expect(said.indexOf("4471")).toBeLessThan(said.includes("9920") ? said.indexOf("9920") : Number.POSITIVE_INFINITY);
  });

  it("of an execution is read for what was asked beside its name", async () => {
    const messages = [
      called("call_1", "read_meter", { meter: "M-377" }),
      returned("call_1", "read_meter", cleared("read_meter", "exe_B")),
      user("What reading did meter M-377 show?"),
      ...looked('exe_B read_meter {"meter":"M-377"}\nunit: kWh\nreading: 88231', { execution_id: "exe_B" }),
    ];
    expect(await told(user("Look."), ...messages)).toContain("88231");
  });

  it("is read on where it says so, three times at most, and then it is said that nothing was found", async () => {
    const page = (offset: number) => `The weather was fair.\n[more: memory_query with offset ${offset}]`;
    const first = [question, ...looked(page(2_000))];
    expect(await recall({ messages: first })).toEqual([["memory_query", { query: "gate code depot Lyon", offset: 2_000 }]]);
    const second = [...first, ...looked(page(4_000), { query: "gate code depot Lyon", offset: 2_000 })];
    expect(await recall({ messages: second })).toEqual([["memory_query", { query: "gate code depot Lyon", offset: 4_000 }]]);
    const third = [...second, ...looked(page(6_000), { query: "gate code depot Lyon", offset: 4_000 })];
    expect(await recall({ messages: third })).toEqual([]);
    expect(await told(...third)).toContain("I cannot find that");
  });

  it("is not asked for twice", async () => {
    expect(await recall({ messages: [question, ...looked("Nothing was found.")] })).toEqual([]);
  });

  it("says nothing by its words alone, neither now nor later", async () => {
    expect(await told(question, ...looked("Nothing was found."))).toContain("I cannot find that");
    const later = [question, ...looked("Nothing was found."), assistant("No."), question];
    expect(await recall({ messages: later })).toEqual([["memory_query", { query: "gate code depot Lyon" }]]);
  });
});
