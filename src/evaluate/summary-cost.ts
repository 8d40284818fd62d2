/** What a summary of a played session reads, how long it is where all goes well, and what reading it costs. */
import { limitOf, type ModelLimits } from "../context/budget";
import { INSTRUCTION_TOKENS } from "../context/economy";
import type { SummarizeRung } from "../context/plan";
import type { Policy } from "../context/policy";
import { FIRST_SUMMARY_SHARE, summaryCap } from "../context/proposal";
import { NO_TOKENS, plus, type TokenCounts } from "./costs";
import type { Played } from "./played";

export interface SummaryPorts {
  readonly session: Played;
  /** What it costs to read the request up to a position, with the instruction behind it. */
  readonly readPrefix: (to: number) => Pick<TokenCounts, "input" | "cached">;
  readonly limits: ModelLimits;
  readonly policy: Policy;
  /** A folded summary is as long as its share of the chain and of what is new; else of what is new alone. */
  readonly countsChain: boolean;
}

export interface SummarySource {
  /** Tokens of each message that a transcript of it holds. */
  readonly messages: readonly number[];
  /** Tokens of the summaries that are folded with it. */
  readonly chain: number;
  /** Tokens of its summary, by the share of docs/policy.md. */
  readonly expected: number;
  /** Tokens of messages that one call takes. */
  readonly room: number;
}

export function summarySource(rung: SummarizeRung, ports: SummaryPorts): SummarySource {
  const { session, limits, policy, countsChain } = ports;
  const cap = summaryCap(limits, policy);
  const messages = [...reread(rung, session), ...session.transcript(rung.source)];
  const read = messages.reduce((sum, tokens) => sum + tokens, 0);
  const chain = rung.merge ? session.chainTokens() : 0;
  const share = session.summaryShare ?? FIRST_SUMMARY_SHARE;
  const guessed = Math.max(1, Math.min(cap, Math.round(share * (read + (countsChain ? chain : 0)))));
  const room = (limitOf(limits) ?? Number.POSITIVE_INFINITY) - INSTRUCTION_TOKENS - 2 * cap;
  return { messages, chain, expected: session.recordedLength(rung.range) ?? guessed, room };
}

/** What is read of the record again, as production does (`lease-compaction`): back from the newest summary, a page at a time. */
function reread({ range, reread: most }: SummarizeRung, session: Played): number[] {
  const read: number[] = [];
  let left = most;
  let to = session.state.view.overlays.findLast(({ kind }) => kind === "summary")?.to ?? 0;
  while (left > 0 && to >= range.from) {
    const from = Math.max(range.from, to - REREAD_PAGE + 1);
    for (const tokens of session.transcript({ from, to }).toReversed()) {
      left -= tokens;
      if (left < 0) break;
      read.unshift(tokens);
    }
    to = from - 1;
  }
  return read;
}

const REREAD_PAGE = 64;

/** A source beyond the summariser's window is read in parts: tokens of each. */
export function partsOf({ messages, room }: Pick<SummarySource, "messages" | "room">): readonly number[] {
  const parts: number[] = [];
  let part = 0;
  for (const tokens of messages) {
    if (part > 0 && part + tokens > room) {
      parts.push(part);
      part = 0;
    }
    part += tokens;
  }
  return [...parts, part];
}

/** One part, with the summary so far. */
export const partInput = (part: number, before: number): number => INSTRUCTION_TOKENS + before + part;

/** All parts, where none fails. */
export function transcriptCost(source: SummarySource): TokenCounts {
  const { chain, expected } = source;
  return partsOf(source).reduce(
    (spent, part, index) => plus(spent, { input: partInput(part, index === 0 ? chain : expected), cached: 0, output: expected }),
    NO_TOKENS,
  );
}
