/** The end of `npm run check`: prints how large the repository is, because size is a cost that no other check shows. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { print } from "./support/output.ts";
import { ROOT } from "./support/paths.ts";

const CODE = /\.(?:ts|tsx|js|mjs)$/;

const readTexts = (directory: string, matches: RegExp): readonly string[] =>
  readdirSync(join(ROOT, directory), { recursive: true, encoding: "utf8" })
    .filter((name) => matches.test(name))
    .map((name) => readFileSync(join(ROOT, directory, name), "utf8"));

const sum = (texts: readonly string[], count: (text: string) => number): number => texts.reduce((total, text) => total + count(text), 0);
const countLines = (text: string): number => text.trimEnd().split("\n").length;
const countWords = (text: string): number => text.split(/\s+/).filter(Boolean).length;
const show = (count: number): string => count.toLocaleString("en").padStart(8);

for (const directory of ["src", "scripts", "bench", "test"]) {
  const texts = readTexts(directory, CODE);
  print(`${directory.padEnd(8)}${show(texts.length)} files${show(sum(texts, countLines))} lines`);
}
// Decisions are frozen, so their size is nothing that a change could lower.
const pages = readTexts("docs", /^(?!decisions\/).*\.md$/);
print(`${"docs".padEnd(8)}${show(pages.length)} pages${show(sum(pages, countWords))} words, decisions aside`);
