/** The stand-in's log: the only witness of the requests that were really sent. */
import type { WireRequest } from "./wire.ts";

export interface LogEntry {
  /** Epoch milliseconds at which the request was complete. */
  readonly at: number;
  /** The body as it arrived. */
  readonly raw: string;
  readonly body: WireRequest;
  readonly authorization: string | null;
  readonly kind: "turn" | "compaction";
  readonly prompt_tokens: number;
  completion_tokens: number;
  /** 0 until it is answered. */
  status: number;
  /** The client disconnected before the reply was complete. */
  aborted: boolean;
  /** The stand-in itself broke the connection, as scripted. */
  cut: boolean;
  /** Refused because it did not fit. */
  overflow: boolean;
}

export interface Totals {
  readonly requests: number;
  readonly turns: number;
  readonly compactions: number;
  readonly overflows: number;
  readonly peak_tokens: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  /** Tokens of all summaries that were written. */
  readonly summary_tokens: number;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** `peak_tokens`: the largest prompt, including refused ones. */
export function sumTotals(log: readonly LogEntry[]): Totals {
  const compactions = log.filter((entry) => entry.kind === "compaction");
  return {
    requests: log.length,
    turns: log.length - compactions.length,
    compactions: compactions.length,
    overflows: log.filter((entry) => entry.overflow).length,
    peak_tokens: log.reduce((peak, entry) => Math.max(peak, entry.prompt_tokens), 0),
    prompt_tokens: sum(log.map((entry) => entry.prompt_tokens)),
    completion_tokens: sum(log.map((entry) => entry.completion_tokens)),
    summary_tokens: sum(compactions.map((entry) => entry.completion_tokens)),
  };
}
