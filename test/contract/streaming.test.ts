import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { LINGER_MS } from "../../src/model/reply-body.ts";
import { ask, findCalls, findEnd, joinText, requestTo, toParts } from "./conversation.ts";
import { type Bench, openBench, PROVIDERS_UNDER_TEST } from "./providers.ts";

const TEXT = "Grüezi – “naïve” 日本語 🦒👩‍👩‍👧, and then some more to say.";
const THOUGHT = "Let me see: ¿qué? 考え中 🤔.";
const say = (text: string) => ({ type: "text", text }) as const;

describe.each(PROVIDERS_UNDER_TEST)("a reply of $name", (provider) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench(provider);
  });
  afterAll(() => bench.standIn.close());
  afterEach(() => vi.useRealTimers());

  it("streams its text, and ends with a stop and what was counted", async () => {
    bench.standIn.enqueue({ blocks: [say(TEXT)] });
    const chunks = await ask(bench);
    expect(joinText(chunks)).toBe(TEXT);
    const usage = bench.standIn.log.at(-1)?.usage;
    expect(findEnd(chunks)).toMatchObject({ type: "finish", finish: "stop", usage: { input: usage?.input, cached: 0 } });
  });

  it("is the same however its bytes are cut, also inside a character", async () => {
    const blocks = [
      { type: "thinking", text: THOUGHT },
      say(TEXT),
      { type: "call", name: "lookup", arguments: '{"q":"東京 🦒"}' },
    ] as const;
    bench.standIn.enqueue({ blocks }, { blocks, bytes: 1 }, { blocks, bytes: 3 });
    const whole = toParts(await ask(bench));
    const split = [toParts(await ask(bench)), toParts(await ask(bench))];
    expect(whole).toContainEqual(expect.objectContaining({ type: "text", text: TEXT }));
    expect(whole).toContainEqual(expect.objectContaining({ type: "tool_call", arguments: expect.stringContaining("東京 🦒") }));
    const plain = (parts: typeof whole) =>
      parts.map((part) => ("text" in part ? part.text : part.type === "tool_call" ? part.arguments : ""));
    expect(split.map(plain)).toEqual([plain(whole), plain(whole)]);
  });

  it("is given out as it comes, before the rest is written", async () => {
    const rest = Promise.withResolvers<void>();
    bench.standIn.enqueue({ blocks: [say(TEXT)], mishap: { type: "hold", until: rest.promise } });
    let heard = 0;
    const stream = bench.model
      .stream(requestTo(bench), { signal: new AbortController().signal, onProgress: () => heard++ })
      [Symbol.asyncIterator]();
    let text = "";
    while (text.length < TEXT.length - 3) {
      const { value } = await stream.next();
      if (value?.type === "text") text += value.text;
    }
    expect(TEXT.startsWith(text)).toBe(true);
    expect(heard).toBeGreaterThan(0);
    rest.resolve();
    const ends: string[] = [];
    for (let next = await stream.next(); !next.done; next = await stream.next()) ends.push(next.value.type);
    expect(ends.at(-1)).toBe("finish");
  });

  it("tells that the provider is there, by its headers and by a comment, though it writes nothing", async () => {
    bench.standIn.enqueue({ blocks: [], mishap: { type: "stall" } });
    const caller = new AbortController();
    const alive = Promise.withResolvers<void>();
    let signs = 0;
    const onAlive = (): void => {
      signs += 1;
      if (signs === 2) alive.resolve();
    };
    const heard = ask(bench, {}, { signal: caller.signal, onAlive });
    await alive.promise;
    caller.abort();
    expect(await heard).toEqual([{ type: "failure", failure: { kind: "aborted", status: null } }]);
  });

  it("goes on past an event that is newer than we are", async () => {
    bench.standIn.enqueue({ blocks: [say(TEXT)], mishap: { type: "news", event: provider.news } });
    const chunks = await ask(bench);
    expect([joinText(chunks), findEnd(chunks)]).toMatchObject([TEXT, { type: "finish", finish: "stop" }]);
  });

  it("says why it ended", async () => {
    bench.standIn.enqueue({ blocks: [say("Cut")], finish: "length" }, { blocks: [say("No")], finish: "refused" });
    const ends = [findEnd(await ask(bench)), findEnd(await ask(bench))];
    expect(ends).toMatchObject([
      { type: "finish", finish: "length" },
      { type: "finish", finish: "content_filter" },
    ]);
  });

  it("brings calls made at once, each whole, in order, with different ids, and their arguments as they were written", async () => {
    const calls = [
      { type: "call", name: "lookup", arguments: '{"q":"one"}' },
      { type: "call", name: "lookup", arguments: '{"q":"two"}' },
      { type: "call", name: "read_file", arguments: '{"path":"a b.txt"}' },
    ] as const;
    bench.standIn.enqueue({ blocks: [say("Looking."), ...calls] });
    const chunks = await ask(bench);
    expect(findCalls(chunks).map(({ name, arguments: args }) => [name, args])).toEqual(
      calls.map(({ name, arguments: args }) => [name, args]),
    );
    expect(new Set(findCalls(chunks).map(({ call_id }) => call_id)).size).toBe(3);
    expect(findEnd(chunks)).toMatchObject({ type: "finish", finish: "tool_calls" });
  });

  it("shows thinking apart from text, and counts it", async () => {
    bench.standIn.enqueue({ blocks: [{ type: "thinking", text: THOUGHT }, say(TEXT)] });
    const chunks = await ask(bench);
    expect(joinText(chunks)).toBe(TEXT);
    expect(joinText(chunks, "reasoning")).toBe(provider.showsThinking ? THOUGHT : "");
    const end = findEnd(chunks);
    expect(end?.type === "finish" ? end.usage?.reasoning : null).toBeGreaterThan(0);
    expect(end?.type === "finish" ? end.usage?.output : null).toBeGreaterThan(end?.type === "finish" ? (end.usage?.reasoning ?? 0) : 0);
  });

  it("is read where it comes whole, as one JSON document, though a stream was asked for", async () => {
    const blocks = [
      { type: "thinking", text: THOUGHT },
      say(TEXT),
      { type: "call", name: "lookup", arguments: '{"q":"東京 🦒"}' },
    ] as const;
    bench.standIn.enqueue({ blocks }, { blocks, whole: true }, { blocks: [say("Cut")], finish: "length", whole: true });
    const [streamed, whole] = [await ask(bench), await ask(bench)];
    const plain = (chunks: typeof whole) =>
      toParts(chunks).map((part) =>
        "text" in part ? part.text : part.type === "tool_call" ? [part.name, JSON.parse(part.arguments)] : "",
      );
    expect(plain(whole)).toEqual(plain(streamed));
    expect(findEnd(whole)).toEqual({ ...findEnd(streamed), usage: expect.objectContaining({ output: expect.any(Number) }) });
    expect(findEnd(await ask(bench))).toMatchObject({ type: "finish", finish: "length" });
  });

  it("is read by its bytes, whatever content type it states", async () => {
    const blocks = [say(TEXT)];
    bench.standIn.enqueue(
      ...["application/json", "text/plain"].map((contentType) => ({ blocks, contentType })),
      ...["text/event-stream", "text/plain"].map((contentType) => ({ blocks, whole: true, contentType }) as const),
    );
    for (let n = 0; n < 4; n++) {
      const chunks = await ask(bench);
      expect([joinText(chunks), findEnd(chunks)]).toMatchObject([TEXT, { type: "finish", finish: "stop" }]);
    }
  });

  it("ends with its usage soon after everything was said, though the connection stays open", async () => {
    if (bench.standIn.baseUrl === null) return;
    // A gateway that leaves out the last line of chat completions, and never closes.
    const parking = async (...args: Parameters<typeof fetch>): Promise<Response> => {
      const answer = await fetch(...args);
      const said = (await answer.text()).replace("data: [DONE]\n\n", "");
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
      const open = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(said)) });
      return new Response(open, answer);
    };
    const parked = await openBench(provider, parking);
    parked.standIn.enqueue({ blocks: [say(TEXT)] });
    const asked = ask(parked);
    const turned = turnClock(asked);
    const chunks = await asked;
    await turned;
    expect([joinText(chunks), findEnd(chunks)]).toMatchObject([
      TEXT,
      { type: "finish", finish: "stop", usage: { input: expect.any(Number) } },
    ]);
    vi.useRealTimers();
    await parked.standIn.close();
  });
});

/** Lets as much of the faked time pass as a reply may linger, until it has ended. */
async function turnClock(until: Promise<unknown>): Promise<void> {
  let ended = false;
  const note = (): void => {
    ended = true;
  };
  until.then(note, note);
  while (!ended) {
    await new Promise((resolve) => setImmediate(resolve));
    if (vi.isFakeTimers()) vi.advanceTimersByTime(LINGER_MS);
  }
}
