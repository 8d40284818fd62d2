/** Signed content: when the view sends it back, to which model, and its size. */
import { describe, expect, test } from "vitest";
import { estimateThinking } from "../../src/context/item-tokens";
import { buildView, type ViewEntry, type ViewInput } from "../../src/context/view";
import type { ItemMeta, Part } from "../../src/domain/message";
import { call, item, result, turnId } from "../support/builders";

const SIGNED = { model: "opus", tokens: 50 } as const;
const thought = (n: number): Part => ({
  type: "reasoning",
  text: `thought ${n}`,
  provider_metadata: { anthropic: { signature: `s${n}` } },
});

const plain: Omit<ViewInput, "entries"> = {
  system: null,
  pins: [],
  summaries: [],
  dropped: 0,
  placement: "user-message",
  reduced: [],
  namesRecall: false,
  signedFrom: 1,
  model: "opus",
};

const said = (position: number, ...parts: readonly Part[]): ViewEntry => ({ meta: item(position, "assistant", { signed: SIGNED }), parts });
const asked = (position: number): ViewEntry => ({ meta: item(position, "user"), parts: [{ type: "text", text: `question ${position}` }] });

/** Two turns: a thought and an answer; then a thought, a call, a second thought before a second call, and their results. */
const ENTRIES: readonly ViewEntry[] = [
  asked(1),
  said(2, thought(1), { type: "text", text: "an answer", provider_metadata: { anthropic: { citations: [] } } }),
  asked(3),
  { meta: item(4, "assistant", { signed: SIGNED, turn: turnId(2) }), parts: [thought(2)] },
  {
    meta: call(5, 1, { signed: SIGNED, turn: turnId(2) }),
    parts: [{ type: "tool_call", call_id: "call_1", name: "look_up", arguments: "{}" }],
  },
  {
    meta: call(6, 2, { signed: SIGNED, turn: turnId(2) }),
    parts: [thought(3), { type: "tool_call", call_id: "call_2", name: "look_up", arguments: "{}", provider_metadata: { google: {} } }],
  },
  {
    meta: result(7, 1, { turn: turnId(2) }),
    parts: [{ type: "tool_result", call_id: "call_1", name: "look_up", output: "one", is_error: false }],
  },
  {
    meta: result(8, 2, { turn: turnId(2) }),
    parts: [{ type: "tool_result", call_id: "call_2", name: "look_up", output: "two", is_error: false }],
  },
];

const viewParts = (change: Partial<ViewInput>): readonly Part[] =>
  buildView({ ...plain, entries: ENTRIES, ...change }).messages.flatMap(({ parts }) => parts);
const thoughts = (change: Partial<ViewInput> = {}): string[] =>
  viewParts(change).flatMap((part) => (part.type === "reasoning" ? [part.text] : []));

describe("what a provider signed", () => {
  test("goes back to the model that wrote it, byte for byte, each block where it stood", () => {
    const parts = viewParts({});
    expect(parts).toContain(ENTRIES[1]?.parts[0]);
    expect(parts.map(({ type }) => type)).toEqual([
      "text",
      "reasoning",
      "text",
      "text",
      "reasoning",
      "tool_call",
      "reasoning",
      "tool_call",
      "tool_result",
      "tool_result",
    ]);
  });

  test("before the boundary is left out completely: thinking, ids and signatures", () => {
    expect(thoughts({ signedFrom: 3 })).toEqual(["thought 2", "thought 3"]);
    expect(viewParts({ signedFrom: 3 })[1]).toEqual({ type: "text", text: "an answer" });
    expect(JSON.stringify(viewParts({ signedFrom: 9 }))).not.toContain("provider_metadata");
  });

  test("is left out for another model, and everything else stays", () => {
    expect(thoughts({ model: "sonnet" })).toEqual([]);
    const words = viewParts({ model: "sonnet" }).filter(({ type }) => type !== "reasoning");
    expect(words).toHaveLength(viewParts({}).length - 3);
    expect(JSON.stringify(words)).not.toContain("provider_metadata");
  });

  test("is not taken out of the record", () => {
    const before = structuredClone(ENTRIES);
    viewParts({ model: "sonnet", signedFrom: 9 });
    expect(ENTRIES).toEqual(before);
  });

  test("of an imported message, whose model is unknown, goes back to every model until a boundary", () => {
    const meta: ItemMeta = item(1, "assistant");
    expect(buildView({ ...plain, entries: [{ meta, parts: [thought(9)] }], model: "any" }).messages[0]?.parts).toEqual([thought(9)]);
  });
});

describe("the weight of signed thinking", () => {
  test("is that of its text, or of its placeholder if that is larger", () => {
    const opaque = (length: number): Part => ({
      type: "reasoning",
      text: "hm",
      provider_metadata: { openai: { encrypted: "g".repeat(length) } },
    });
    expect(estimateThinking([opaque(6_000)])).toBeGreaterThan(1_000);
    expect(estimateThinking([opaque(6_000)])).toBeLessThan(1_100);
    const words: Part = {
      type: "reasoning",
      text: "a thought of several words ".repeat(100),
      provider_metadata: { anthropic: { signature: "s" } },
    };
    expect(estimateThinking([words])).toBeGreaterThan(400);
  });

  test("is nothing where it is not signed: it does not go back", () => {
    expect(estimateThinking([{ type: "reasoning", text: "a thought ".repeat(100) }])).toBe(0);
  });
});
