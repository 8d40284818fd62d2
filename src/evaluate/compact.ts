/** Carries a plan out on a session of the lab: real leases and commits, and a summary of which only the length is real. */
import type { ModelLimits } from "../context/budget";
import { limitOf } from "../context/budget";
import { INSTRUCTION_TOKENS } from "../context/economy";
import { draftFromRungs, draftFromSummary } from "../context/epoch-draft";
import type { Plan, SummarizeRung } from "../context/plan";
import type { Policy } from "../context/policy";
import { FIRST_SUMMARY_SHARE, summaryCap } from "../context/proposal";
import { estimateTokens } from "../context/tokens";
import { shortenToolResult } from "../context/tool-results";
import type { SummaryPlan } from "../domain/compaction-events";
import { NOTHING, plus, type Spent } from "./costs";
import type { PromptCache } from "./prompt-cache";
import { messageText, type Segments, tokensOf } from "./segments";
import type { LabSession, RecordedItem } from "./session";

type Compaction = Extract<Plan, { kind: "compact" }>;

export interface Workshop {
  readonly session: LabSession;
  readonly cache: PromptCache;
  readonly limits: ModelLimits;
  readonly policy: Policy;
  /** A folded summary is as long as its share of the chain and of what is new; else of what is new alone. */
  readonly countsChain: boolean;
}

/** In a transcript a result shows both its ends, of so many characters together (`context/prompts`). */
const TRANSCRIPT_RESULT_CHARS = 2_000;
const LEASE_MS = 60_000;
/** Tokens that a summary of the lab repeats: one each. */
const WORDS = ["the", "talk", "went", "on", "about", "one", "more", "point", "and", "it", "was", "kept"] as const;

/** What it cost. */
export function carryOut(plan: Compaction, shop: Workshop): Spent {
  const { session, limits } = shop;
  const summarize = plan.rungs.find((rung) => rung.rung === "summarize");
  const { trigger, economy, breaker_open: breakerOpen } = plan;
  const input = { limits, trigger, economy, breakerOpen, now: session.now, newOverlay: () => session.newId("ovl"), read: session.read };
  const compaction = session.newId("cmp");
  if (!summarize) {
    const change = draftFromRungs(plan.rungs, { ...input, state: session.state, summarizer: null });
    session.execute({ at: session.now, type: "ChangeEpoch", compaction, trigger, change });
    return NOTHING;
  }
  session.execute({ at: session.now, type: "RequestCompaction", compaction, trigger, options: null });
  const leased = { ...toSummaryPlan(summarize), base_epoch: session.state.view.epoch };
  const expiresAt = session.now + LEASE_MS;
  session.execute({ at: session.now, type: "LeaseCompaction", compaction, plan: leased, expiresAt, attemptLimit: 2, inline: null });
  const { lease } = session.state.compaction;
  if (!lease) throw new Error("a lease was not given");
  const { text, spent } = summarizeFor(summarize, shop);
  const overlay = session.newId("ovl");
  session.keepSummary(overlay, text);
  const also = plan.rungs.filter((rung) => rung !== summarize);
  const usage = { ...spent, reasoning: 0 };
  const change = draftFromSummary(
    { summary: { text, tokens: estimateTokens(text) }, plan: leased, overlay, also },
    { ...input, state: session.state, summarizer: { model: limits.model, usage, ms: 0, cost: null, attempts: 1 } },
  );
  const { turn } = session.state;
  const inside = turn ? { turn: turn.id, incarnation: turn.incarnation } : null;
  session.execute({ at: session.now, type: "RecordCompaction", compaction, token: lease.token, change, call: null, inside });
  return spent;
}

const toSummaryPlan = ({ range, source, replaces, keeps, merge, generation, split, mode }: SummarizeRung): SummaryPlan => ({
  range,
  source,
  replaces,
  keeps,
  merge,
  generation,
  split,
  mode,
});

/** As many tokens as a summary of what it read would have, by the share of docs/policy.md, and what the call costs. */
function summarizeFor(rung: SummarizeRung, shop: Workshop): { text: string; spent: Spent } {
  const { session, limits, policy, cache } = shop;
  const cap = summaryCap(limits, policy);
  const source = session.record.slice(rung.source.from - 1, rung.source.to).map((item) => transcriptTokens(item, session.segments));
  const read = source.reduce((sum, tokens) => sum + tokens, 0);
  const chain = rung.merge ? session.segments.count(session.chainText()) : 0;
  const length = Math.max(1, Math.min(cap, Math.round(FIRST_SUMMARY_SHARE * (read + (shop.countsChain ? chain : 0)))));
  const text = filler(length, session.state.view.epoch);
  if (rung.mode === "transcript") return { text, spent: transcriptCost(source, { chain, length, room: roomOf(limits, cap) }) };
  const request = [...session.request(rung.range.to), session.segments.of("user", filler(INSTRUCTION_TOKENS, "instruction"))];
  return { text, spent: { input: tokensOf(request), cached: cache.read(request), output: length } };
}

const transcriptTokens = ({ parts }: RecordedItem, segments: Segments): number =>
  segments.count(messageText(parts.map((part) => (part.type === "tool_result" ? shorten(part) : part)))) + 2;
const shorten = <P extends { output: string }>(part: P): P => ({
  ...part,
  output: shortenToolResult(part.output, TRANSCRIPT_RESULT_CHARS),
});

const roomOf = (limits: ModelLimits, cap: number): number => (limitOf(limits) ?? Number.POSITIVE_INFINITY) - INSTRUCTION_TOKENS - 2 * cap;

/** A source beyond the summariser's window is folded: each part is read with the summary so far. */
export function transcriptCost(
  source: readonly number[],
  by: { readonly chain: number; readonly length: number; readonly room: number },
): Spent {
  let spent = NOTHING;
  let before = by.chain;
  let part = 0;
  const call = () => plus(spent, { input: INSTRUCTION_TOKENS + before + part, cached: 0, output: by.length });
  for (const tokens of source) {
    if (part > 0 && part + tokens > by.room) {
      spent = call();
      before = by.length;
      part = 0;
    }
    part += tokens;
  }
  return call();
}

/** Text of exactly so many tokens, another one for each `name`, with no identifier in it. */
export function filler(tokens: number, name: string | number): string {
  const words = [`${name}`];
  while (words.length < tokens) words.push(WORDS[words.length % WORDS.length] ?? "the");
  return words.join(" ");
}
