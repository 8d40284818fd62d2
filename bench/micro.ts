/** Pure functions on their hot paths, in this process. */

import { estimateTokens } from "../src/context/tokens.ts";
import { truncateToolResult } from "../src/context/tool-results.ts";
import { type BenchResult, type Figure, measured } from "./support/report.ts";

const MEGABYTE = 1_048_576;
const SAMPLES = 21;
const WARM_UP = 5;

function timed(name: string, work: () => unknown, goal?: number): Figure {
  const samples: number[] = [];
  for (let round = -WARM_UP; round < SAMPLES; round++) {
    const startedAt = performance.now();
    work();
    if (round >= 0) samples.push(performance.now() - startedAt);
  }
  return measured(name, "ms", samples, goal);
}

const fill = (text: string): string => text.repeat(Math.ceil(MEGABYTE / text.length)).slice(0, MEGABYTE);

export function benchMicro(): BenchResult {
  const english = fill("It was read aloud, slowly, to a room of nineteen people who had come in from the rain. ");
  const json = fill('{"id":4711,"name":"a record","tags":["x","y"],"at":"2026-11-21T10:00:00Z"},');
  const emoji = fill("🙂");
  const chinese = fill("这是一段用来测量的文字,内容并不重要。");
  return {
    title: "Pure functions on 1 MB (1,048,576 UTF-16 units)",
    notes: [`Wall time in Node; medians of ${SAMPLES}.`],
    figures: [
      timed("truncateToolResult", () => truncateToolResult(english), 10),
      timed("truncateToolResult, cut inside an emoji", () => truncateToolResult(emoji, 30_001), 10),
      timed("estimateTokens, English", () => estimateTokens(english)),
      timed("estimateTokens, JSON", () => estimateTokens(json)),
      timed("estimateTokens, Chinese", () => estimateTokens(chinese)),
    ],
  };
}
