/**
 * `npm run margin -- --traces DIR`: checks the guard's margin. Recorded conversations are played as one session each in
 * small windows, many times, and a true tokenizer counts every request as a provider does, including ids and frames.
 * The command fails when a request exceeds window − reserve, or the size for which it was planned.
 */
import { readdirSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { z } from "zod";
import { DEFAULT_POLICY } from "../src/context/presets";
import { toSetup } from "./lab/engine/setup";
import { type Margin, playMargin } from "./margin/play-margin.ts";
import { readConversations } from "./replay/recording.ts";
import { readCommandLine, wholeNumber } from "./support/command-line.ts";
import { print, runScript, say } from "./support/output.ts";

const USAGE = `Usage: npm run margin -- --traces DIR [options]
  --traces DIR    recorded conversations, *.jsonl (docs/recordings.md has the format)
  --windows LIST  windows in tokens, with commas between them (4000,8000,16000)
  --seeds N       runs of each recording in each window (20)
  --policy P      a preset's name, or an object as a session takes it (${DEFAULT_POLICY})
  --json          figures as JSON`;

const LEAST_WINDOW = 1_024;
const MOST_WINDOW = 10_000_000;

function readOptions() {
  return readCommandLine(process.argv.slice(2), {
    usage: USAGE,
    options: {
      traces: { type: "string" },
      windows: { type: "string", default: "4000,8000,16000" },
      seeds: { type: "string", default: "20" },
      policy: { type: "string", default: DEFAULT_POLICY },
      json: { type: "boolean", default: false },
    },
    schema: z.object({
      files: z.array(z.string()).length(0, "Name the folder of the recordings by --traces."),
      traces: z.string("is missing: the folder of the recordings"),
      windows: z
        .string()
        .transform((list) => list.split(",").map(Number))
        .pipe(z.array(z.int().min(LEAST_WINDOW).max(MOST_WINDOW))),
      seeds: wholeNumber(1, 10_000),
      policy: z.string(),
      json: z.boolean(),
    }),
  });
}

interface Row extends Margin {
  readonly recording: string;
  readonly window: number;
  readonly seed: number;
}

function play({ traces, windows, seeds, policy }: ReturnType<typeof readOptions>): Row[] {
  const folder = resolve(process.env.INIT_CWD ?? ".", traces);
  const setup = toSetup(policy, { guard: true, eachCall: false, countsChain: false, recall: true });
  const files = readdirSync(folder)
    .filter((name) => name.endsWith(".jsonl"))
    .sort();
  return files.flatMap((file) => {
    const conversations = readConversations(join(folder, file), Number.MAX_SAFE_INTEGER);
    return windows.flatMap((window) =>
      Array.from({ length: seeds }, (_, index): Row => {
        const seed = index + 1;
        return { recording: basename(file, ".jsonl"), window, seed, ...playMargin({ conversations, window, seed, setup }) };
      }),
    );
  });
}

const percent = (share: number): string => `${(100 * share).toFixed(2)} %`;

const toLine = ({ recording, window, seed, calls, epochs, nearest, short, outside, overflows, refused }: Row): string =>
  `${recording} at ${window}, seed ${seed}: ${calls} calls, ${epochs} changes, nearest ${percent(nearest)} of the limit, ${-short} tokens below plan at least, ${outside} outside of their bound, ${overflows} overflows, ${refused} refused`;

async function main(): Promise<number> {
  const given = readOptions();
  const startedAt = performance.now();
  const rows = play(given);
  print(given.json ? JSON.stringify(rows) : rows.map(toLine).join("\n"));
  const wrong = rows.filter(({ overflows, short }) => overflows > 0 || short > 0);
  for (const row of wrong) say(`FAILED: ${toLine(row)}`);
  say(
    `${rows.length} runs, ${wrong.length} with a request above its limit or its plan; ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`,
  );
  return wrong.length > 0 ? 1 : 0;
}

await runScript(main);
