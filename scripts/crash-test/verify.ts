/** What the sessions hold against what the clients were told: each acknowledged message once, in its client's order. */
import type { ClientRecord } from "./client.ts";

export interface Verdict {
  readonly acknowledged: number;
  /** Acknowledged, and not there. */
  readonly lost: readonly string[];
  /** There more than once, acknowledged or not. */
  readonly doubled: readonly string[];
  /** There before a message that its client had sent earlier. */
  readonly reordered: readonly string[];
  /** There, and nobody sent it. */
  readonly unknown: readonly string[];
}

/** `stored`: per session the texts of its user messages, oldest first. */
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
 * What speaks against the run, in words; none: it shows what it is for. One in which nothing was acknowledged, or no
 * request was ever cut off by a kill, shows nothing.
 */
export function findFaults(verdict: Verdict, resent: number): readonly string[] {
  const { acknowledged, lost, doubled, reordered, unknown } = verdict;
  return [
    ...lost.map((text) => `lost: ${text}`),
    ...doubled.map((text) => `doubled: ${text}`),
    ...reordered.map((text) => `out of order: ${text}`),
    ...unknown.map((text) => `nobody sent it: ${text}`),
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
