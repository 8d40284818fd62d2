/** Each generation setting against each provider's stand-in: what the table promises is what the provider reads, in its own words. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ModelSpec } from "../../src/app/ports";
import { EFFORTS, type Generation } from "../../src/context/generation";
import { fitGeneration, listGenerationFaults } from "../../src/context/generation-support";
import type { Provider } from "../../src/context/model-input";
import { ask, assistant, findCalls, findEnd, joinText, requestTo, TOOLS, toParts, toResults, user } from "./conversation.ts";
import { type Bench, openBench, PROVIDERS_UNDER_TEST } from "./providers.ts";

const SCHEMA = { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false };
const CITY = { type: "json_schema", name: "city", schema: SCHEMA } as const;

/** One value of each setting, by a name. */
const SETTINGS: Readonly<Record<string, Generation>> = {
  temperature: { temperature: 0.3 },
  top_p: { top_p: 0.4 },
  stop: { stop: ["END", "停"] },
  seed: { seed: 7 },
  "no tool": { tool_choice: "none" },
  "some tool": { tool_choice: "required" },
  "one tool": { tool_choice: { name: "lookup" } },
  "one call": { parallel_tool_calls: false },
  json: { response_format: { type: "json" } },
  schema: { response_format: CITY },
  "low effort": { reasoning: { effort: "low" } },
  "no thinking": { reasoning: { effort: "none" } },
};

interface Words {
  readonly model: string;
  /** What the body holds for each setting. Null: the model is refused the setting. */
  readonly says: Readonly<Record<keyof typeof SETTINGS, object | null>>;
}

const CHAT = {
  "no tool": { tool_choice: "none" },
  "some tool": { tool_choice: "required" },
  "one tool": { tool_choice: { type: "function", function: { name: "lookup" } } },
  "one call": { parallel_tool_calls: false },
  json: { response_format: { type: "json_object" } },
  schema: { response_format: { type: "json_schema", json_schema: { name: "city", schema: SCHEMA, strict: false } } },
};
const RESPONSES = {
  stop: null,
  seed: null,
  "no tool": { tool_choice: "none" },
  "some tool": { tool_choice: "required" },
  "one tool": { tool_choice: { type: "function", name: "lookup" } },
  "one call": { parallel_tool_calls: false },
  json: { text: { format: { type: "json_object" } } },
  schema: { text: { format: { type: "json_schema", name: "city", schema: SCHEMA, strict: false } } },
};
const SAMPLED = { temperature: { temperature: 0.3 }, top_p: { top_p: 0.4 } };
const CLAUDE = {
  stop: { stop_sequences: ["END", "停"] },
  seed: null,
  "no tool": { tool_choice: { type: "none" } },
  "one call": { tool_choice: { type: "auto", disable_parallel_tool_use: true } },
  json: null,
  schema: { output_config: { format: { type: "json_schema", schema: SCHEMA } } },
};
const FORCED_CLAUDE = { "some tool": { tool_choice: { type: "any" } }, "one tool": { tool_choice: { type: "tool", name: "lookup" } } };
const mode = (name: string, rest = {}) => ({ toolConfig: { functionCallingConfig: { mode: name, ...rest } } });

