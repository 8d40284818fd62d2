/**
 * `npm run lab -- --traces DIR`: replays recorded conversations under policies through the real context code, without a
 * server or a model, and says what each would cost and lose. docs/policy.md has what is measured and how.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { parsePolicyText } from "../src/context/policy-choice";
import { DEFAULT_POLICY, POLICY_NAMES } from "../src/context/presets";
import { runColumn, runUnlimited } from "../src/evaluate/run-column";
import { type Options, type Setup, toSetup } from "../src/evaluate/setup";
import { readColumns } from "./lab/column.ts";
import { drawColumn } from "./lab/picture.ts";
import { type ColumnReport, formatColumn, toRow } from "./lab/report.ts";
import { trueTokens } from "./lab/true-tokens.ts";
import { findComplaints, PROFILES, toJudged } from "./lab/verdict.ts";
import { readCommandLine, wholeNumber } from "./support/command-line.ts";
import { print, runScript, say } from "./support/output.ts";
import { LONGHAND } from "./support/paths.ts";

const USAGE = `Usage: npm run lab -- --traces DIR [options]
  --traces DIR    recorded conversations, *.jsonl (docs/guide.md has the format)
  --policy P      one of ${POLICY_NAMES.join(", ")},
                  or an object as a session takes it; may be given several times (all)
  --window N      window of every column, in tokens (16000)
  --each-call     look at the soft trigger before each call, not where the policy says
  --count-chain   a folded summary is as long as its share of the chain too, not only of what is new
  --recall        memory_query is offered, and weighs in every request after the first change of the view
  --check         the four profiles as production runs them; fails when one is not what docs/policy.md says
  --out DIR       where the pictures go (.longhand/lab)
  --json          figures as JSON`;

/** The ancestors are run without the guard as well: what it saves is what that row shows. */
const ANCESTORS = new Set<string>(["oneclaw", "opal", "odincode", "yeoman"]);

function readOptions() {
  return readCommandLine(process.argv.slice(2), {
    usage: USAGE,
    options: {
      traces: { type: "string" },
      policy: { type: "string", multiple: true },
      window: { type: "string" },
      "each-call": { type: "boolean", default: false },
      "count-chain": { type: "boolean", default: false },
      recall: { type: "boolean", default: false },
      check: { type: "boolean", default: false },
      out: { type: "string", default: join(LONGHAND, "lab") },
      json: { type: "boolean", default: false },
    },
    schema: z
      .object({
        files: z.array(z.string()).length(0, "Name the folder of the recordings by --traces."),
        traces: z.string("is missing: the folder of the recordings"),
        policy: z.array(z.string().refine(isPolicy, "names no policy")).optional(),
        window: wholeNumber(1_024, 10_000_000).optional(),
        "each-call": z.boolean(),
        "count-chain": z.boolean(),
        recall: z.boolean(),
        check: z.boolean(),
        out: z.string(),
        json: z.boolean(),
      })
      .refine((given) => !given.check || !NOT_WITH_CHECK.some((name) => given[name]), {
        path: ["check"],
        message: `goes with none of --${NOT_WITH_CHECK.join(", --")}`,
      }),
  });
}

/** Nothing is checked of another policy, or of these otherwise than docs/policy.md has them. */
const NOT_WITH_CHECK = ["policy", "window", "each-call", "count-chain", "recall"] as const;

/** A text that says nothing is read as the default. */
const isPolicy = (text: string): boolean => parsePolicyText(text) !== DEFAULT_POLICY || text === DEFAULT_POLICY;

const toSetups = (name: string, options: Options): Setup[] => [
  ...(ANCESTORS.has(name) ? [toSetup(name, { ...options, guard: false })] : []),
  toSetup(name, { ...options, guard: true }),
];

const fromCaller = (path: string): string => resolve(process.env.INIT_CWD ?? ".", path);

async function main(): Promise<number> {
  const given = readOptions();
  const startedAt = performance.now();
  const options = { eachCall: given["each-call"], countsChain: given["count-chain"], recall: given.recall };
  const policies = given.policy ?? (given.check ? PROFILES : POLICY_NAMES);
  const setups = policies.flatMap((name) => toSetups(name, options));
  const reports = readColumns(fromCaller(given.traces), given.window ?? null).map((column): ColumnReport => {
    const rows = setups.map((setup) => ({ setup, figures: runColumn(column, setup, trueTokens) }));
    return { column, unlimited: runUnlimited(column, trueTokens), rows };
  });
  const out = fromCaller(given.out);
  mkdirSync(out, { recursive: true });
  for (const report of reports) writeFileSync(join(out, `${report.column.name.replaceAll(/\W+/g, "-")}.svg`), drawColumn(report));
  print(given.json ? JSON.stringify(reports.map(toJson)) : reports.map(formatColumn).join("\n\n"));
  if (given.recall) for (const report of reports) say(costOfRecall(report, options));
  say(`${((performance.now() - startedAt) / 1_000).toFixed(1)} s; pictures in ${out}`);
  const complaints = given.check ? findComplaints(reports.map(toJudged)) : [];
  for (const complaint of complaints) say(`FAILED: ${complaint}`);
  return complaints.length > 0 ? 1 : 0;
}

/** What offering memory_query costs the default: the lab's models never call it. */
function costOfRecall({ column, unlimited }: ColumnReport, options: Options): string {
  const [without, offered] = [false, true].map((recall) => {
    const setup = toSetup(DEFAULT_POLICY, { ...options, guard: true, recall });
    return toRow({ setup, figures: runColumn(column, setup, trueTokens) }, unlimited).cost.toFixed(3);
  });
  return `${column.name}: ${DEFAULT_POLICY} costs ${offered} with memory_query offered, ${without} without`;
}

const toJson = ({ column, unlimited, rows }: ColumnReport) => ({
  column: column.name,
  window: column.window,
  unlimited_cost: unlimited.cost,
  rows: rows.map((row) => toRow(row, unlimited)),
});

await runScript(main);
