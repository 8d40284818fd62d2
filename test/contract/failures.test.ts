import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ModelStreamPart } from "../../src/app/ports";
import { FAILURE_KINDS } from "../../src/domain/model-call";
import { ask, findEnd, joinText, requestTo } from "./conversation.ts";
import { type Bench, openBench, PROVIDERS_UNDER_TEST } from "./providers.ts";

const say = (text: string) => ({ type: "text", text }) as const;
/** Failures that the provider reported. */
const withFigures = (figures: { readonly [F in "retry_after_ms" | "limit" | "window"]?: number | undefined }) =>
  Object.fromEntries(Object.entries(figures).filter(([, figure]) => figure !== undefined));
/** What the provider calls the failure, what it points at (`refused-part`) and what it says (below) have tests of their own. */
function withoutNames(chunk: ModelStreamPart | undefined): ModelStreamPart | undefined {
  if (chunk?.type !== "failure") return chunk;
  const { reported: _, refused: __, most_bytes: ___, message: ____, ...failure } = chunk.failure;
  return { type: "failure", failure };
}
const begun = { blocks: [say("As I was saying")] };

describe.each(PROVIDERS_UNDER_TEST)("a failure of $name", (provider) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench(provider);
  });
  afterAll(() => bench.standIn.close());

  const named = provider.failures.refusals.map((failure) => [failure.kind, failure.title, failure] as const);
  it.each(named)("is %s: %s", async (kind, _, { refusal, retry_after_ms, limit, window }) => {
    bench.standIn.enqueue({ blocks: [], mishap: { type: "refuse", refusal } });
    const chunks = await ask(bench);
    const failure = { kind, status: refusal.status, ...withFigures({ retry_after_ms, limit, window }) };
    expect(chunks.map(withoutNames)).toEqual([{ type: "failure", failure }]);
  });

  const inStream = provider.failures.events.map((failure) => [failure.kind, failure.title, failure] as const);
  it.each(inStream)("in the middle of a stream is %s: %s", async (kind, _, { event, status = null, retry_after_ms, limit }) => {
    bench.standIn.enqueue({ ...begun, mishap: { type: "error", event } });
    const chunks = await ask(bench);
    expect(joinText(chunks)).toBe("As I was saying");
    const failure = { kind, status, ...withFigures({ retry_after_ms, limit }) };
    expect(withoutNames(findEnd(chunks))).toEqual({ type: "failure", failure });
    expect(chunks.filter(({ type }) => type === "failure" || type === "finish")).toHaveLength(1);
  });

  it("holds the provider's words in its message alone, without the key that they repeat", async () => {
    const { key } = provider;
    const words = `Incorrect API key provided: ${key}, also known as ${key.slice(0, 6)}***${key.slice(-4)}, key=***${key.slice(-4)} You said: Hello there.`;
    bench.standIn.enqueue({ blocks: [], mishap: { type: "refuse", refusal: { status: 401, body: { error: { message: words } } } } });
    const [failed] = await ask(bench);
    if (failed?.type !== "failure") throw new Error("the call did not fail");
    const { message, ...failure } = failed.failure;
    const hidden = "Incorrect API key provided: [secret:key], also known as [secret:key], [secret:key] You said: Hello there.";
    expect(message).toBe(provider.name === "workers-ai" ? words : hidden);
    const told = JSON.stringify([{ ...failed, failure }]);
    expect(told).toMatch(
      /^\[\{"type":"failure","failure":\{(?:"(?:kind|status|limit|window|retry_after_ms)":(?:"\w+"|\d+|null),?|"reported":\{(?:"(?:code|type|param)":"[\w.[\]-]{1,64}",?)+\},?)+\}\}\]$/,
    );
  });

  it("is unavailable when the connection breaks in the middle, ends too early, or is closed without an answer", async () => {
    bench.standIn.enqueue(
      { ...begun, mishap: { type: "cut" } },
      { ...begun, mishap: { type: "unfinished" } },
      { blocks: [], mishap: { type: "hang_up" } },
    );
    const [cut, unfinished, hungUp] = [await ask(bench), await ask(bench), await ask(bench)];
    expect([cut, unfinished].map((chunks) => joinText(chunks))).toEqual(["As I was saying", "As I was saying"]);
    for (const chunks of [cut, unfinished, hungUp])
      expect(findEnd(chunks)).toEqual({ type: "failure", failure: { kind: "unavailable", status: null } });
  });

  it("is unavailable when a call breaks off, and the half of it is not given out", async () => {
    bench.standIn.enqueue({ blocks: [{ type: "call", name: "lookup", arguments: '{"q":"a"}' }], mishap: { type: "cut" } });
    const chunks = await ask(bench);
    expect(chunks).toEqual([{ type: "failure", failure: { kind: "unavailable", status: null } }]);
  });

  it.each([{ type: "stall" }, { type: "silence" }] as const)(
    "is aborted when the caller aborts a $type, and the provider's socket closes",
    async (mishap) => {
      const before = bench.standIn.log.length;
      bench.standIn.enqueue({ ...begun, mishap });
      const caller = new AbortController();
      const kinds: string[] = [];
      const running = (async () => {
        for await (const chunk of bench.model.stream(requestTo(bench), { signal: caller.signal })) {
          kinds.push(chunk.type === "failure" ? chunk.failure.kind : chunk.type);
          if (mishap.type === "stall") caller.abort();
        }
      })();
      const heard = await bench.standIn.request(before + 1);
      if (mishap.type === "silence") caller.abort();
      await running;
      expect(kinds.at(-1)).toBe("aborted");
      expect(kinds.filter((kind) => kind !== "text")).toEqual(["aborted"]);
      expect(await heard.closed).toBe("left");
    },
  );

  it("is aborted when the caller aborts while an error's body does not end, and the provider's socket closes", async () => {
    const before = bench.standIn.log.length;
    const refusal = { status: 500, body: { error: { message: "It" } }, endless: true } as const;
    bench.standIn.enqueue({ blocks: [], mishap: { type: "refuse", refusal } });
    const caller = new AbortController();
    // The response's headers have arrived, and its body is being read.
    const onAlive = () => void setImmediate(() => caller.abort());
    const chunks = await ask(bench, {}, { signal: caller.signal, onAlive });
    expect(chunks).toEqual([{ type: "failure", failure: { kind: "aborted", status: null } }]);
    expect(await bench.standIn.log[before]?.closed).toBe("left");
  });

  it("is aborted before anything is sent, when the signal was aborted before", async () => {
    const before = bench.standIn.log.length;
    const chunks = await ask(bench, {}, { signal: AbortSignal.abort() });
    expect(chunks).toEqual([{ type: "failure", failure: { kind: "aborted", status: null } }]);
    expect(bench.standIn.log).toHaveLength(before);
  });

  it("closes the socket when the caller stops listening", async () => {
    const before = bench.standIn.log.length;
    bench.standIn.enqueue({ ...begun, mishap: { type: "stall" } });
    for await (const _ of bench.model.stream(requestTo(bench), { signal: new AbortController().signal })) break;
    expect(await bench.standIn.log[before]?.closed).toBe("left");
  });

  it("is an overflow, with the window as its limit, when a prompt is above it", async () => {
    const words = "The road was long and the weather was fair. ".repeat(7_000);
    const overflow = await ask(bench, { messages: [{ role: "user", parts: [{ type: "text", text: words }] }] });
    expect(findEnd(overflow)).toMatchObject({ type: "failure", failure: { kind: "overflow", limit: 60_000 } });
    expect(bench.standIn.log.at(-1)?.refusal).not.toBeNull();
  });
});

describe("the classes of failures", () => {
  /** Failures that no adapter can receive from a provider. */
  const ours = ["aborted"];
  it("are each shown with each provider's own words, where it has any for it", () => {
    const missing = PROVIDERS_UNDER_TEST.map(({ name, failures }) => {
      const heard = [...failures.refusals, ...failures.events].map(({ kind }) => kind as string);
      const shown = new Set([...heard, ...(failures.unheard ?? [])]);
      return [name, FAILURE_KINDS.filter((kind) => !shown.has(kind) && !ours.includes(kind))] as const;
    });
    expect(Object.fromEntries(missing.filter(([, kinds]) => kinds.length > 0))).toEqual({});
  });
});
