/** Behaviour that only one provider has. */
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { createChat } from "../support/stand-in/providers/openai/chat.ts";
import { createResponses } from "../support/stand-in/providers/openai/responses.ts";
import { startProvider } from "../support/stand-in/providers/provider-server.ts";
import { ask, assistant, findCalls, findEnd, joinText, requestTo, toParts, toResults, user } from "./conversation.ts";
import { type Bench, openBench, PROVIDERS_UNDER_TEST, type ProviderUnderTest, WINDOW } from "./providers.ts";

const benches: Bench[] = [];
afterEach(async () => {
  for (const { standIn } of benches.splice(0)) await standIn.close();
});

function findProvider(name: string): ProviderUnderTest {
  const provider = PROVIDERS_UNDER_TEST.find((each) => each.name === name);
  if (!provider) throw new TypeError(`No provider ${name}.`);
  return provider;
}

async function open(name: string, upstreamId?: string): Promise<Bench> {
  const provider = findProvider(name);
  const bench = await openBench(upstreamId === undefined ? provider : { ...provider, upstreamId });
  benches.push(bench);
  return bench;
}

const say = (text: string) => ({ type: "text", text }) as const;

describe("Workers AI", () => {
  it("is read in its own format, which its older models speak", async () => {
    const bench = await open("workers-ai", "@cf/meta/llama-3.3-70b-instruct-fp8-fast");
    bench.standIn.enqueue({ blocks: [say("Looking – 日本語."), { type: "call", name: "lookup", arguments: '{"q":"a"}' }], bytes: 1 });
    const chunks = await ask(bench);
    expect(joinText(chunks)).toBe("Looking – 日本語.");
    expect(findCalls(chunks)).toMatchObject([{ name: "lookup", arguments: '{"q":"a"}' }]);
    expect(findEnd(chunks)).toMatchObject({ type: "finish", usage: { input: bench.standIn.log[0]?.usage?.input } });
    bench.standIn.enqueue({ blocks: [say("Found.")] });
    const next = await ask(bench, { messages: [user("Look."), assistant(...toParts(chunks)), toResults(findCalls(chunks))] });
    expect([bench.standIn.log[1]?.refusal?.body, joinText(next)]).toEqual([undefined, "Found."]);
  });

  it("is asked under the session's own key, so that its cache is found again", async () => {
    const bench = await open("workers-ai");
    bench.standIn.enqueue({ blocks: [say("Yes.")] });
    await ask(bench, { cacheKey: "ses_7" });
    expect(bench.standIn.log[0]?.headers).toMatchObject({ "x-session-affinity": "ses_7" });
  });
});

describe("OpenAI", () => {
  it.each(["openai", "openai-chat"])(
    "routes %s by the session's key, keeps nothing, and offers thinking back only sealed",
    async (name) => {
      const bench = await open(name);
      bench.standIn.enqueue({ blocks: [say("Yes.")] });
      await ask(bench, { cacheKey: "ses_7" });
      expect(bench.standIn.log[0]?.body).toMatchObject({
        prompt_cache_key: "ses_7",
        ...(name === "openai" ? { store: false, include: ["reasoning.encrypted_content"] } : {}),
      });
    },
  );

  it.each(["gpt-6-sol", "gpt-4o", "o3-mini"])("takes a cap and no thinking for %s on chat completions", async (upstreamId) => {
    const bench = await open("openai-chat", upstreamId);
    bench.standIn.enqueue({ blocks: [say("Yes.")] });
    const reasoning = upstreamId !== "gpt-4o";
    await ask(bench, {
      maxOutput: 50,
      reasoning: "off",
      model: { ...bench.spec, capabilities: { tools: true, images: true, files: true, reasoning } },
    });
    expect([bench.standIn.log[0]?.refusal?.body, bench.standIn.log[0]?.body]).toEqual([
      undefined,
      expect.objectContaining({ max_completion_tokens: 50 }),
    ]);
  });
});

