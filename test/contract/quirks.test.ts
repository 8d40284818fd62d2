/** Each quirk, against an endpoint that refuses the usual request in the words of a real one: the refusal teaches what the next request needs. */
import { afterEach, describe, expect, it } from "vitest";
import type { ChatMessage, ModelRequest, ModelSpec } from "../../src/app/ports";
import { toLesson } from "../../src/app/request/lessons";
import { ENDPOINTS, findQuirks, type Quirks, withQuirks } from "../../src/context/model-quirks";
import { createChatModel } from "../../src/model/chat-model";
import { OPENAI_KEY } from "../support/stand-in/providers/openai/errors.ts";
import { createStrictChat, STRICTNESS, type Strictness, smallBodies } from "../support/stand-in/providers/openai/strict-chat.ts";
import { type ProviderStandIn, startProvider } from "../support/stand-in/providers/provider-server.ts";
import { ask, assistant, findEnd, joinText, toResults, user } from "./conversation.ts";
import { type Bench, PROVIDERS_UNDER_TEST, WINDOW } from "./providers.ts";

const benches: ProviderStandIn[] = [];
afterEach(async () => {
  for (const standIn of benches.splice(0)) await standIn.close();
});

async function open(rules: readonly Strictness[], change: Partial<ModelSpec> = {}): Promise<Bench> {
  const compatible = PROVIDERS_UNDER_TEST.find(({ name }) => name === "openai-compatible");
  if (!compatible) throw new TypeError("No compatible provider.");
  const standIn = await startProvider(createStrictChat(WINDOW, rules));
  benches.push(standIn);
  const model = createChatModel({ credentials: async () => OPENAI_KEY, estimate: (text) => text.length });
  const spec: ModelSpec = {
    id: "m",
    provider: "openai-compatible",
    upstream_id: "some-model",
    base_url: standIn.baseUrl,
    context_window: WINDOW,
    max_output: 1_000,
    capabilities: { tools: true, images: true, files: true, reasoning: true },
    source: "tenant",
    ...change,
  };
  return { ...compatible, standIn, model, spec };
}

const call = { type: "tool_call", call_id: "call_0fypS1hVX", name: "lookup", arguments: '{"q":"a"}' } as const;
const thought = { type: "reasoning", text: "I look.", provider_metadata: { openaiCompatible: {} } } as const;
const note: ChatMessage = { role: "system", parts: [{ type: "text", text: "Answer in French." }] };
/** What most sessions have at some time: a call, a system message in the middle, two messages of the user in a row. */
const MESSAGES: readonly ChatMessage[] = [
  user("Look it up."),
  assistant(thought, call),
  toResults([call]),
  assistant({ type: "text", text: "Found." }),
  user("And now?"),
  note,
  user("In short."),
];

const generation = { tool_choice: "auto", parallel_tool_calls: true } as const;
interface Case {
  readonly name: keyof typeof STRICTNESS;
  readonly learned: Quirks;
  readonly before?: Quirks;
}

const CASES: readonly Case[] = [
  { name: "stream_options", learned: { stream_options: false } },
  { name: "parallel_tool_calls", learned: { parallel_tool_calls: false } },
  { name: "tool_choice", learned: { tool_choice: false } },
  { name: "max_tokens", learned: { output_limit: "max_completion_tokens" } },
  { name: "max_completion_tokens", learned: { output_limit: "max_tokens" }, before: { output_limit: "max_completion_tokens" } },
  { name: "call_ids", learned: { call_ids: "nine_characters" } },
  { name: "system", learned: { system: "first" } },
  { name: "system_in_template", learned: { system: "first" } },
  { name: "alternate_roles", learned: { alternate_roles: true, system: "first" } },
  { name: "reasoning_wanted", learned: { return_reasoning: true } },
  { name: "reasoning_unknown", learned: { return_reasoning: false }, before: { return_reasoning: true } },
];

describe.each(CASES)("an endpoint that is strict about $name", ({ name, learned, before }) => {
  /** What a session states of generation depends on the model's quirks (`fitGeneration`). */
  const stateFor = (spec: ModelSpec): Partial<ModelRequest> => {
    const { tool_choice, parallel_tool_calls } = findQuirks(spec);
    return {
      messages: MESSAGES,
      generation: {
        ...(tool_choice && { tool_choice: generation.tool_choice }),
        ...(parallel_tool_calls && { parallel_tool_calls: true }),
      },
    };
  };

  it("refuses the usual request, and teaches by its refusal what the next one needs", async () => {
    const bench = await open([STRICTNESS[name]], before ? { quirks: before } : {});
    const refused = findEnd(await ask(bench, stateFor(bench.spec)));
    if (refused?.type !== "failure") throw new Error(`not refused: ${JSON.stringify(refused)}`);
    const lesson = toLesson(bench.spec, { ...refused.failure, sent: 1_000 });
    expect(lesson).toEqual(learned);

    const spec = withQuirks(bench.spec, lesson);
    bench.standIn.enqueue({ blocks: [{ type: "text", text: "Bien." }] });
    const answered = await ask(bench, { ...stateFor(spec), model: spec });
    expect([joinText(answered), bench.standIn.log.at(-1)?.refusal]).toEqual(["Bien.", null]);
    expect(toLesson(spec, { ...refused.failure, sent: 1_000 })).not.toEqual(lesson);
  });
});

