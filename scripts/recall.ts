/**
 * `npm run recall`: measures how much of the content that left the view a look-up finds. It generates a long
 * conversation in four languages, with facts at known places, sentences that resemble them and tool results between
 * them. Each fact is asked for in its own words and in other words.
 */
import { z } from "zod";
import { measureBaseline } from "./recall/baseline.ts";
import { plantFacts } from "./recall/conversation.ts";
import { findMissed, formatFigures } from "./recall/figures.ts";
import { CHAT_LANGUAGES } from "./recall/languages.ts";
import { measureLanguage } from "./recall/measure.ts";
import { readCommandLine, wholeNumber } from "./support/command-line.ts";
import { print, runScript, say } from "./support/output.ts";

const USAGE = `Usage: npm run recall -- [options]
  --seed N  another conversation (1)
  --check   fails when a goal is missed: everything by execution id and by its own words, 95 % where the question shares words
  --json    figures as JSON`;

function readOptions() {
  return readCommandLine(process.argv.slice(2), {
    usage: USAGE,
    options: {
      seed: { type: "string", default: "1" },
      check: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
    },
    schema: z.object({
      files: z.array(z.string()).length(0, "It takes no files."),
      seed: wholeNumber(1, 1_000_000_000),
      check: z.boolean(),
      json: z.boolean(),
    }),
  });
}

async function main(): Promise<number> {
  const { seed, check, json } = readOptions();
  const startedAt = performance.now();
  const figures = [];
  for (const language of CHAT_LANGUAGES) {
    const planted = plantFacts(language, seed);
    figures.push(...(await measureLanguage(language.name, planted)), ...measureBaseline(language.name, planted));
  }
  print(json ? JSON.stringify(figures) : formatFigures(figures));
  say(`${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
  const missed = check ? findMissed(figures) : [];
  for (const line of missed) say(`FAILED: ${line}`);
  return missed.length > 0 ? 1 : 0;
}

await runScript(main);
