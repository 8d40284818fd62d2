/** The results of a replay. Figures of requests come from the provider's own log, which has the requests that were really sent. */
import type { LogEntry } from "../../test/support/stand-in/log.ts";

export interface Report {
  /** Messages that started a turn. */
  readonly turns: number;
  /** Recorded messages. All of them were read back. */
  readonly messages: number;
  readonly requests: number;
  /** The largest prompt, including refused ones. */
  readonly peak_tokens: number;
  readonly window: number;
  /** Requests refused because they did not fit. */
  readonly overflows: number;
  /** Completed summaries. */
  readonly compactions: number;
  /** Summariser calls, including failed ones. */
  readonly summary_calls: number;
  /** Changes of the view that removed messages without a summary, according to the API. The provider cannot see them. */
  readonly drops_without_summary: number;
  /** The largest summary. */
  readonly summary_tokens: number;
  readonly wall_ms: number;
}

export function toReport(
  log: readonly LogEntry[],
  played: Pick<Report, "turns" | "messages" | "window" | "wall_ms" | "drops_without_summary">,
): Report {
  const asked = log.filter((entry) => entry.kind === "compaction");
  const summaries = asked.filter((entry) => entry.status === 200);
  return {
    turns: played.turns,
    messages: played.messages,
    requests: log.length,
    peak_tokens: largest(log.map((entry) => entry.prompt_tokens)),
    window: played.window,
    overflows: log.filter((entry) => entry.overflow).length,
    compactions: summaries.length,
    summary_calls: asked.length,
    drops_without_summary: played.drops_without_summary,
    summary_tokens: largest(summaries.map((entry) => entry.completion_tokens)),
    wall_ms: played.wall_ms,
  };
}

const largest = (numbers: readonly number[]): number => numbers.reduce((most, number) => Math.max(most, number), 0);

/** The reason why the replay failed, in words. Null when it succeeded. */
export function findFault({ overflows, window }: Report): string | null {
  if (overflows === 0) return null;
  return `${overflows} ${overflows === 1 ? "request was" : "requests were"} larger than the window of ${window} tokens, and refused.`;
}

export function formatTable(report: Report): string {
  const count = new Intl.NumberFormat("en");
  const share = Math.round((100 * report.peak_tokens) / report.window);
  const rows: readonly (readonly [string, string])[] = [
    ["turns", count.format(report.turns)],
    ["messages, read back equal", count.format(report.messages)],
    ["requests to the provider", count.format(report.requests)],
    ["peak tokens", `${count.format(report.peak_tokens)} of ${count.format(report.window)} (${share} %)`],
    ["overflows", count.format(report.overflows)],
    ["compactions", count.format(report.compactions)],
    ["calls for summaries", count.format(report.summary_calls)],
    ["drops without a summary", count.format(report.drops_without_summary)],
    ["largest summary, tokens", count.format(report.summary_tokens)],
    ["wall time", `${(report.wall_ms / 1000).toFixed(1)} s`],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join("\n");
}