const WORDS: { readonly [P in Exclude<Provider, "embedded">]: readonly Words[] } = {
  openai: [
    {
      model: "gpt-6-sol",
      says: {
        ...RESPONSES,
        ...{ temperature: null, top_p: null },
        "low effort": { reasoning: { effort: "low" } },
        "no thinking": { reasoning: { effort: "none" } },
      },
    },
    { model: "gpt-4o", says: { ...RESPONSES, ...SAMPLED, "low effort": null, "no thinking": {} } },
  ],
  "openai-chat": [
    {
      model: "gpt-6-astra",
      says: {
        ...CHAT,
        ...{ temperature: null, top_p: null, stop: null, seed: { seed: 7 } },
        "low effort": { reasoning_effort: "low" },
        "no thinking": null,
      },
    },
    {
      model: "gpt-4o",
      says: { ...CHAT, ...SAMPLED, stop: { stop: ["END", "停"] }, seed: { seed: 7 }, "low effort": null, "no thinking": {} },
    },
  ],
  "openai-compatible": [
    {
      model: "kimi-k3",
      says: {
        ...CHAT,
        ...SAMPLED,
        ...{ stop: { stop: ["END", "停"] }, seed: { seed: 7 } },
        "low effort": { reasoning_effort: "low" },
        "no thinking": { reasoning_effort: "none" },
      },
    },
  ],
  anthropic: [
    {
      model: "claude-sonnet-5-5",
      says: {
        ...CLAUDE,
        ...{ temperature: null, top_p: null, "some tool": null, "one tool": null },
        "low effort": { thinking: { type: "adaptive" }, output_config: { effort: "low" } },
        "no thinking": null,
      },
    },
    {
      model: "claude-sonnet-4-6",
      says: {
        ...CLAUDE,
        ...SAMPLED,
        ...FORCED_CLAUDE,
        "low effort": { thinking: { type: "adaptive" }, output_config: { effort: "low" } },
        "no thinking": { thinking: { type: "disabled" } },
      },
    },
    {
      model: "claude-sonnet-4-5-20250929",
      says: {
        ...CLAUDE,
        ...SAMPLED,
        ...FORCED_CLAUDE,
        "low effort": { max_tokens: 8_000, thinking: { type: "enabled", budget_tokens: 1_600 } },
        "no thinking": { thinking: { type: "disabled" } },
      },
    },
    {
      model: "claude-sonnet-4-20250514",
      says: {
        ...CLAUDE,
        ...SAMPLED,
        ...FORCED_CLAUDE,
        schema: null,
        "low effort": { max_tokens: 8_000, thinking: { type: "enabled", budget_tokens: 1_600 } },
        "no thinking": { thinking: { type: "disabled" } },
      },
    },
  ],
  google: [
    {
      model: "gemini-3.5-flash",
      says: {
        temperature: { generationConfig: { temperature: 0.3 } },
        top_p: { generationConfig: { topP: 0.4 } },
        stop: { generationConfig: { stopSequences: ["END", "停"] } },
        seed: { generationConfig: { seed: 7 } },
        "no tool": mode("NONE"),
        "some tool": mode("ANY"),
        "one tool": mode("ANY", { allowedFunctionNames: ["lookup"] }),
        "one call": null,
        json: { generationConfig: { responseMimeType: "application/json" } },
        schema: { generationConfig: { responseMimeType: "application/json", responseJsonSchema: { type: "object" } } },
        "low effort": { generationConfig: { thinkingConfig: { thinkingLevel: "low" } } },
        "no thinking": null,
      },
    },
  ],
  "workers-ai": [
    {
      model: "@cf/openai/gpt-oss-120b",
      says: {
        ...CHAT,
        ...SAMPLED,
        ...{ stop: null, seed: { seed: 7 }, "one call": null },
        schema: { response_format: { type: "json_schema", json_schema: { title: "city", ...SCHEMA } } },
        "low effort": { reasoning_effort: "low" },
        "no thinking": { reasoning_effort: null },
      },
    },
  ],
};

const cases = PROVIDERS_UNDER_TEST.flatMap((provider) =>
  Object.entries(WORDS)
    .filter(([name]) => name === provider.name)
    .flatMap(([, words]) => words.map((each) => ({ ...each, provider, name: provider.name }))),
);

/** As the registry knows a model of that name. */
const toSpec = (bench: Bench, upstream_id: string): ModelSpec => ({
  ...bench.spec,
  upstream_id,
  capabilities: { tools: true, images: true, files: true, reasoning: !upstream_id.startsWith("gpt-4") },
});

const names = TOOLS.map(({ name }) => name);

describe.each(cases)("$model of $name", ({ provider, model, says }) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench(provider);
  });
  afterAll(() => bench.standIn.close());

  it.each(Object.entries(SETTINGS))("is told of %s in its own words, or refuses it by its name", async (name, generation) => {
    const spec = toSpec(bench, model);
    const faults = listGenerationFaults(generation, spec);
    const fitted = fitGeneration(generation, { model: spec, tools: names, continues: false });
    const words = says[name];
    if (words === null)
      return expect([faults.map(({ setting }) => setting), fitted]).toEqual([
        Object.keys(generation),
        expect.objectContaining({ generation: {}, leftOut: Object.keys(generation) }),
      ]);
    expect([faults, fitted.leftOut]).toEqual([[], []]);
    bench.standIn.enqueue({ blocks: [{ type: "text", text: '{"city":"Köln"}' }] });
    const changes = { model: spec, generation: fitted.generation, maxOutput: 8_000 };
    const chunks = await ask(bench, changes);
    const heard = bench.standIn.log.at(-1);
    expect(heard?.refusal?.body).toBeUndefined();
    expect(heard?.body).toMatchObject({ ...words });
    expect([joinText(chunks), findEnd(chunks)?.type]).toEqual(['{"city":"Köln"}', "finish"]);
    expect((await bench.model.render(requestTo(bench, changes))).body).toBe(heard?.raw);
  });
});

