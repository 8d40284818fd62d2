/** A source that is larger than the summariser's window is read in chunks: every word once, in order. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { renderEntry, type TranscriptEntry } from "../../src/context/prompts";
import { type ChunkCursor, takeChunk } from "../../src/context/summary-chunks";
import { estimateTokens } from "../../src/context/tokens";
import type { ItemMeta } from "../../src/domain/message";
import { call, item, result, turnId } from "../support/builders";
import { drawn } from "../support/effort";

const says = (meta: ItemMeta, text: string): TranscriptEntry => ({ meta, parts: [{ type: "text", text }] });
const words = (count: number): string => Array.from({ length: count }, (_, n) => `w${n}`).join(" ");
/**
 * Text in which no character weighs as much as many letters. Of other text, the smallest piece that can be cut off may
 * exceed the rest of a chunk.
 */
const LEAST_TEXT = /^[\x20-\x7e\n]*$/;
const START: ChunkCursor = { position: 1, chars: 0 };

/** All chunks, and the positions at which they begin. */
function readAll(entries: readonly TranscriptEntry[], room: number): { parts: (readonly string[])[]; starts: ChunkCursor[] } {
  const parts: (readonly string[])[] = [];
  const starts: ChunkCursor[] = [START];
  for (let next: ChunkCursor | null = START; next; ) {
    const from: ChunkCursor = next;
    const chunk = takeChunk(
      entries.filter(({ meta }) => meta.position >= from.position),
      from,
      room,
    );
    parts.push(chunk.lines);
    if (parts.length > 10_000) throw new Error("the fold does not end");
    next = chunk.next;
    if (next) starts.push(next);
  }
  return { parts, starts };
}

const whole = (entries: readonly TranscriptEntry[]): string => entries.map(renderEntry).join("");
const read = (parts: readonly (readonly string[])[]): string => parts.flat().join("");

describe("a part", () => {
  test("is the only one when all fits", () => {
    const entries = [says(item(1, "user"), "hello"), says(item(2, "assistant"), "hi")];
    expect(takeChunk(entries, START, 1_000)).toEqual({ lines: ["User: hello", "Assistant: hi"], next: null });
    expect(takeChunk([], START, 1_000)).toEqual({ lines: [], next: null });
  });

  test("ends at a group: a call is not read without its result", () => {
    const turn = turnId(1);
    const entries = [
      says(item(1, "user"), words(500)),
      says(item(2, "assistant", { turn }), words(50)),
      says(call(3, 3, { turn }), words(50)),
      says(result(4, 3, { turn }), words(200)),
      says(item(5, "user"), words(20)),
    ];
    const room = estimateTokens(entries.slice(0, 3).map(renderEntry).join("")) + 20;
    expect(takeChunk(entries, START, room)).toMatchObject({
      lines: [renderEntry(entries[0] as TranscriptEntry)],
      next: { position: 2, chars: 0 },
    });
  });

  test("ends at an item when the group would leave much of the part unused", () => {
    const turn = turnId(1);
    const entries = [
      says(item(1, "assistant", { turn }), words(200)),
      says(call(2, 2, { turn }), words(200)),
      says(result(3, 2, { turn }), words(200)),
    ];
    const room = estimateTokens(renderEntry(entries[0] as TranscriptEntry)) + 50;
    expect(readAll(entries, room).starts).toEqual([START, { position: 2, chars: 0 }, { position: 3, chars: 0 }]);
  });

  test("is filled by the beginning of an item where one less would leave much of it unused", () => {
    const entries = [1, 2, 3, 4, 5].map((n) => says(item(n, n % 2 === 0 ? "assistant" : "user"), words(300)));
    const tokens = estimateTokens(renderEntry(entries[0] as TranscriptEntry));
    const { parts } = readAll(entries, Math.ceil(tokens * 1.6));
    expect(parts).toHaveLength(4);
    expect(read(parts)).toBe(whole(entries));
  });

  test("splits an item that is larger, and goes on inside it", () => {
    const entries = [says(item(1, "user"), words(3_000)), says(item(2, "assistant"), "read")];
    const { parts, starts } = readAll(entries, 2_000);
    expect(parts.length).toBeGreaterThan(3);
    expect(starts[1]).toMatchObject({ position: 1 });
    expect(read(parts)).toBe(whole(entries));
    for (const lines of parts) expect(estimateTokens(lines.join(""))).toBeLessThanOrEqual(2_010);
  });

  test("never splits inside a character", () => {
    const entries = [says(item(1, "user"), "😀".repeat(4_000))];
    const { parts } = readAll(entries, 700);
    for (const line of parts.flat()) expect(line.isWellFormed()).toBe(true);
    expect(read(parts)).toBe(whole(entries));
  });

  test("goes on though there is hardly any room", () => {
    const entries = [says(item(1, "user"), words(500)), says(item(2, "assistant"), words(5))];
    expect(read(readAll(entries, 0).parts)).toBe(whole(entries));
  });
});

test("whatever is said and however small the parts: together they are the source, each within its room", () => {
  const kind = fc.constantFrom("user", "assistant", "tool_call", "tool_result");
  const text = fc.oneof(fc.string({ unit: "grapheme", maxLength: 60 }), fc.integer({ min: 1, max: 400 }).map(words));
  fc.assert(
    fc.property(fc.array(fc.tuple(kind, text), { maxLength: 15 }), fc.integer({ min: 200, max: 1_500 }), (said, room) => {
      const entries = said.map(([what, words], n): TranscriptEntry => {
        const turn = turnId(1);
        if (what === "tool_call") return says(call(n + 1, n + 1, { turn }), words);
        return says(what === "tool_result" ? result(n + 1, n, { turn }) : item(n + 1, what, { turn }), words);
      });
      const { parts, starts } = readAll(entries, room);
      expect(read(parts)).toBe(whole(entries));
      const least = LEAST_TEXT.test(whole(entries)) ? room / 2 : 0;
      for (const lines of parts.slice(0, -1)) expect(estimateTokens(lines.join("\n"))).toBeGreaterThanOrEqual(least);
      for (const lines of parts) expect(lines.reduce((sum, line) => sum + estimateTokens(line), 0)).toBeLessThanOrEqual(room + 1);
      for (const [index, start] of starts.slice(1).entries()) {
        const before = starts[index] as ChunkCursor;
        expect(start.position > before.position || start.chars > before.chars).toBe(true);
      }
    }),
    { numRuns: drawn(150) },
  );
});
