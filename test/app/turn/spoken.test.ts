/** The assembly of a reply: blocks in their order, with the metadata that their provider needs back. */
import { describe, expect, test } from "vitest";
import { ReplyAssembly } from "../../../src/app/turn/reply-assembly";
import type { ToolCallPart } from "../../../src/domain/message";

const call = (n: number): ToolCallPart => ({ type: "tool_call", call_id: `call_${n}`, name: "look_up", arguments: "{}" });
const signature = (of: string) => ({ anthropic: { signature: of } });

describe("words and thoughts", () => {
  test("of one block are one part, however many pieces they came in", () => {
    const spoken = new ReplyAssembly();
    for (const text of ["Good", " ", "morning"]) spoken.add("text", { text });
    expect(spoken.whole.words).toEqual([{ type: "text", text: "Good morning" }]);
  });

  test("keep their order, block by block", () => {
    const spoken = new ReplyAssembly();
    spoken.add("reasoning", { text: "hm", block: "0" });
    spoken.add("text", { text: "a", block: "1" });
    spoken.add("text", { text: "b", block: "2" });
    spoken.add("reasoning", { text: "so", block: "3" });
    expect(spoken.whole.words.map((part) => [part.type, "text" in part && part.text])).toEqual([
      ["reasoning", "hm"],
      ["text", "a"],
      ["text", "b"],
      ["reasoning", "so"],
    ]);
  });

  test("get the signature that comes at their end, beside what came at their start", () => {
    const spoken = new ReplyAssembly();
    spoken.add("reasoning", { text: "hm", block: "0", provider_metadata: { openai: { itemId: "rs_1" } } });
    spoken.add("reasoning", { text: "", block: "0", provider_metadata: { openai: { reasoningEncryptedContent: "gAAA" } } });
    expect(spoken.whole.words).toEqual([
      { type: "reasoning", text: "hm", provider_metadata: { openai: { itemId: "rs_1", reasoningEncryptedContent: "gAAA" } } },
    ]);
  });

  test("that were redacted by the provider are a part without words; an empty piece is none", () => {
    const spoken = new ReplyAssembly();
    spoken.add("reasoning", { text: "", block: "0", provider_metadata: { anthropic: { redactedData: "EmwK" } } });
    spoken.add("text", { text: "", block: "1" });
    expect(spoken.whole.words).toEqual([{ type: "reasoning", text: "", provider_metadata: { anthropic: { redactedData: "EmwK" } } }]);
    expect(spoken.hasWords).toBe(false);
  });
});

describe("thinking between calls", () => {
  const interleaved = (): ReplyAssembly => {
    const spoken = new ReplyAssembly();
    spoken.add("reasoning", { text: "first", block: "0", provider_metadata: signature("a") });
    spoken.add("text", { text: "I look.", block: "1" });
    spoken.addCall(call(1));
    spoken.add("reasoning", { text: "then", block: "3", provider_metadata: signature("b") });
    spoken.add("text", { text: " And there.", block: "4" });
    spoken.addCall(call(2));
    spoken.add("text", { text: " Wait.", block: "6" });
    return spoken;
  };

  test("stays right before the call that it led to", () => {
    const { words, calls } = interleaved().whole;
    expect(calls).toEqual([
      { call: call(1), thinking: [] },
      { call: call(2), thinking: [{ type: "reasoning", text: "then", provider_metadata: signature("b") }] },
    ]);
    expect(words.map((part) => "text" in part && part.text)).toEqual(["first", "I look.", " And there.", " Wait."]);
  });

  test("of one block id is two blocks if a call stands between them", () => {
    const spoken = new ReplyAssembly();
    spoken.add("reasoning", { text: "one" });
    spoken.addCall(call(1));
    spoken.add("reasoning", { text: "two" });
    spoken.addCall(call(2));
    expect(spoken.whole.calls[1]?.thinking).toEqual([{ type: "reasoning", text: "two" }]);
    expect(spoken.whole.words).toEqual([{ type: "reasoning", text: "one" }]);
  });

  test("and every call and word is in the whole reply exactly once", () => {
    const { words, calls } = interleaved().whole;
    const all = [...words, ...calls.flatMap(({ thinking }) => thinking)].map((part) => ("text" in part ? part.text : ""));
    expect(all.sort()).toEqual(["first", "I look.", "then", " And there.", " Wait."].sort());
  });
});

test("a reply that is cut off keeps its words and gives back nothing that a provider signed", () => {
  const spoken = new ReplyAssembly();
  spoken.add("reasoning", { text: "hm", provider_metadata: signature("a") });
  spoken.add("text", { text: "Good mor" });
  spoken.addCall(call(1));
  expect(spoken.partial).toEqual([
    { type: "reasoning", text: "hm" },
    { type: "text", text: "Good mor" },
  ]);
});

test("its size counts text, arguments and metadata", () => {
  const spoken = new ReplyAssembly();
  spoken.add("text", { text: "1234" });
  spoken.add("reasoning", { text: "56", provider_metadata: signature("s".repeat(100)) });
  spoken.addCall({ ...call(1), provider_metadata: { google: { thoughtSignature: "t".repeat(200) } } });
  expect(spoken.units).toBeGreaterThanOrEqual(4 + 2 + 100 + 2 + 200);
});