/** Models of every family that has rules of its own. */
const FAMILIES: Readonly<Record<string, readonly string[]>> = {
  openai: [
    "gpt-4o",
    "o3-mini",
    "gpt-5",
    "gpt-5-mini",
    "gpt-5.1",
    "gpt-5-codex",
    "gpt-5-chat-latest",
    "gpt-6-sol",
    "gpt-6-astra",
    "gpt-6.1-terra",
  ],
  "openai-chat": ["gpt-4o", "o3-mini", "gpt-5", "gpt-5.1", "gpt-6-sol", "gpt-6-astra"],
  "openai-compatible": ["kimi-k3", "deepseek-chat"],
  anthropic: [
    ...["claude-3-haiku-20240307", "claude-sonnet-4-20250514", "claude-opus-4-1", "claude-haiku-4-5-20251001", "claude-opus-4-6"],
    ...["claude-opus-4-8", "claude-opus-5", "claude-haiku-5-5", "claude-sonnet-5-5", "claude-opus-5-5", "claude-fable-5-1", "claude-next"],
  ],
  google: [
    "gemini-2.0-flash",
    "gemini-2.5-flash",
    "gemini-2.5-pro",
    "gemini-3.5-flash",
    "gemini-3.7-flash",
    "gemini-3-pro",
    "gemini-flash-latest",
  ],
  "workers-ai": ["@cf/openai/gpt-oss-120b"],
};

const EVERY: readonly Generation[] = [
  ...Object.values(SETTINGS),
  ...EFFORTS.map((effort) => ({ reasoning: { effort } })),
  { response_format: { ...CITY, strict: true } },
];

/** What the request to a model with these settings has in common with the request without one of them. */
async function findUnsaid(bench: Bench, model: ModelSpec, generation: Generation): Promise<readonly string[]> {
  if (listGenerationFaults(generation, model).length > 0) return [];
  const render = async (given: Generation) => {
    const fitted = fitGeneration(given, { model, tools: names, continues: false });
    return (await bench.model.render(requestTo(bench, { model, generation: fitted.generation, maxOutput: 8_000 }))).body;
  };
  const [whole, plain] = [await render(generation), await render({})];
  const isIdle = !model.capabilities?.reasoning && generation.reasoning?.effort === "none";
  return whole === plain && !isIdle ? [`${model.upstream_id}: ${JSON.stringify(generation)}`] : [];
}

describe("the table", () => {
  it.each(PROVIDERS_UNDER_TEST)("promises for $name only what changes the request, for every family of models", async (provider) => {
    const bench = await openBench(provider);
    const unsaid: string[] = [];
    for (const id of FAMILIES[provider.name] ?? [])
      for (const generation of EVERY) unsaid.push(...(await findUnsaid(bench, toSpec(bench, id), generation)));
    await bench.standIn.close();
    expect(unsaid).toEqual([]);
  });

  it("takes from a model without tools what forces a call, and from one that does not think its effort", () => {
    const model = {
      provider: "openai-compatible",
      upstream_id: "m",
      capabilities: { tools: false, images: false, files: false, reasoning: false },
    } as const;
    const faults = (generation: Generation) => listGenerationFaults(generation, model).map(({ setting }) => setting);
    expect([faults({ tool_choice: "required" }), faults({ tool_choice: "none" })]).toEqual([["tool_choice"], []]);
    expect([faults({ reasoning: { effort: "high" } }), faults({ reasoning: { effort: "none" } })]).toEqual([["reasoning"], []]);
  });

  it("keeps to the ranges of a provider", () => {
    const faults = (provider: Provider, upstream_id: string, generation: Generation) =>
      listGenerationFaults(generation, { provider, upstream_id }).map(({ setting, detail }) => `${setting}: ${detail}`);
    expect(faults("anthropic", "claude-sonnet-4-6", { temperature: 1.5 })).toEqual(["temperature: the provider takes at most 1"]);
    expect(faults("anthropic", "claude-sonnet-4-6", { temperature: 1, top_p: 1 })).toEqual([
      "top_p: the provider takes temperature or top_p, not both",
    ]);
    expect(faults("anthropic", "claude-sonnet-4-6", { stop: ["\n"] })).toHaveLength(1);
    expect(faults("openai", "gpt-4o", { max_output_tokens: 15 })).toEqual(["max_output_tokens: the provider takes at least 16"]);
    expect(faults("workers-ai", "@cf/m", { response_format: { ...CITY, strict: true } })).toHaveLength(1);
    expect(faults("google", "gemini-2.5-flash", { response_format: { type: "json" } })).toEqual([
      "response_format: the model takes JSON only with a schema",
    ]);
  });
});

