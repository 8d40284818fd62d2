/** Whether the four profiles are still what docs/policy-figures.md says of them: `npm run lab -- --check`. */
import type { PolicyName } from "../../src/context/presets";
import { FAILURES_TO_OPEN } from "../../src/domain/breaker";
import type { Figures } from "./engine/ledger";
import type { Column } from "./engine/steps";
import { type ColumnReport, toRow } from "./report.ts";

export const PROFILES = ["economy", "balanced", "retain", "verbatim"] as const satisfies readonly PolicyName[];
type Profile = (typeof PROFILES)[number];

/** Cost by column, at most (docs/policy-figures.md, what `--check` holds). */
export const FIGURES_TO_BEAT: Readonly<Record<string, Readonly<Record<Profile, number>>>> = {
  "support 16k": { economy: 0.41, balanced: 0.49, retain: 0.51, verbatim: 0.52 },
  "support 32k": { economy: 0.28, balanced: 0.36, retain: 0.39, verbatim: 0.42 },
};

/** Maximum growth of a call's cost when the recording is played three times in a row. */
const GROWTH = 1.02;
export const TIMES = 3;
/** All support conversations in the smaller window: a session of hundreds of calls. */
export const GROWTH_COLUMN = { name: "support 32k", window: 16_000 } as const;

/** Costs of one policy on the same recording, played once and `TIMES` times in a row. */
export interface Growth {
  readonly policy: string;
  readonly once: Pick<Figures, "cost" | "calls" | "overflows">;
  readonly repeated: Pick<Figures, "cost" | "calls" | "overflows">;
}

/** The cost of a call must not grow with the history. */
export function findGrowth({ policy, once, repeated }: Growth): string[] {
  const grown = repeated.cost / repeated.calls / (once.cost / once.calls);
  const said = `${policy}, ${TIMES} times in a row: a call costs ${(100 * (grown - 1)).toFixed(1)} % more`;
  return [
    ...(grown > GROWTH ? [`${said}, at most ${(100 * (GROWTH - 1)).toFixed(0)} % was expected`] : []),
    ...(repeated.overflows > 0 ? [`${policy}, ${TIMES} times in a row: ${repeated.overflows} overflows, expected none`] : []),
  ];
}

/** One policy on one column, with summaries that never fail and with summaries that fail. */
export interface Failing {
  readonly where: string;
  /** Attempts at one summary. */
  readonly attempts: number;
  readonly ideal: Pick<Figures, "summary_calls">;
  readonly failing: Pick<Figures, "summary_calls" | "overflows" | "refused">;
}

/**
 * Failing summaries must never leave a request without room, and must not cause more calls than this bound: the
 * fallback makes as much room as a summary does, so summaries are due equally often, each with all its attempts, plus
 * the compactions that open the breaker.
 */
export function findFailing({ where, attempts, ideal, failing }: Failing): string[] {
  const most = attempts * (ideal.summary_calls + FAILURES_TO_OPEN);
  return [
    ...(failing.overflows > 0 ? [`${where}: ${failing.overflows} overflows, expected none`] : []),
    ...(failing.refused > 0 ? [`${where}: ${failing.refused} refused turns, expected none`] : []),
    ...(failing.summary_calls > most ? [`${where}: ${failing.summary_calls} calls for summaries, at most ${most} were expected`] : []),
  ];
}

export type Judged = Pick<ReturnType<typeof toRow>, "policy" | "cost" | "overflows" | "refused" | "malformed" | "breaks">;

export interface JudgedColumn {
  readonly name: Column["name"];
  readonly rows: readonly Judged[];
}

export const toJudged = ({ column, unlimited, rows }: ColumnReport): JudgedColumn => ({
  name: column.name,
  rows: rows.map((row) => toRow(row, unlimited)),
});

/** One line for each problem. A column or a profile that was not run is a problem too. */
export function findComplaints(columns: readonly JudgedColumn[]): string[] {
  const missing = Object.keys(FIGURES_TO_BEAT).filter((name) => !columns.some((column) => column.name === name));
  return [...missing.map((name) => `${name}: was not run`), ...columns.flatMap(judgeColumn)];
}

const judgeColumn = ({ name, rows }: JudgedColumn): string[] =>
  PROFILES.flatMap((profile) => {
    const row = rows.find(({ policy }) => policy === profile);
    const wrong = row ? judge(row, FIGURES_TO_BEAT[name]?.[profile] ?? null) : ["was not run"];
    return wrong.map((what) => `${name}, ${profile}: ${what}`);
  });

function judge({ cost, overflows, refused, malformed, breaks }: Judged, figure: number | null): string[] {
  const counts = { overflows, "refused turns": refused, "malformed requests": malformed, "prefix breaks": breaks };
  const wrong = Object.entries(counts).flatMap(([what, count]) => (count > 0 ? [`${count} ${what}, expected none`] : []));
  const cheap = figure === null || cost <= figure;
  return cheap ? wrong : [...wrong, `costs ${cost.toFixed(3)}, at most ${figure.toFixed(2)} was expected`];
}
