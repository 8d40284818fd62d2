import { afterAll, beforeAll, describe, expect, it } from "vitest";
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
});
