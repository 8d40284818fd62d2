/** What a summary of a played session reads, how long it is when nothing goes wrong, and what reading it costs. */
import { type ModelLimits, toRequestLimit } from "../context/budget";
import { INSTRUCTION_TOKENS } from "../context/economy";
import type { SummarizeRung } from "../context/plan";
import type { Policy } from "../context/policy";
import { FIRST_SUMMARY_SHARE, toSummaryCap } from "../context/proposal";
import type { TokenCounts } from "../contract/evaluation";
import { NO_TOKENS, plus } from "./costs";
import type { ReplayedSession } from "./replayed-session";

export interface SummaryPorts {
  readonly session: ReplayedSession;
  /** Tokens of reading the request up to a position, with the instruction after it. */
  readonly readPrefix: (to: number) => Pick<TokenCounts, "input" | "cached">;
  readonly limits: ModelLimits;
  readonly policy: Policy;
  /**
   * True when the length of a folded summary is a share of the chain and the new messages; false when it is a share of the
   * new messages alone.
   */
  readonly countsChain: boolean;
}

export interface SummarySource {
  /** Tokens of each message in a transcript of the source. */
  readonly messages: readonly number[];
  /** Tokens of the summaries that are folded with it. */
  readonly chain: number;
  /** Tokens of its summary, by the share in docs/policy-figures.md. */
  readonly expected: number;
  /** Maximum tokens of messages in one call. */
  readonly room: number;
}

export function summarySource(rung: SummarizeRung, ports: SummaryPorts): SummarySource {
  const { session, limits, policy, countsChain } = ports;
  const cap = toSummaryCap(limits, policy);
  const messages = [...reread(rung, session), ...session.transcript(rung.source)];
  const read = messages.reduce((sum, tokens) => sum + tokens, 0);
  const chain = rung.merge ? session.chainTokens() : 0;
  const share = session.summaryShare ?? FIRST_SUMMARY_SHARE;
  const guessed = Math.max(1, Math.min(cap, Math.round(share * (read + (countsChain ? chain : 0)))));
  const room = (toRequestLimit(limits) ?? Number.POSITIVE_INFINITY) - INSTRUCTION_TOKENS - 2 * cap;
  return { messages, chain, expected: session.recordedLength(rung.range) ?? guessed, room };
}

/**
 * Tokens of the messages that are read from the record again, as production reads them (`lease-compaction`): backwards from
 * the newest summary, a page at a time.
 */
function reread({ range, reread: most }: SummarizeRung, session: ReplayedSession): number[] {
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

/** Tokens of each part in which a source is read that exceeds the summariser's window. */
export function splitSource({ messages, room }: Pick<SummarySource, "messages" | "room">): readonly number[] {
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

/** Tokens read for one part, with the summary so far. */
export const partInput = (part: number, before: number): number => INSTRUCTION_TOKENS + before + part;

/** Tokens of all parts when none fails. */
export function transcriptCost(source: SummarySource): TokenCounts {
  const { chain, expected } = source;
  return splitSource(source).reduce(
    (spent, part, index) => plus(spent, { input: partInput(part, index === 0 ? chain : expected), cached: 0, output: expected }),
    NO_TOKENS,
  );
}
