import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { countTokens } from "./count-tokens.ts";
import { type StandIn, startStandIn } from "./stand-in.ts";

let standIn: StandIn;
beforeEach(async () => {
  standIn = await startStandIn({ window: 600, reserve: 100 });
});
afterEach(() => standIn.close());

const post = (body: unknown) =>
  fetch(`${standIn.baseUrl}/chat/completions`, { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) });
const say = (content: string, rest: object = {}) => post({ model: "m", messages: [{ role: "user", content }], ...rest });
const completion = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.string().nullable() }), finish_reason: z.string() })),
  usage: z.object({ prompt_tokens: z.number(), completion_tokens: z.number() }),
});
const json = async (response: Response) => completion.parse(await response.json());

describe("the provider stand-in", () => {
  it("gives the replies it was given, in order, then what it was told to make", async () => {
    standIn.enqueue({ text: "one" }, { text: "two" });
    standIn.respondWith((request) => ({ text: `${request.messages.length}` }));
    const said = [await json(await say("a")), await json(await say("b")), await json(await say("c"))];
    expect(said.map((reply) => reply.choices[0]?.message.content)).toEqual(["one", "two", "1"]);
  });

  it("reports true usage and logs it with the body as it came", async () => {
    standIn.enqueue({ text: "hello world" });
    const raw = '{"model":"m",  "messages":[{"role":"user","content":"hi there"}]}';
    const { usage } = await json(await post(raw));
    expect(usage).toMatchObject({ prompt_tokens: countTokens("hi there") + 4 + 3, completion_tokens: countTokens("hello world") });
    expect(standIn.log).toMatchObject([{ raw, status: 200, kind: "turn", ...usage }]);
  });

  it("refuses a prompt above window − reserve, and takes one of exactly that", async () => {
    const exact = "a ".repeat(493).trim();
    expect(countTokens(exact)).toBe(493);
    standIn.enqueue({ text: "ok" });
    expect((await say(exact)).status).toBe(200);
    const refused = await say(`${exact} a`);
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({
      error: { code: "context_length_exceeded", message: expect.stringContaining("resulted in 501 tokens") },
    });
    expect(standIn.totals()).toMatchObject({ requests: 2, overflows: 1, peak_tokens: 501 });
  });

  it("ends a stream with usage when it is asked for, and with [DONE]", async () => {
    standIn.enqueue({ text: "a b c d e f", chunks: 3 });
    const text = await (await say("hi", { stream: true, stream_options: { include_usage: true } })).text();
    const events = text.trim().split("\n\n");
    expect(events.at(-1)).toBe("data: [DONE]");
    expect(events.at(-2)).toContain('"choices":[],"usage"');
    expect(events.filter((event) => event.includes('"content":"') && !event.includes('"content":""'))).toHaveLength(3);
  });

  it("refuses with the headers that it is given, and streams what is no stream", async () => {
    standIn.enqueue({ status: 429, headers: { "retry-after": "7" }, error: { message: "Slow down." } }, { raw: "data: <html>" });
    const refused = await say("a");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "7"]);
    expect(await (await say("b", { stream: true })).text()).toBe("data: <html>");
  });

  it("lets the test decide when a delta goes out", async () => {
    const next = Promise.withResolvers<void>();
    async function* deltas() {
      yield "first";
      await next.promise;
      yield "second";
    }
    standIn.enqueue(deltas());
    const response = await say("hi", { stream: true });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toContain("first");
    next.resolve();
    let rest = "";
    for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) rest += read.value;
    expect(rest).toContain("second");
  });

  it("knows a summary request and answers it with about 15 % of its input, within max_tokens", async () => {
    const sentence = (place: number) => `The ${place}th thing that was said is of some weight.`;
    const input = Array.from({ length: 30 }, (_, place) => sentence(place)).join("\n");
    const messages = [
      { role: "system", content: "You are summarizing a conversation for context continuity." },
      { role: "user", content: input },
    ];
    const { usage } = await json(await post({ model: "m", messages, max_tokens: 200 }));
    expect(usage.completion_tokens).toBeGreaterThan(countTokens(input) * 0.08);
    expect(usage.completion_tokens).toBeLessThanOrEqual(countTokens(input) * 0.16);
    await post({ model: "m", messages, max_tokens: 20 });
    expect(standIn.log.at(-1)?.completion_tokens).toBeLessThanOrEqual(20);
    expect(standIn.totals()).toMatchObject({ compactions: 2, turns: 0 });
  });

  it("says that it has nothing to say, lists its model, and refuses what it does not know", async () => {
    expect((await say("hi")).status).toBe(500);
    expect(await (await fetch(`${standIn.baseUrl}/models`)).json()).toMatchObject({ data: [{ id: "stand-in" }] });
    expect((await post("{")).status).toBe(400);
    expect((await fetch(`${standIn.baseUrl}/embeddings`)).status).toBe(404);
  });
});
