/** The requests for the chunks of a long source, from plain values. */
import { expect, test } from "vitest";
import type { ChunkRequest, NextChunk } from "../../../src/app/chunk-request";
import { buildChunkRequest } from "../../../src/app/compaction/summary-request";
import type { SessionContent } from "../../../src/app/session-ports";
import type { TranscriptEntry } from "../../../src/context/prompts";
import { estimateTokens } from "../../../src/context/tokens";
import type { ChunkProgress } from "../../../src/domain/compaction-events";
import { NOTHING_SPENT } from "../../../src/domain/compaction-spend";
import type { RequestedCompaction } from "../../../src/domain/compaction-work";
import type { TextRef } from "../../../src/domain/message";
import type { SessionState } from "../../../src/domain/state";
import { chat } from "../../context/planning";
import { SPEC } from "../../session/life";
import { id, summaryPlan, viewing } from "../../support/builders";

/** Each item is larger than half a chunk of the summariser's 8,000 tokens. */
const LARGE = "seventeen words that say nothing at all about any of the things that matter here today ".repeat(150);
const HISTORY = 64;
const PREFIX = 6;
const PLAN = summaryPlan(1, HISTORY + PREFIX, { split: HISTORY + 1 });
const STATE = viewing(chat(HISTORY + PREFIX, 10));

const ENTRIES: readonly TranscriptEntry[] = STATE.view.items.map((meta) => ({
  meta,
  parts: [{ type: "text", text: `said-${meta.position} ${meta.position <= HISTORY ? LARGE : "briefly"}` }],
}));

const within = ({ from, to }: { readonly from: number; readonly to: number }): TranscriptEntry[] =>
  ENTRIES.filter(({ meta }) => from <= meta.position && meta.position <= to);

const VIEW = {
  system: null,
  pins: [],
  summaries: [],
  dropped: 0,
  placement: "user-message",
  reduced: [],
  namesRecall: false,
  signedFrom: 0,
  model: "m",
} as const;

const CONTENT: SessionContent = {
  readView: () => {
    throw new Error("a transcript is read from the record");
  },
  readParts: () => [],
  readGeneration: () => ({}),
  readTools: () => [],
  readSummaries: () => [],
  readForwards: within,
  readBackwards: (range) => within(range).reverse(),
  readCacheKey: () => null,
  readText: (body) => `Summary ${body}.`,
};

const toRef = (n: number): TextRef => ({ body: id("bod", n), bytes: 10, tokens: 10 });

/** Stores a chunk's answer as `settle-compaction` does. */
function foldedAfter(next: NextChunk, before: ChunkProgress | null): ChunkProgress {
  const parts = (before?.parts ?? 0) + 1;
  const summary = toRef(parts);
  const entered = next.stage === "prefix" && before?.stage !== "prefix";
  return { ...next, summary, parts, history: entered ? summary : (before?.history ?? null) };
}

test("what is read from the cache is asked for the beginning of a turn under way too", () => {
  const asked = (split: number | null): string => {
    const content: SessionContent = { ...CONTENT, readView: () => ({ ...VIEW, entries: ENTRIES }) };
    const plan = { ...PLAN, split, mode: "same_prefix" } as const;
    const { request } = buildChunkRequest({ plan, state: STATE, spec: SPEC, summarizer: SPEC, content });
    return JSON.stringify(request.messages.at(-1));
  };
  expect(asked(null)).not.toContain("still under way");
  expect(asked(HISTORY + 1)).toContain("Behind the summary of what came before it write a line of its own");
  expect(asked(1)).toContain("This is the beginning of a turn that is still under way.");
});

function partAfter(folded: ChunkProgress | null, ratios: SessionState["ratios"] = []): ChunkRequest {
  const requested: RequestedCompaction = {
    id: id("cmp", 1),
    trigger: "inline",
    at: 0,
    attempts: 1,
    options: null,
    folded,
    folded_for: null,
    first_token: 1,
    spent: NOTHING_SPENT,
  };
  const state = { ...STATE, ratios, compaction: { ...STATE.compaction, requested } };
  return buildChunkRequest({ plan: PLAN, state, spec: SPEC, summarizer: SPEC, content: CONTENT });
}

/** The prompts of all chunks, and the positions that each quotes. */
function readAll(): { readonly prompt: string; readonly said: readonly number[] }[] {
  const prompts: string[] = [];
  let folded: ChunkProgress | null = null;
  for (;;) {
    const { request, next }: ChunkRequest = partAfter(folded);
    prompts.push(JSON.stringify(request.messages));
    if (!next || prompts.length > HISTORY) break;
    folded = foldedAfter(next, folded);
  }
  return prompts.map((prompt) => ({ prompt, said: [...prompt.matchAll(/said-(\d+) /g)].map(([, n]) => Number(n)) }));
}

test("what comes before a split turn, however long, is read whole, and so is the turn's own beginning", () => {
  const parts = readAll();

  const [prefix] = parts.slice(-1);
  expect(prefix?.said).toEqual(Array.from({ length: PREFIX }, (_, n) => HISTORY + 1 + n));
  const before = parts.slice(0, -1).flatMap(({ said }) => said);
  expect(before).toEqual(Array.from({ length: HISTORY }, (_, n) => n + 1));
});

test("messages of which one part holds no two whole ones fill their parts all the same", () => {
  const lengths = readAll().map(({ prompt }) => prompt.length);

  expect(lengths.length).toBeGreaterThan(32);
  const full = lengths.slice(0, -2);
  expect(Math.min(...full)).toBeGreaterThan(Math.max(...full) * 0.75);
});

test("a reader of whose tokens the registry says more is given less to read", () => {
  const lengthFor = (ratio: number): number => {
    const summarizer = { ...SPEC, id: "reader", ratio };
    const { request } = buildChunkRequest({ plan: PLAN, state: STATE, spec: SPEC, summarizer, content: CONTENT });
    return JSON.stringify(request.messages).length;
  };
  expect(lengthFor(2)).toBeLessThan(lengthFor(1) * 0.7);
});

/** The maximum by which the estimate may be too low (docs/invariants.md, I6). */
const MOST_OFF = 1.2;

test.each([null, 0.8, 1, 1.03, 1.1, 1.2])(
  "a part leaves room for its answer where the estimate is a fifth short and the learned ratio is %s",
  (value) => {
    const { request } = partAfter(null, value === null ? [] : [{ model: SPEC.id, value }]);
    const texts = [
      request.system ?? "",
      ...request.messages.flatMap(({ parts }) => parts.map((part) => (part.type === "text" ? part.text : ""))),
    ];
    const weight = texts.reduce((sum, text) => sum + estimateTokens(text), 0);
    expect(weight * MOST_OFF + (request.maxOutput ?? 0)).toBeLessThanOrEqual(SPEC.context_window ?? 0);
  },
);
