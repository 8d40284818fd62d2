/** Compares the sessions' content with what clients were told: each acknowledged message exists once, in its client's order. */
import type { ClientRecord } from "./client.ts";

export interface Verdict {
  readonly acknowledged: number;
  /** Acknowledged messages that are missing. */
  readonly lost: readonly string[];
  /** Messages that exist more than once, acknowledged or not. */
  readonly doubled: readonly string[];
  /** Messages that precede one that their client had sent earlier. */
  readonly reordered: readonly string[];
  /** Messages that no client sent. */
  readonly unknown: readonly string[];
}

/** `stored`: the texts of each session's user messages, oldest first. */
export function verify(clients: readonly ClientRecord[], stored: ReadonlyMap<string, readonly string[]>): Verdict {
  const verdicts = clients.map((client) => verifyClient(client, stored.get(client.session) ?? []));
  const sent = new Set(clients.flatMap((client) => client.sent));
  return {
    acknowledged: clients.reduce((sum, client) => sum + client.acknowledged.size, 0),
    lost: verdicts.flatMap((verdict) => verdict.lost),
    doubled: verdicts.flatMap((verdict) => verdict.doubled),
    reordered: verdicts.flatMap((verdict) => verdict.reordered),
    unknown: [...stored.values()].flat().filter((text) => !sent.has(text)),
  };
}

/**
 * The problems found, one text each. A run in which nothing was acknowledged, or in which no request was cut off by a
 * kill, proves nothing and is a problem too.
 */
export function findFaults(verdict: Verdict, resent: number): readonly string[] {
  const { acknowledged, lost, doubled, reordered, unknown } = verdict;
  return [
    ...lost.map((text) => `lost: ${text}`),
    ...doubled.map((text) => `doubled: ${text}`),
    ...reordered.map((text) => `out of order: ${text}`),
    ...unknown.map((text) => `no client sent it: ${text}`),
    ...(acknowledged === 0 ? ["no message was acknowledged: nothing was tested"] : []),
    ...(resent === 0 ? ["no request had to be sent again: no kill met one"] : []),
  ];
}

function verifyClient({ sent, acknowledged }: ClientRecord, texts: readonly string[]): Pick<Verdict, "lost" | "doubled" | "reordered"> {
  const order = new Map(sent.map((text, index) => [text, index]));
  const own = texts.filter((text) => order.has(text));
  const there = new Set(own);
  return {
    lost: [...acknowledged].filter((text) => !there.has(text)),
    doubled: [...new Set(own.filter((text, index) => own.indexOf(text) !== index))],
    reordered: own.filter((text, index) => index > 0 && (order.get(text) ?? 0) < (order.get(own[index - 1] ?? "") ?? 0)),
  };
}