describe("a compatible model that wants its thinking back", () => {
  const think = (text: string) => ({ type: "thinking", text }) as const;
  const call = { type: "call", name: "lookup", arguments: '{"q":"a"}' } as const;
  const wire = z.object({ messages: z.array(z.object({ reasoning_content: z.string().optional() })) });
  const readSent = (bench: Bench, nth: number) =>
    wire.parse(bench.standIn.log[nth]?.body).messages.map(({ reasoning_content }) => reasoning_content);

  it("gets it with the calls that it led to, in its turn", async () => {
    const bench = await open("openai-compatible");
    bench.standIn.enqueue(
      { blocks: [think("Perhaps "), think("here."), call] },
      { blocks: [think("Or there."), call] },
      { blocks: [say("Done.")] },
    );
    const all = [user("Look.")];
    for (let round = 0; round < 2; round++) {
      const chunks = await ask(bench, { messages: all });
      all.push(assistant(...toParts(chunks)), toResults(findCalls(chunks)));
    }
    expect(joinText(await ask(bench, { messages: all }))).toBe("Done.");
    expect(readSent(bench, 2)).toEqual([undefined, undefined, "Perhaps here.", undefined, "Or there.", undefined]);
  });

  it("is not refused a call whose thinking is gone, or that another model made", async () => {
    const bench = await open("openai-compatible", "deepseek/deepseek-v4");
    bench.standIn.enqueue({ blocks: [say("Done.")] });
    const made = { type: "tool_call", call_id: "a", name: "lookup", arguments: "{}" } as const;
    const messages = [user("Look."), assistant({ type: "reasoning", text: "unsigned" }, made), toResults([made]), user("And?")];
    expect(joinText(await ask(bench, { messages }))).toBe("Done.");
    expect(readSent(bench, 0)[2]).toBe(".");
  });

  it.each([
    ["llama-4", true],
    ["kimi-k3", false],
  ])("is none where %s is asked, with reasoning %s", async (upstreamId, reasoning) => {
    const bench = await open("openai-compatible", upstreamId);
    bench.standIn.enqueue({ blocks: [say("Done.")] });
    const made = { type: "tool_call", call_id: "a", name: "lookup", arguments: "{}" } as const;
    const capabilities = { tools: true, images: true, files: true, reasoning };
    await ask(bench, { messages: [user("Look."), assistant(made), toResults([made])], model: { ...bench.spec, capabilities } });
    expect(readSent(bench, 0).filter((each) => each !== undefined)).toEqual([]);
  });
});

describe("OpenAI's thinking in words", () => {
  it("is shown where it comes, and goes back with its seal, all parts of an item together", async () => {
    const provider = { ...findProvider("openai"), start: () => startProvider(createResponses({ window: WINDOW, summaries: true })) };
    const bench = await openBench(provider);
    benches.push(bench);
    const thought = "First the one: ¿qué?\n\nThen the other. 🦒";
    bench.standIn.enqueue(
      {
        blocks: [
          { type: "thinking", text: thought },
          { type: "call", name: "lookup", arguments: "{}" },
        ],
      },
      { blocks: [say("Found.")] },
    );
    const chunks = await ask(bench);
    expect(joinText(chunks, "reasoning")).toBe(thought.replace("\n\n", ""));
    const next = await ask(bench, { messages: [user("Look."), assistant(...toParts(chunks)), toResults(findCalls(chunks))] });
    expect([bench.standIn.log[1]?.refusal?.body, joinText(next)]).toEqual([undefined, "Found."]);
    for (const part of ["First the one: ¿qué?", "Then the other. 🦒", "encrypted_content"])
      expect(bench.standIn.log[1]?.raw).toContain(part);
  });
});

describe("Gemini at a compatible endpoint", () => {
  it("is given its signatures back, and no other model is", async () => {
    const call = {
      type: "tool_call",
      call_id: "call_1",
      name: "lookup",
      arguments: "{}",
      provider_metadata: { google: { thoughtSignature: "c2VhbGVk" } },
    } as const;
    const messages = [user("Look."), assistant(call), toResults([call])];
    const [gemini, other] = [await open("openai-compatible", "google/gemini-3.5-flash"), await open("openai-compatible")];
    const bodies = [await gemini.model.render(requestTo(gemini, { messages })), await other.model.render(requestTo(other, { messages }))];
    expect(bodies.map(({ body }) => body.includes('"extra_content":{"google":{"thought_signature":"c2VhbGVk"}}'))).toEqual([true, false]);
  });
});

describe("a compatible endpoint", () => {
  it("is called at an address of its own, and its key goes nowhere else", async () => {
    const bench = await open("openai-compatible");
    const other = await startProvider(createChat({ window: WINDOW, style: "compatible" }));
    bench.standIn.enqueue({ blocks: [say("Here.")] });
    await ask(bench);
    expect([bench.standIn.log.length, other.log.length]).toEqual([1, 0]);
    await other.close();
  });
});
