/** Pure functions on the hot paths, in this process. */

import { estimateTokens } from "../src/context/tokens.ts";
import { truncateToolResult } from "../src/context/tool-results.ts";
import { findJsonFault } from "../src/http/json-check.ts";
import type { BenchResult } from "./support/report.ts";
import { timed } from "./support/timed.ts";

const MEGABYTE = 1_048_576;
/** The goal: a result is cut in less than 10 ms. */
const CUT_GOAL = { goal: 10 };

const fill = (text: string): string => text.repeat(Math.ceil(MEGABYTE / text.length)).slice(0, MEGABYTE);

/** A transcript as clients send it, with messages of 200 characters. */
function toBody(text: string, size: number): string {
  const messages = Array.from({ length: Math.floor(size / 235) }, (_, at) => {
    const from = (at * 97) % (text.length - 200);
    return { role: at % 2 === 0 ? "user" : "assistant", content: `${text.slice(from, from + 198)}"\n` };
  });
  return JSON.stringify({ model: "m", messages });
}

export function benchMicro(): BenchResult {
  const english = fill("It was read aloud, slowly, to a room of nineteen people who had come in from the rain. ");
  const json = fill('{"id":4711,"name":"a record","tags":["x","y"],"at":"2026-11-21T10:00:00Z"},');
  const emoji = fill("🙂");
  const body = toBody(english, MEGABYTE);
  const longBody = toBody(english, 8 * MEGABYTE);
  const dense = `[${"[1],".repeat((8 * MEGABYTE) / 64)}0]`;
  const chinese = fill("这是一段用来测量的文字,内容并不重要。");
  return {
    title: "Pure functions on 1 MB (1,048,576 UTF-16 units)",
    notes: ["Wall time in Node; medians of 21."],
    figures: [
      timed("truncateToolResult", () => truncateToolResult(english), CUT_GOAL),
      timed("truncateToolResult, cut inside an emoji", () => truncateToolResult(emoji, 30_001), CUT_GOAL),
      timed("estimateTokens, English", () => estimateTokens(english)),
      timed("estimateTokens, JSON", () => estimateTokens(json)),
      timed("estimateTokens, Chinese", () => estimateTokens(chinese)),
      timed("findJsonFault, a body of 1 MB", () => findJsonFault(body)),
      timed("JSON.parse of it", () => JSON.parse(body)),
      timed("findJsonFault, a body of 8 MB", () => findJsonFault(longBody)),
      timed("JSON.parse of it", () => JSON.parse(longBody)),
      timed("findJsonFault, 0.5 MB of lists", () => findJsonFault(dense)),
      timed("JSON.parse of it", () => JSON.parse(dense)),
    ],
  };
}
