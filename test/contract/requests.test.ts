import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ChatMessage, ModelRequest } from "../../src/app/ports";
import { chooseForms, describeMediaPart, toMediaMeta } from "../../src/context/media";
import type { MediaPart } from "../../src/domain/message";
import { ask, assistant, findEnd, joinText, requestTo, user } from "./conversation.ts";
import { type Bench, openBench, PROVIDERS_UNDER_TEST } from "./providers.ts";

const call = (call_id: string, args = '{"q":"a"}', name = "lookup") => ({ type: "tool_call", call_id, name, arguments: args }) as const;
const result = (call_id: string, output = "found", rest: { readonly is_error?: boolean; readonly name?: string } = {}) =>
  ({ type: "tool_result", call_id, name: "lookup", output, is_error: false, ...rest }) as const;
const results = (...parts: readonly ReturnType<typeof result>[]): ChatMessage => ({ role: "tool", parts });

const attachments: readonly MediaPart[] = [
  { type: "image", url: "https://example.com/a.png", media_type: "image/png" },
  { type: "file", url: "https://example.com/b.pdf", media_type: "application/pdf", name: "b.pdf" },
  { type: "file", url: "https://example.com/c.zip", media_type: "application/zip", name: "c.zip" },
  { type: "image", url: "http://example.com/d.png", media_type: "image/png" },
];
const media: ChatMessage = { role: "user", parts: [{ type: "text", text: "What is in these?" }, ...attachments] };

const BLIND = { tools: true, images: false, files: false, reasoning: true };
const CAPABILITIES = [
  {},
  { capabilities: BLIND },
  { capabilities: { ...BLIND, images: true } },
  { capabilities: { ...BLIND, files: true } },
];

/** Possible conversations. Every provider accepts each of them, whatever its own rules are. */
const conversations: Readonly<Record<string, Partial<ModelRequest>>> = {
  "an instruction alone": { system: null, messages: [{ role: "system", parts: [{ type: "text", text: "Say hello." }] }] },
  "an instruction at the end": {
    messages: [user("One."), assistant({ type: "text", text: "Yes." }), { role: "system", parts: [{ type: "text", text: "Sum up." }] }],
  },
  "the model's own words at the end": { messages: [user("One."), assistant({ type: "text", text: "Yes, " })] },
  "the model's own words alone": { system: null, messages: [assistant({ type: "text", text: "Hello." })] },
  "a first message, with no system prompt and no tools": { system: null, tools: [] },
  "calls made at once, one of which failed": {
    messages: [
      user("Look."),
      assistant(call("call_1"), call("call_2")),
      results(result("call_1"), result("call_2", "no such thing", { is_error: true })),
      user("And?"),
    ],
  },
  "calls with the same id, in one reply and in two": {
    messages: [
      user("Look."),
      assistant(call("call_1"), call("call_1", '{"q":"b"}')),
      results(result("call_1", "one"), result("call_1", "two")),
      assistant(call("call_1", '{"q":"c"}')),
      results(result("call_1", "three")),
    ],
  },
  "ids of calls that another provider made up": {
    messages: [
      user("Look."),
      assistant(call(`functions.lookup:0|${"x".repeat(300)}`)),
      results(result(`functions.lookup:0|${"x".repeat(300)}`)),
      user("And?"),
    ],
  },
  "arguments that are no object, and a tool that was never offered": {
    messages: [
      user("Look."),
      assistant(call("call_1", "{broken"), call("call_2", "", "made up!")),
      results(result("call_1"), result("call_2", "found", { name: "made up!" })),
    ],
  },
  "calls whose tools are no longer offered": {
    tools: [],
    messages: [
      user("Look."),
      assistant(call("call_1")),
      results(result("call_1")),
      assistant({ type: "text", text: "Found." }),
      user("And?"),
    ],
  },
  "messages of one role in a row, and one of white space": {
    messages: [
      user("One."),
      user("  \n"),
      user("Two."),
      assistant({ type: "text", text: "Yes.\n" }),
      assistant({ type: "text", text: "No.  " }),
      user("Three."),
    ],
  },
  "a reply that was stopped before its first word, and a result with nothing in it": {
    messages: [user("Look."), assistant(), user("Again."), assistant(call("call_1")), results(result("call_1", ""))],
  },
  "a note in the middle": {
    messages: [
      user("One."),
      assistant({ type: "text", text: "Yes." }),
      { role: "system", parts: [{ type: "text", text: "It is noon." }] },
      user("Two."),
    ],
  },
  "words of the model's in front": { messages: [assistant({ type: "text", text: "How can I help?" }), user("Look.")] },
  "nothing but a call in front": { messages: [assistant(call("call_1")), results(result("call_1")), user("And?")] },
  "thinking without a signature": {
    messages: [user("One."), assistant({ type: "reasoning", text: "Hm." }, { type: "text", text: "Yes." }), user("Two.")],
  },
  "thinking whose seal never came": {
    messages: [
      user("One."),
      assistant(
        { type: "reasoning", text: "Hm.", provider_metadata: { openai: { itemId: "rs_1" }, anthropic: {}, google: {} } },
        { type: "text", text: "Yes." },
      ),
      user("Two."),
    ],
  },
  "images and files, by address": { messages: [media] },
  "no thinking": { reasoning: "off" },
  "a summary, without a cap": { purpose: "compaction", reasoning: "off", tools: [], maxOutput: null },
};

