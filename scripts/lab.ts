/**
 * `npm run lab -- --traces DIR`: replays recorded conversations under policies through the real context code, without a
 * server or a model, and says what each would cost and lose. docs/policy-figures.md has what is measured and how.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { DEFAULT_POLICY, POLICY_NAMES } from "../src/context/presets";
import { readColumns, repeated } from "./lab/column.ts";
import { PRICE_VARIANTS, VARIANTS } from "./lab/conditions.ts";
import { filler } from "./lab/engine/filler";
import { runColumn } from "./lab/engine/run-column";
import { type Conditions, type Options, type Setup, toSetup, USUAL } from "./lab/engine/setup";
import type { Column } from "./lab/engine/steps";
import { toPage } from "./lab/html/page.ts";
import { type Given, readOptions } from "./lab/options.ts";
import { drawColumn } from "./lab/picture.ts";
import { type ColumnReport, formatColumn, formatOrder, toRow } from "./lab/report.ts";
import { type Asked, reportColumn } from "./lab/report-column.ts";
import { findSummariser } from "./lab/summariser.ts";
import { SYSTEMS } from "./lab/systems/catalogue.ts";
import { trueTokens } from "./lab/true-tokens.ts";
import { findComplaints, findFailing, findGrowth, GROWTH_COLUMN, PROFILES, TIMES, toJudged } from "./lab/verdict.ts";
import { Failure, print, runScript, say } from "./support/output.ts";

/** The presets of earlier projects also run without the guard. That row shows what the guard prevents. */
const ANCESTORS = new Set<string>(["oneclaw", "opal", "odincode", "yeoman"]);

const toSetups = (name: string, options: Options): Setup[] => [
  ...(ANCESTORS.has(name) ? [toSetup(name, { ...options, guard: false })] : []),
  toSetup(name, { ...options, guard: true }),
];

const fromCaller = (path: string): string => resolve(process.env.INIT_CWD ?? ".", path);

const toOptions = (given: Given): Options => ({
  eachCall: given["each-call"],
  countsChain: given["count-chain"],
  recall: given.recall,
});

/** Without further options the page covers everything. */
function toAsked(given: Given): Asked {
  const policies = given.policy ?? (given.check || given.html || given.oracle ? PROFILES : POLICY_NAMES);
  const named = given.system ?? (given.html ? ["all"] : []);
  return {
    setups: policies.flatMap((name) => toSetups(name, toOptions(given))),
    systems: SYSTEMS.filter(({ name }) => named.includes("all") || named.includes(name)),
    conditions: {
      ...USUAL,
      prices: PRICE_VARIANTS[given.prices ?? "usual"],
      cold: given.cold ?? null,
      summariser: findSummariser(given.summaries ?? "ideal", given.seed ?? 1),
    },
    oracle: given.oracle || given.html !== undefined,
  };
}

function buildColumns(given: Given): Column[] {
  const columns = readColumns(fromCaller(given.traces), given.window ?? null);
  const asked = columns.filter(({ name }) => !given.column || given.column.some((part) => name.includes(part)));
  const times = given.times ?? 1;
  if (asked.length === 0) throw new Failure(`No column of that name; there are ${columns.map(({ name }) => name).join(", ")}`);
  return times === 1 ? asked : asked.map((column) => repeated(column, times));
}

/** Runs the default policy on a recording that is played once and several times in a row. */
function compareGrowth(columns: readonly Column[]): string[] {
  const found = columns.find(({ name }) => name === GROWTH_COLUMN.name);
  if (!found) return [];
  const column = { ...found, window: GROWTH_COLUMN.window };
  const setup = toSetup(DEFAULT_POLICY, { guard: true, eachCall: false, countsChain: false, recall: false });
  const [once, more] = [1, TIMES].map((times) => runColumn(repeated(column, times), setup, trueTokens));
  return once && more ? findGrowth({ policy: setup.name, once, repeated: more }) : [];
}

/** Runs each profile on each column, with summaries that fail sometimes and with summaries that always fail. */
function judgeColumns(reports: readonly ColumnReport[], options: Options): string[] {
  const kinds = [...SEEDS.map((seed) => ["real", seed] as const), ["dead", 1] as const];
  return reports.flatMap(({ column, rows }) =>
    rows.flatMap(({ setup: { name }, figures: ideal }) =>
      kinds.flatMap(([summaries, seed]) => {
        const setup = toSetup(name, { ...options, guard: true, summariser: findSummariser(summaries, seed) });
        const where = `${column.name}, ${name}, summaries ${summaries}, seed ${seed}`;
        const { attempts } = setup.policy.summary;
        return findFailing({ where, attempts, ideal, failing: runColumn(column, setup, trueTokens) });
      }),
    ),
  );
}

