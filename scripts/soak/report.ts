/** The results of a run in words, and its problems. */
import { findFaults as messageFaults } from "../crash-test/verify.ts";
import type { Run, Size } from "./conduct.ts";
import { findGrowth, NOTABLE_GROWTH } from "./curves.ts";
import type { FaultyProvider } from "./faulty-provider.ts";
import type { Spread } from "./figures.ts";

const counted = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(", ") || "none";

const ms = (value: number | null): string => (value === null ? "-" : String(Math.round(value)));
const spread = ({ count, p50, p95, p99 }: Spread): string => `p50 ${ms(p50)} ms, p95 ${ms(p95)} ms, p99 ${ms(p99)} ms of ${count}`;

export function describe(run: Run, { provider }: { readonly provider: FaultyProvider }): string {
  const { findings, notes, told, samples } = run;
  const { messages } = findings;
  const grown = findGrowth(samples).map(({ what, first, last }) => {
    const unit = what === "memory" ? " MB" : "";
    const notable = last > first * NOTABLE_GROWTH ? `, more than ${NOTABLE_GROWTH} times` : "";
    return `${what.padEnd(16)}${Math.round(first)}${unit} in the first quarter, ${Math.round(last)}${unit} in the last (medians)${notable}`;
  });
  return [
    `wall time       ${(run.wall_ms / 60_000).toFixed(1)} min`,
    `kills           ${run.kills}`,
    `sessions        ${told.length}`,
    `acknowledged    ${messages.acknowledged}`,
    `sent again      ${notes.resent}`,
    `lost            ${messages.lost.length}`,
    `doubled         ${messages.doubled.length}`,
    `out of order    ${messages.reordered.length}`,
    `turns           ${findings.turns}, without an end ${findings.unended.length}`,
    `compactions     ${findings.compactions}`,
    `ends            ${counted(notes.ends)}`,
    `model requests  ${provider.requests()}, of them failed: ${counted(provider.faults())}`,
    `lag at the end  ${findings.lag}`,
    `read model      ${findings.differences.length} differences from the logs`,
    `acknowledgement ${spread(notes.ack.all())}`,
    `first token     ${spread(notes.firstToken.all())}`,
    ...grown,
  ].join("\n");
}

const MOST_SHOWN = 10;

/** An empty list means that the run succeeded. */
export function findFaults({ findings, notes, kills }: Run, wanted: Pick<Size, "kills">): readonly string[] {
  const { messages, unended, differences, lag } = findings;
  const resent = wanted.kills === 0 ? 1 : notes.resent;
  return [
    ...messageFaults(messages, resent),
    ...unended.slice(0, MOST_SHOWN).map((turn) => `no end: ${turn}`),
    ...differences.slice(0, MOST_SHOWN).map((row) => `the read model differs: ${row}`),
    ...notes.refused.slice(0, MOST_SHOWN).map((what) => `refused: ${what}`),
    ...(lag > 0 ? [`${lag} messages are not in the lists`] : []),
    ...(kills < wanted.kills ? [`${kills} kills, ${wanted.kills} were wanted`] : []),
  ];
}
