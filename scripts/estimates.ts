/**
 * `npm run estimates`: measures the error of the token estimator against a true tokenizer. Conversations are played
 * call by call through the real commands, events and state. The tokenizer's count is reported as usage, and each next
 * request is compared with the estimate of `Sizing.next`. docs/estimates.md contains the table and explains it.
 */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { CORPUS_NAMES, generateCorpora, readCorpora } from "./estimates/corpora.ts";
import { type CorpusFigures, toFigures, toTotals } from "./estimates/figures.ts";
import { findMissed } from "./estimates/goals.ts";
import { playCorpus } from "./estimates/play-corpus.ts";
import { findStale, formatFigures } from "./estimates/report.ts";
import { countBy, TOKENIZER_NAMES } from "./lab/true-tokens.ts";
import { readCommandLine, wholeNumber } from "./support/command-line.ts";
import { Failure, print, runScript, say } from "./support/output.ts";
import { ROOT } from "./support/paths.ts";

const USAGE = `Usage: npm run estimates -- [options]
  --traces DIR  recorded conversations, *.jsonl (../shared/data/traces, where there is one)
  --seed N      other generated conversations (1)
  --factor F    a provider whose tokenizer counts F times what o200k does, from 0.5 to 2 (1)
  --tokenizer T another tokenizer: ${TOKENIZER_NAMES.join(" or ")} (o200k)
  --check       fails when a goal is missed, or when docs/estimates.md has other figures
  --json        figures as JSON`;

const DOCUMENTED_SEED = 1;
const TABLE = join(ROOT, "docs", "estimates.md");
const BESIDE = join(ROOT, "..", "shared", "data", "traces");

function readOptions() {
  return readCommandLine(process.argv.slice(2), {
    usage: USAGE,
    options: {
      traces: { type: "string" },
      seed: { type: "string", default: "1" },
      factor: { type: "string", default: "1" },
      tokenizer: { type: "string", default: "o200k" },
      check: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
    },
    schema: z
      .object({
        files: z.array(z.string()).length(0, "Name the folder of the recordings by --traces."),
        traces: z.string().optional(),
        seed: wholeNumber(1, 1_000_000_000),
        factor: z.coerce.number().min(0.5, "must be from 0.5 to 2").max(2, "must be from 0.5 to 2"),
        tokenizer: z.enum(TOKENIZER_NAMES, `must be ${TOKENIZER_NAMES.join(" or ")}`),
        check: z.boolean(),
        json: z.boolean(),
      })
      .refine((given) => !given.check || (given.factor === 1 && given.seed === DOCUMENTED_SEED && given.tokenizer === "o200k"), {
        path: ["check"],
        message: "goes without --factor, --seed and --tokenizer: it is about the table of docs/estimates.md",
      }),
  });
}

/** The folder given on the command line, or the folder beside the repository, or null. */
function findTraces(named: string | undefined): string | null {
  if (named === undefined) return existsSync(BESIDE) ? BESIDE : null;
  const folder = resolve(process.env.INIT_CWD ?? ".", named);
  if (!existsSync(folder)) throw new Failure(`${folder} does not exist`);
  return folder;
}

/** The table of docs/estimates.md covers the shared recordings only. */
function findWrong(figures: readonly CorpusFigures[], rows: readonly CorpusFigures[]): string[] {
  const documented = rows.filter(({ corpus }) => rows !== figures || CORPUS_NAMES.includes(corpus));
  const stale = findStale(documented, readFileSync(TABLE, "utf8"));
  return [...findMissed(figures), ...stale.map((corpus) => `${corpus}: docs/estimates.md has other figures`)];
}

async function main(): Promise<number> {
  const { traces, seed, factor, tokenizer, check, json } = readOptions();
  countBy(tokenizer);
  const startedAt = performance.now();
  const folder = findTraces(traces);
  if (folder === null) say("No recorded conversations beside the repository: the generated ones alone.");
  const corpora = [...(folder === null ? [] : readCorpora(folder)), ...generateCorpora(seed)];
  const played = corpora.map((corpus) => playCorpus(corpus, factor));
  const figures: CorpusFigures[] = played.map(toFigures);
  const rows = [...figures, ...toTotals(played)];
  print(json ? JSON.stringify(rows) : formatFigures(rows));
  say(`${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
  const wrong = check ? findWrong(figures, folder === BESIDE ? rows : figures) : [];
  for (const line of wrong) say(`FAILED: ${line}`);
  return wrong.length > 0 ? 1 : 0;
}

await runScript(main);