/** Seed of the failing summaries. */
const SEEDS = [1, 2];

async function main(): Promise<number> {
  const given = readOptions(process.argv.slice(2));
  const startedAt = performance.now();
  const asked = toAsked(given);
  const columns = buildColumns(given);
  const reports = columns.map((column) => reportColumn(column, asked));
  const out = fromCaller(given.out);
  mkdirSync(out, { recursive: true });
  for (const report of reports) writeFileSync(join(out, `${report.column.name.replaceAll(/\W+/g, "-")}.svg`), drawColumn(report));
  print(given.json ? JSON.stringify(reports.map(toJson)) : reports.map(formatColumn).join("\n\n"));
  sayFurther(given, { reports, conditions: asked.conditions });
  if (given.html) writeFileSync(fromCaller(given.html), toPage(reports, compareVariants(columns, asked)));
  const page = given.html ? `; the page is ${fromCaller(given.html)}` : "";
  say(`${((performance.now() - startedAt) / 1_000).toFixed(1)} s; pictures in ${out}${page}`);
  const complaints = given.check
    ? [...findComplaints(reports.map(toJudged)), ...compareGrowth(columns), ...judgeColumns(reports, toOptions(given))]
    : [];
  for (const complaint of complaints) say(`FAILED: ${complaint}`);
  return complaints.length > 0 ? 1 : 0;
}

/** Says what the tables do not have. */
function sayFurther(
  given: Given,
  { reports, conditions }: { readonly reports: readonly ColumnReport[] } & Pick<Asked, "conditions">,
): void {
  if (given.prices || given.cold) for (const report of reports) say(formatOrder(`${report.column.name}, cheapest first`, report));
  if (given.recall) for (const report of reports) say(costOfRecall(report, toOptions(given)));
  if (!given.check) for (const { column } of reports) say(savingOfSharedPrefix(column, conditions));
}

/** Runs the same columns under each of the other prices and cold caches. */
const compareVariants = (columns: readonly Column[], asked: Asked) =>
  VARIANTS.map(({ name, conditions }) => ({
    name,
    reports: columns.map((column) => reportColumn(column, { ...asked, conditions, oracle: false })),
  }));

/** The cost of offering `memory_query` under the default policy. The lab's models never call it. */
function costOfRecall({ column, unlimited }: ColumnReport, options: Options): string {
  const [without, offered] = [false, true].map((recall) => {
    const setup = toSetup(DEFAULT_POLICY, { ...options, guard: true, recall });
    return toRow({ setup, figures: runColumn(column, setup, trueTokens) }, unlimited).cost.toFixed(3);
  });
  return `${column.name}: ${DEFAULT_POLICY} costs ${offered} with memory_query offered, ${without} without`;
}

const SESSIONS = 1_000;
const SYSTEM_TOKENS = 4_000;

/**
 * What it saves that nothing of one session stands in front of its conversation, under the default policy with `memory_query`: all sessions but
 * the first find their system prompt and tools in the provider's cache, before and after the first change of the view.
 */
function savingOfSharedPrefix(column: Column, conditions: Conditions): string {
  const played = { ...column, system: filler(SYSTEM_TOKENS, "system") };
  const [first = 0, later = 0] = ([{}, { sharedPrefix: true }] as const).map((by) => {
    const setup = toSetup(DEFAULT_POLICY, { ...conditions, guard: true, eachCall: false, countsChain: false, recall: true, ...by });
    return runColumn(played, setup, trueTokens).cost;
  });
  const [alone, shared] = [SESSIONS * first, first + (SESSIONS - 1) * later];
  const saved = `${millions(alone - shared)} of ${millions(alone)} million input tokens (${((100 * (alone - shared)) / alone).toFixed(1)} %)`;
  return `${column.name}: ${formatCount(SESSIONS)} sessions with a system prompt of ${formatCount(SYSTEM_TOKENS)} tokens: a shared prefix saves ${saved}`;
}

const formatCount = (count: number): string => count.toLocaleString("en-US");
const millions = (tokens: number): string => (tokens / 1_000_000).toFixed(1);

const toJson = ({ column, unlimited, rows, bounds }: ColumnReport) => ({
  column: column.name,
  window: column.window,
  unlimited_cost: unlimited.cost,
  rows: rows.map((row) => toRow(row, unlimited)),
  ...(bounds ? { bounds: bounds.map(({ played, ...bound }) => ({ ...bound, played: played.cost })) } : {}),
});

await runScript(main);