describe("a request in the plainest rendering", () => {
  const forms = ["call_ids", "system", "system_in_template", "alternate_roles", "reasoning_unknown"] as const;

  it("is taken by an endpoint that is strict about everything that a history can break", async () => {
    const bench = await open(forms.map((name) => STRICTNESS[name]));
    bench.standIn.enqueue({ blocks: [{ type: "text", text: "Bien." }] });
    const chunks = await ask(bench, { messages: MESSAGES, plain: true });
    expect([joinText(chunks), bench.standIn.log.at(-1)?.refusal]).toEqual(["Bien.", null]);
    expect(bench.standIn.log.at(-1)?.body).toMatchObject({
      messages: [{ role: "system", content: expect.stringContaining("Answer in French.") }, {}, {}, {}, {}, {}],
    });
  });

  it("keeps what belongs to calls that the model still waits for", async () => {
    const bench = await open([STRICTNESS.reasoning_wanted], { quirks: { return_reasoning: true } });
    bench.standIn.enqueue({ blocks: [{ type: "text", text: "Bien." }] });
    const chunks = await ask(bench, { messages: [user("Look."), assistant(thought, call), toResults([call])], plain: true });
    expect(joinText(chunks)).toBe("Bien.");
    expect(JSON.stringify(bench.standIn.log.at(-1)?.body)).toContain("I look.");
  });
});

describe("a body that a proxy refuses as too large", () => {
  it.each([
    ["what the refusal names", true, 20_480],
    ["half of what was sent, where it names nothing", false, 30_000],
  ])("teaches a bound in bytes: %s", async (_, names, bound) => {
    const bench = await open([smallBodies(20_480, names)]);
    const refused = findEnd(await ask(bench, { messages: [user("The road was long. ".repeat(3_000))] }));
    if (refused?.type !== "failure") throw new Error("not refused");
    expect(refused.failure.kind).toBe("payload");
    expect(toLesson(bench.spec, { ...refused.failure, sent: 60_000 })).toEqual({ max_request_bytes: bound });
  });
});

describe("the images of a message", () => {
  const picture = { type: "image", media_type: "image/png", url: "https://example.org/a.png" } as const;

  it("are named in words where the endpoint fetches none", async () => {
    const bench = await open([], { quirks: { images: "data" } });
    bench.standIn.enqueue({ blocks: [{ type: "text", text: "Yes." }] });
    await ask(bench, { messages: [{ role: "user", parts: [picture] }] });
    expect(JSON.stringify(bench.standIn.log[0]?.body)).toContain("[file: image/png");
  });
});

describe("instructions", () => {
  it.each([
    ["anywhere", ["system", "user", "system", "user"]],
    ["first", ["system", "user", "user", "user"]],
    ["merged", ["system", "user", "user"]],
    ["developer", ["developer", "user", "developer", "user"]],
  ] as const)("stand as the quirk says: %s", async (system, roles) => {
    const bench = await open([], { quirks: { system } });
    bench.standIn.enqueue({ blocks: [{ type: "text", text: "Yes." }] });
    await ask(bench, { messages: [user("One."), note, user("Two.")] });
    expect(bench.standIn.log[0]?.body).toMatchObject({ messages: roles.map((role) => ({ role })) });
    expect(JSON.stringify(bench.standIn.log[0]?.body)).toContain("Answer in French.");
  });

  it("of a summary right behind the system prompt become one message with it where one may stand in front", async () => {
    const bench = await open([STRICTNESS.system], { quirks: { system: "first" } });
    bench.standIn.enqueue({ blocks: [{ type: "text", text: "Yes." }] });
    await ask(bench, { messages: [note, user("Two.")] });
    expect(bench.standIn.log[0]?.body).toMatchObject({
      messages: [{ content: "You answer briefly.\n\nAnswer in French." }, { role: "user" }],
    });
  });
});

describe("thinking between tags", () => {
  it.each([1, 3, 1_000])("is told apart while it streams, in pieces of %i bytes", async (bytes) => {
    const bench = await open([]);
    bench.standIn.enqueue({ blocks: [{ type: "text", text: "<think>\nI look.</think>\n\nFound <think> it." }], bytes });
    const chunks = await ask(bench);
    expect([joinText(chunks, "reasoning"), joinText(chunks)]).toEqual(["\nI look.", "Found <think> it."]);
  });

  it("is text where the entry says so", async () => {
    const bench = await open([], { quirks: { strip_think_tags: false } });
    bench.standIn.enqueue({ blocks: [{ type: "text", text: "<think>a</think>b" }] });
    expect(joinText(await ask(bench))).toBe("<think>a</think>b");
  });
});

describe("the endpoints that are known by name", () => {
  it.each(
    ENDPOINTS.filter(({ base_url, host }) => base_url !== null && host !== null).map(
      ({ id, base_url, quirks }) => [id, base_url, quirks] as const,
    ),
  )("%s is recognised by its address", (_, base_url, quirks) => {
    const filled = (base_url ?? "").replace("{resource}", "acme").replace("{account}", "a").replace("{gateway}", "g");
    expect(findQuirks({ provider: "openai-compatible", upstream_id: "m", base_url: filled })).toMatchObject(quirks);
  });

  it("are not recognised by a part of a name", () => {
    const usual = findQuirks({ provider: "openai-compatible", upstream_id: "m", base_url: "https://example.org/v1" });
    for (const host of ["mistral.ai.example.org", "notmistral.ai", "deepseek.com.evil.example"]) {
      expect(findQuirks({ provider: "openai-compatible", upstream_id: "m", base_url: `https://${host}/v1` })).toEqual(usual);
    }
  });
});