describe.each(PROVIDERS_UNDER_TEST)("a request to $name", (provider) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench(provider);
  });
  afterAll(() => bench.standIn.close());

  it.each(Object.entries(conversations))("with %s is taken, told once, and rendered byte for byte as it came in", async (_, changes) => {
    const before = bench.standIn.log.length;
    const rendered = await bench.model.render(requestTo(bench, changes));
    expect(bench.standIn.log).toHaveLength(before);
    bench.standIn.enqueue({ blocks: [{ type: "text", text: "Yes." }] });
    const told: string[] = [];
    const chunks = await ask(bench, changes, { onRequest: (body) => told.push(body) });
    expect(bench.standIn.log[before]?.refusal?.body).toBeUndefined();
    expect([joinText(chunks), findEnd(chunks)?.type]).toEqual(["Yes.", "finish"]);
    expect(told).toEqual([bench.standIn.log[before]?.raw]);
    expect(rendered.body).toBe(bench.standIn.log[before]?.raw);
    expect(new URL(rendered.url, "http://binding").pathname).toContain(bench.standIn.log[before]?.path.split("?")[0]);
  });

  it("sends images and files by address where the provider fetches them, and names the others in words", async () => {
    bench.standIn.enqueue({ blocks: [{ type: "text", text: "Yes." }] });
    await ask(bench, { messages: [media] });
    const raw = bench.standIn.log.at(-1)?.raw ?? "";
    for (const address of ["example.com/a.png", "example.com/b.pdf", "example.com/c.zip", "example.com/d.png"])
      expect(raw).toContain(address);
    for (const type of [provider.media.image, provider.media.pdf]) if (type !== null) expect(raw).toContain(type);
    expect(raw).toContain("[file: c.zip (application/zip) https://example.com/c.zip]");
    expect(raw.includes("[file: b.pdf")).toBe(provider.media.pdf === null);
    expect(raw).not.toContain("base64");
  });

  it.each(CAPABILITIES)("is sent of an image or a file what it is weighed by, with %j", async (given) => {
    const { capabilities: _, ...plain } = bench.spec;
    const model = { ...plain, ...given };
    for (const part of attachments) {
      bench.standIn.enqueue({ blocks: [{ type: "text", text: "Yes." }] });
      await ask(bench, { model, messages: [{ role: "user", parts: [{ type: "text", text: "What is this?" }, part] }] });
      const inWords = bench.standIn.log.at(-1)?.raw.includes(describeMediaPart(part));
      // Never less than what is sent. An address that Google does not fetch is counted as if it did.
      const weighed = chooseForms(model, [toMediaMeta(part)])[0] !== "words" ? [false, model.provider === "google"] : [true];
      expect(weighed, describeMediaPart(part)).toContain(inWords);
    }
  });

  it("holds no image and no file for a model that reads none", async () => {
    bench.standIn.enqueue({ blocks: [{ type: "text", text: "Yes." }] });
    const blind = { ...bench.spec, capabilities: { tools: true, images: false, files: false, reasoning: true } };
    await ask(bench, { model: blind, messages: [media] });
    const heard = bench.standIn.log.at(-1);
    expect(heard?.refusal?.body).toBeUndefined();
    for (const type of ["input_image", "image_url", '"type":"image"', "fileData", "input_file", '"type":"document"'])
      expect(heard?.raw).not.toContain(type);
  });

  it("carries the cap of the reply, and the key in its header only", async () => {
    bench.standIn.enqueue({ blocks: [{ type: "text", text: "Yes." }] });
    await ask(bench, { maxOutput: 777 });
    const heard = bench.standIn.log.at(-1);
    expect(heard?.raw).toMatch(/"max\w*":777\b/i);
    expect(`${heard?.raw}${heard?.path}`).not.toContain(provider.key);
  });
});
