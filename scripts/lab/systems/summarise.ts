/** A system's summary: it has the same share of its source as ours would have, and is charged as the system requests it. */
import { INSTRUCTION_TOKENS } from "../../../src/context/economy";
import { FIRST_SUMMARY_SHARE } from "../../../src/context/proposal";

import type { TokenCounts } from "../../../src/contract/evaluation";
import type { PromptCache } from "../../../src/evaluate/prompt-cache";
import { messageText, type Segment, sumTokens } from "../../../src/evaluate/segments";
import { filler } from "../engine/filler";
import type { LabSession } from "../engine/session";
import { type Ask, type SystemMessage, sumBy } from "./system.ts";

interface Summariser {
  readonly session: LabSession;
  readonly cache: PromptCache<Segment>;
  /** Maximum tokens of a request. */
  readonly limit: number;
  readonly request: (messages: readonly SystemMessage[]) => Segment[];
  readonly name: string;
}

/** Null when the source does not fit. */
export function summariseFor(ask: Ask, by: Summariser): { readonly text: string; readonly spent: TokenCounts } | null {
  const reads = withinRoom(ask, by);
  if (!reads) return null;
  const fresh = sumBy(reads, (message) => (message.positions.length > 0 ? countTranscript(message, by.session) : 0));
  const length = Math.max(1, Math.min(ask.cap, Math.round(FIRST_SUMMARY_SHARE * fresh)));
  const text = filler(length, by.name);
  if (ask.form !== "same_prefix") return { text, spent: { input: INSTRUCTION_TOKENS + weigh(reads, ask, by), cached: 0, output: length } };
  const request = [...by.request(reads), instruction(by)];
  return { text, spent: { input: sumTokens(request), cached: by.cache.read(request), output: length } };
}

const instruction = ({ session }: Summariser): Segment => session.segments.of("user", filler(INSTRUCTION_TOKENS, "instruction"));

function withinRoom(ask: Ask, by: Summariser): readonly SystemMessage[] | null {
  const room = Math.min(by.limit - INSTRUCTION_TOKENS, ask.most ?? Number.POSITIVE_INFINITY);
  let reads = ask.reads;
  while (reads.length > 0 && weigh(reads, ask, by) > room) {
    if (!ask.trims) return null;
    reads = reads.slice(1);
  }
  return reads;
}

function weigh(reads: readonly SystemMessage[], { form }: Ask, by: Summariser): number {
  if (form === "same_prefix") return sumTokens(by.request(reads));
  if (form === "transcript") return sumBy(reads, (message) => countTranscript(message, by.session));
  return sumBy(reads, ({ role, parts }) => by.session.segments.of(role, messageText(parts)).tokens);
}

function countTranscript({ parts, positions }: SystemMessage, session: LabSession): number {
  if (positions.length === 0) return session.segments.count(messageText(parts));
  return sumBy(positions, (position) => session.transcript({ from: position, to: position })[0] ?? 0);
}