describe("a forced call", () => {
  it("is forced once: after its results the model is free, and no setting was left out", () => {
    const model = { provider: "openai", upstream_id: "gpt-4o" } as const;
    const forced = { tool_choice: { name: "lookup" } } as const;
    const toFitted = (continues: boolean, tools = names) => fitGeneration(forced, { model, tools, continues });
    expect([toFitted(false), toFitted(true)]).toEqual([
      { generation: forced, leftOut: [] },
      { generation: {}, leftOut: [] },
    ]);
    expect(toFitted(false, ["read_file"])).toEqual({ generation: {}, leftOut: ["tool_choice"] });
  });
});

describe("Claude's thinking by tokens", () => {
  const provider = PROVIDERS_UNDER_TEST.find(({ name }) => name === "anthropic");
  const thinking = { reasoning: { effort: "high" } } as const;

  it("goes on with signed thinking, is off where none was signed, and never exceeds the cap", async () => {
    if (!provider) throw new TypeError("no provider");
    const bench = await openBench(provider);
    const model = toSpec(bench, "claude-sonnet-4-5-20250929");
    const call = { type: "call", name: "lookup", arguments: '{"q":"a"}' } as const;
    bench.standIn.enqueue(
      { blocks: [{ type: "thinking", text: "Hm." }, call] },
      { blocks: [{ type: "text", text: "Yes." }] },
      { blocks: [{ type: "text", text: "Yes." }] },
      { blocks: [{ type: "text", text: "Yes." }] },
    );
    const first = await ask(bench, { model, generation: thinking, maxOutput: 8_000 });
    const rounds = [user("Look."), assistant(...toParts(first)), toResults(findCalls(first))];
    await ask(bench, { model, generation: thinking, maxOutput: 8_000, messages: rounds });
    const unsigned = { type: "tool_call", call_id: "call_1", name: "lookup", arguments: "{}" } as const;
    await ask(bench, {
      model,
      generation: thinking,
      maxOutput: 8_000,
      messages: [user("Look."), assistant(unsigned), toResults([unsigned])],
    });
    await ask(bench, { model, generation: thinking, maxOutput: 900 });
    const bodies = bench.standIn.log.map(({ body, refusal }) => ({ ...(body as object), refusal }));
    expect(bodies).toMatchObject([
      { max_tokens: 8_000, thinking: { type: "enabled", budget_tokens: 6_400 }, refusal: null },
      { max_tokens: 8_000, thinking: { type: "enabled" }, refusal: null },
      { max_tokens: 8_000, refusal: null },
      { max_tokens: 900, refusal: null },
    ]);
    expect(bodies.slice(2).map((body) => "thinking" in body)).toEqual([false, false]);
    await bench.standIn.close();
  });
});

describe("Workers AI in JSON mode", () => {
  it("answers at once, with a value in place of a text", async () => {
    const provider = PROVIDERS_UNDER_TEST.find(({ name }) => name === "workers-ai");
    if (!provider) throw new TypeError("no provider");
    const bench = await openBench(provider);
    const run = async () => ({ response: { city: "Köln" }, usage: { prompt_tokens: 5, completion_tokens: 3 } });
    const { createWorkersAiModel } = await import("../../src/model/workers-ai");
    const model = createWorkersAiModel({ run } as unknown as Ai);
    const chunks = await ask({ ...bench, model }, { generation: { response_format: CITY } });
    expect([joinText(chunks), findEnd(chunks)]).toEqual(['{"city":"Köln"}', expect.objectContaining({ type: "finish", finish: "stop" })]);
  });
});
