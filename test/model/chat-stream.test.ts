import { describe, expect, it } from "vitest";
import type { ModelStreamPart } from "../../src/app/ports";
import { ReplyDecoder } from "../../src/model/chat-stream";
import { spokenText } from "./model-request";

const event = (delta: object, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const call = (changes: object, fn: object = {}) => event({ tool_calls: [{ ...changes, function: fn }] });
const done = "data: [DONE]\n\n";

/** The output when the wire delivers these pieces, one in each read. */
function read(...pieces: readonly (string | Uint8Array)[]): readonly ModelStreamPart[] {
  const decoder = new ReplyDecoder();
  const read = pieces.flatMap((piece) => decoder.read(typeof piece === "string" ? new TextEncoder().encode(piece) : piece));
  return decoder.over ? read : [...read, ...decoder.end()];
}

const calls = (chunks: readonly ModelStreamPart[]) => chunks.flatMap((chunk) => (chunk.type === "tool_call" ? [chunk.call] : []));
const stopped = { type: "finish", finish: "stop", usage: null };

/** CPU time, which other processes do not affect. The minimum of three runs after one to warm up. */
function measureCost(work: () => void): number {
  work();
  const costs = Array.from({ length: 3 }, () => {
    const from = process.cpuUsage();
    work();
    return process.cpuUsage(from).user;
  });
  return Math.max(1, Math.min(...costs));
}

describe("a line that comes in many pieces", () => {
  const encodeLine = (units: number) => new TextEncoder().encode(event({ content: "x".repeat(units) }, "stop"));
  const readIn = (bytes: Uint8Array, size: number): readonly ModelStreamPart[] => {
    const decoder = new ReplyDecoder();
    const chunks: ModelStreamPart[] = [];
    for (let at = 0; at < bytes.length; at += size) chunks.push(...decoder.read(bytes.subarray(at, at + size)));
    return decoder.over ? chunks : [...chunks, ...decoder.end()];
  };

  it("costs as much for each character however long it is", () => {
    const [short, long] = [encodeLine(160_000), encodeLine(1_600_000)];
    const ofShort = measureCost(() => {
      for (let n = 0; n < 10; n++) readIn(short, 16);
    });
    expect(measureCost(() => readIn(long, 16)) / ofShort).toBeLessThan(4);
  });

  it("is cut off where it is longer than a line may be, in one read or in many", () => {
    for (const size of [4_000_000, 65_536]) {
      expect(readIn(encodeLine(2_000_000), size)).toEqual([{ type: "failure", failure: { kind: "unavailable", status: null } }]);
    }
    expect(readIn(encodeLine(1_900_000), 65_536).at(-1)).toMatchObject({ type: "finish" });
  });
});

describe("a streamed chat completion", () => {
  it("is read wherever the network cuts it, even inside a character", () => {
    const whole = new TextEncoder().encode(`: comment\r\n\r\n${event({ content: "日本🦒" })}${event({ content: "!" }, "stop")}${done}`);
    const pieces = Array.from(whole, (byte) => new Uint8Array([byte]));
    const chunks = read(...pieces);
    expect(chunks).toEqual([{ type: "text", text: "日本🦒" }, { type: "text", text: "!" }, stopped]);
  });

  it("gives the text of one read as one chunk", () => {
    const chunks = read(event({ content: "a" }) + event({ content: "b" }), event({}, "stop") + done);
    expect(chunks).toEqual([{ type: "text", text: "ab" }, stopped]);
  });

  it("takes reasoning by each of its names, and content given as parts", () => {
    const thinking = { content: [{ type: "thinking", thinking: [{ type: "text", text: "c" }] }] };
    const chunks = read(
      event({ reasoning_content: "a" }) + event({ reasoning: "b" }) + event(thinking) + event({ content: [{ type: "text", text: "d" }] }),
      event({}, "stop"),
    );
    expect(chunks).toEqual([{ type: "reasoning", text: "abc" }, { type: "text", text: "d" }, stopped]);
  });

  it("takes a refusal as text", () => {
    expect(read(event({ refusal: "I will not." }), event({}, "stop"))).toEqual([{ type: "text", text: "I will not." }, stopped]);
  });

  it.each<[string, object, object | null]>([
    ["whole numbers", { prompt_tokens: 12, completion_tokens: 3 }, { input: 12, output: 3, cached: 0, reasoning: 0 }],
    ["zeros", { prompt_tokens: 0, completion_tokens: 0 }, { input: 0, output: 0, cached: 0, reasoning: 0 }],
    ["parts of a token", { prompt_tokens: 12.5, completion_tokens: 3 }, null],
    ["less than nothing", { prompt_tokens: 12, completion_tokens: -1 }, null],
    ["more than any model takes", { prompt_tokens: 1e308, completion_tokens: 3 }, null],
    ["a reply alone", { completion_tokens: 3 }, null],
    [
      "parts that cannot be",
      {
        prompt_tokens: 12,
        completion_tokens: 3,
        prompt_tokens_details: { cached_tokens: -4 },
        completion_tokens_details: { reasoning_tokens: 1e308 },
      },
      { input: 12, output: 3, cached: 0, reasoning: 0 },
    ],
  ])("takes usage in %s for what it says, or for not reported", (_what, usage, taken) => {
    const told = `data: ${JSON.stringify({ choices: [], usage })}\n\n`;
    expect(read(event({ content: "a" }, "stop"), told).at(-1)).toEqual({ ...stopped, usage: taken });
  });

  it("is well formed in all that is kept: half a character is replaced, wherever it stands", () => {
    const args = call({ index: 0, id: "c\ud800" }, { name: "t\udc00", arguments: '{"a":"\ud83d' });
    const chunks = read(
      event({ reasoning: "why\ud83d" }),
      event({ content: "a\udc00b" }) + event({ content: "c\ud83d" }) + args + call({ index: 0 }, { arguments: '"}' }),
      event({}, "tool_calls"),
    );
    expect(chunks).toEqual([
      { type: "reasoning", text: "why" },
      { type: "reasoning", text: "\ufffd" },
      { type: "text", text: "a\ufffdbc" },
      { type: "text", text: "\ufffd" },
      { type: "tool_call", call: { type: "tool_call", call_id: "c\ufffd", name: "t\ufffd", arguments: '{"a":"\ufffd"}' } },
      { type: "finish", finish: "tool_calls", usage: null },
    ]);
  });

  it("keeps a character whose halves come one after the other, in text and in arguments", () => {
    const [high, low] = ["\ud83e", "\udd92"];
    const chunks = read(
      event({ content: `a${high}` }),
      event({ content: `${low}b${high}` }) + event({ content: low }),
      call({ index: 0, id: "c" }, { name: "f", arguments: `"${high}` }) + call({ index: 0 }, { arguments: `${low}"` }),
      event({}, "tool_calls"),
    );
    expect(spokenText(chunks)).toBe("a🦒b🦒");
    expect(calls(chunks)).toMatchObject([{ arguments: '"🦒"' }]);
  });

  it("gives half a character that nothing follows before the failure", () => {
    expect(read(event({ content: "\ud83d" }))).toEqual([
      { type: "text", text: "\ufffd" },
      { type: "failure", failure: { kind: "unavailable", status: null } },
    ]);
    expect(read(event({ content: "\ud83d" }), "data: nonsense\n\n")[0]).toEqual({ type: "text", text: "\ufffd" });
  });

  it("puts interleaved tool calls together by their index", () => {
    const chunks = read(
      call({ index: 0, id: "a" }, { name: "one", arguments: "" }),
      call({ index: 1, id: "b" }, { name: "two", arguments: '{"y"' }),
      call({ index: 0 }, { arguments: '{"x"' }),
      call({ index: 1 }, { arguments: ":2}" }),
      call({ index: 0 }, { arguments: ":1}" }),
      event({}, "tool_calls"),
    );
    expect(calls(chunks)).toEqual([
      { type: "tool_call", call_id: "a", name: "one", arguments: '{"x":1}' },
      { type: "tool_call", call_id: "b", name: "two", arguments: '{"y":2}' },
    ]);
  });

  it("tells calls apart when the provider numbers all of them 0, or none", () => {
    const sameIndex = read(
      call({ index: 0, id: "a" }, { name: "f", arguments: "1" }),
      call({ index: 0, id: "b" }, { name: "f", arguments: "2" }),
      event({}, "stop"),
    );
    const noIndex = read(
      call({ id: "a" }, { name: "f", arguments: "1" }),
      call({}, { arguments: "0" }),
      call({ id: "a" }, { name: "f", arguments: "2" }),
      event({}, "stop"),
    );
    expect(calls(sameIndex).map((part) => [part.call_id, part.arguments])).toEqual([
      ["a", "1"],
      ["b", "2"],
    ]);
    expect(calls(noIndex).map((part) => [part.call_id, part.arguments])).toEqual([
      ["a", "10"],
      ["a", "2"],
    ]);
  });

  it.each<[string, readonly object[], readonly object[]]>([
    ["an id", [{ id: "a" }, { id: "a" }, { id: "b" }], [{ id: "a" }]],
    ["no id", [{}, {}, {}], [{}]],
  ])("joins the pieces of a call that repeat its name and %s, without an index", (_what, [first = {}, second = {}, other = {}]) => {
    const chunks = read(
      call(first, { name: "f", arguments: '{"x"' }) + call(second, { name: "f", arguments: ":1}" }),
      call(other, { name: "f", arguments: '{"x":2}' }) + call({ ...other }, { arguments: "" }),
      event({}, "tool_calls"),
    );
    expect(calls(chunks).map(({ name, arguments: args }) => [name, args])).toEqual([
      ["f", '{"x":1}'],
      ["f", '{"x":2}'],
    ]);
  });

  it("takes arguments as an object, and the form of a call from before there were several", () => {
    const asObject = read(call({ index: 0, id: "a" }, { name: "f", arguments: { city: "東京", n: 1 } }), event({}, "tool_calls"));
    expect(calls(asObject)).toMatchObject([{ name: "f", arguments: '{"city":"東京","n":1}' }]);
    const old = (fn: object, finish: string | null = null): string => event({ function_call: fn }, finish);
    const chunks = read(old({ name: "f", arguments: '{"x"' }), old({ arguments: ":1}" }), old({}, "function_call"));
    expect(calls(chunks)).toMatchObject([{ call_id: "call_0", name: "f", arguments: '{"x":1}' }]);
    expect(chunks.at(-1)).toMatchObject({ type: "finish", finish: "tool_calls" });
  });

  it("takes a chunk in the form of a whole reply", () => {
    const whole = { choices: [{ index: 0, message: { role: "assistant", content: "a" }, finish_reason: "stop" }] };
    expect(read(`data: ${JSON.stringify(whole)}\n\n`)).toEqual([{ type: "text", text: "a" }, stopped]);
  });

  it.each([false, "", {}, null])("takes an error member that is %j for none", (error) => {
    const chunk = { choices: [{ index: 0, delta: { content: "a" }, finish_reason: "stop" }], error };
    expect(read(`data: ${JSON.stringify(chunk)}\n\n`)).toEqual([{ type: "text", text: "a" }, stopped]);
  });

  it("passes over words that are no event, as of a ping", () => {
    expect(read("event: ping\ndata: ping\n\n", event({ content: "a" }), "data: ping\n\n", event({}, "stop"))).toEqual([
      { type: "text", text: "a" },
      stopped,
    ]);
    // Without the blank line behind it.
    expect(read("data: ping\n", event({ content: "a" }, "stop"))).toEqual([{ type: "text", text: "a" }, stopped]);
  });

  it("reads lines that end with CR, LF or both, wherever they are cut, and an event over several lines of data", () => {
    const pretty = JSON.stringify({ choices: [{ index: 0, delta: { content: "a🦒" }, finish_reason: "stop" }] }, null, 2);
    const lines = [": hello", "", ...pretty.split("\n").map((line) => `data: ${line}`), "", ""];
    for (const end of ["\n", "\r\n", "\r"]) {
      const bytes = new TextEncoder().encode(lines.join(end));
      expect(read(bytes)).toEqual([{ type: "text", text: "a🦒" }, stopped]);
      expect(read(...Array.from(bytes, (byte) => new Uint8Array([byte])))).toEqual([{ type: "text", text: "a🦒" }, stopped]);
    }
  });

  it.each<[string, object]>([
    ["other names", { usage: { input_tokens: 12, output_tokens: 3, input_tokens_details: { cached_tokens: 4 } } }],
    ["Groq's own place", { x_groq: { usage: { prompt_tokens: 12, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 4 } } } }],
    ["Moonshot's choice", { choices: [{ index: 0, delta: {}, usage: { prompt_tokens: 12, completion_tokens: 3, cached_tokens: 4 } }] }],
  ])("takes usage under %s", (_what, told) => {
    const chunks = read(event({ content: "a" }, "stop"), `data: ${JSON.stringify({ choices: [], ...told })}\n\n`);
    expect(chunks.at(-1)).toEqual({ ...stopped, usage: { input: 12, output: 3, cached: 4, reasoning: 0 } });
  });

  it("tells what was counted so far, so that a reply that is stopped has a count", () => {
    const counted = (content: string, completion_tokens: number) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: null }], usage: { prompt_tokens: 9, completion_tokens } })}\n\n`;
    const usage = (output: number) => ({ type: "usage", usage: { input: 9, output, cached: 0, reasoning: 0 } });
    const decoder = new ReplyDecoder();
    const bytes = (text: string) => new TextEncoder().encode(text);
    expect(decoder.read(bytes(counted("a", 1) + counted("b", 2)))).toEqual([{ type: "text", text: "ab" }, usage(2)]);
    expect(decoder.read(bytes(event({ content: "c" })))).toEqual([{ type: "text", text: "c" }]);
    expect(decoder.read(bytes(counted("d", 3)))).toEqual([{ type: "text", text: "d" }, usage(3)]);
  });

  it("says tool_calls when a provider ends a reply with calls by stop", () => {
    const chunks = read(call({ index: 0, id: "a" }, { name: "f", arguments: "{}" }), event({}, "stop"));
    expect(chunks.at(-1)).toMatchObject({ finish: "tool_calls" });
  });

  it("keeps the signature that must come back with a call", () => {
    const signed = { index: 0, id: "a", extra_content: { google: { thought_signature: "sig" } } };
    const chunks = read(call(signed, { name: "f", arguments: "{}" }), event({}, "tool_calls"));
    expect(calls(chunks)[0]?.provider_metadata).toEqual({ google: { thoughtSignature: "sig" } });
  });

  it("counts cached and reasoning tokens from the last usage that it saw", () => {
    const usage = {
      prompt_tokens: 90,
      completion_tokens: 20,
      prompt_tokens_details: { cached_tokens: 64 },
      completion_tokens_details: { reasoning_tokens: 8 },
    };
    const chunks = read(event({ content: "a" }, "stop"), `data: ${JSON.stringify({ choices: [], usage })}\n\n`, done);
    expect(chunks.at(-1)).toEqual({ type: "finish", finish: "stop", usage: { input: 90, output: 20, cached: 64, reasoning: 8 } });
  });
});

describe("a stream fails", () => {
  const cut = { type: "failure", failure: { kind: "unavailable", status: null } };

  it("as unavailable when it ends without a finish reason, also after [DONE]", () => {
    expect(read(event({ content: "a" })).at(-1)).toEqual(cut);
    expect(read(event({ content: "a" }), done).at(-1)).toEqual(cut);
    expect(read()).toEqual([cut]);
  });

  it("as unavailable when an event is broken JSON", () => {
    expect(read('data: {"choices": [\n\n', event({}, "stop")).at(-1)).toMatchObject(cut);
  });

  it("by the words that came in place of a reply, or under the name of an error", () => {
    const overflow = { type: "failure", failure: { kind: "overflow", status: null, limit: 4_096 } };
    expect(read("data: This model's maximum context length is 4096 tokens.\n\n")).toMatchObject([overflow]);
    expect(read("event: error\ndata: maximum context length is 4096 tokens\n\n", event({}, "stop"))).toMatchObject([overflow]);
    const said = `event: error\ndata: ${JSON.stringify({ message: "maximum context length is 4096 tokens" })}\n\n`;
    expect(read(said, event({}, "stop"))).toMatchObject([overflow]);
  });

  it("by the class and status of an error event, and nothing follows it", () => {
    const error = { message: "Rate limit reached", code: 429 };
    const chunks = read(`${event({ content: "a" })}data: ${JSON.stringify({ error })}\n\n${event({ content: "b" }, "stop")}`);
    expect(chunks).toMatchObject([
      { type: "text", text: "a" },
      { type: "failure", failure: { kind: "rate_limit", status: 429 } },
    ]);
  });

  it("as overflow when the finish reason says so and nothing was said", () => {
    const chunks = read(event({}, "model_context_window_exceeded"));
    expect(chunks).toEqual([{ type: "failure", failure: { kind: "overflow", status: null } }]);
  });
});

describe("a provider that says more than it may", () => {
  const over = [{ type: "failure", failure: { kind: "unavailable", status: null } }];
  const long = (units: number) => "x".repeat(units);

  it("by a call's id or name ends the reply at once, and none of it is a call", () => {
    expect(read(call({ index: 0, id: long(4_097) }, { name: "search" }), event({}, "tool_calls"))).toEqual(over);
    expect(read(call({ index: 0, id: "a" }, { name: long(257) }), event({}, "tool_calls"))).toEqual(over);
  });

  it("by a call's signature, or by all signatures together", () => {
    const signed = (index: number, units: number) =>
      call({ index, id: `c${index}`, extra_content: { google: { thought_signature: long(units) } } }, { name: "search" });
    const many = (count: number) => Array.from({ length: count }, (_, index) => signed(index, 100_000));

    expect(calls(read(...many(10), event({}, "tool_calls")))).toHaveLength(10);
    expect(read(signed(0, 100_001), event({}, "tool_calls"))).toEqual(over);
    expect(read(...many(11), event({}, "tool_calls"))).toEqual(over);
  });

  it("by the number of calls", () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => call({ index, id: `c${index}` }, { name: "search" }));

    expect(calls(read(...many(128), event({}, "tool_calls")))).toHaveLength(128);
    expect(read(...many(129), event({}, "tool_calls"))).toEqual(over);
  });

  it("by the arguments of all calls together", () => {
    const pieces = Array.from({ length: 5 }, () => call({ index: 0 }, { arguments: long(250_000) }));

    expect(read(call({ index: 0, id: "a" }, { name: "write" }), ...pieces)).toEqual(over);
  });

  it("just as much as it may is taken as it is: a gateway's id may hold more than a name", () => {
    const chunks = read(call({ index: 0, id: long(4_096) }, { name: long(256), arguments: long(1_000_000) }), event({}, "tool_calls"));

    expect(calls(chunks)).toEqual([{ type: "tool_call", call_id: long(4_096), name: long(256), arguments: long(1_000_000) }]);
  });

  it("what came before stays said", () => {
    const chunks = read(
      event({ content: "Let me see." }),
      call({ index: 0, id: long(5_000) }, { name: "search" }),
      event({ content: "more" }),
    );

    expect(chunks).toEqual([{ type: "text", text: "Let me see." }, ...over]);
  });
});
