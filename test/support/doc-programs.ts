/** The complete programs of the documentation pages, each with the output that its page shows. */
import type { Page } from "./doc-pages";

export interface Program {
  readonly page: string;
  /** The line of its opening fence. */
  readonly line: number;
  readonly language: "ts" | "python";
  readonly code: string;
  /** The next block of text behind it, before any further program. Null: the page shows none. */
  readonly output: string | null;
}

const PROGRAM = /^```(ts|python)\n([\s\S]*?)^```$/gm;

export function findPrograms({ path, text }: Page): readonly Program[] {
  const found = [...text.matchAll(PROGRAM)];
  return found.map(({ 0: { length }, index, 1: language, 2: code = "" }, place) => ({
    page: path,
    line: text.slice(0, index).split("\n").length,
    language: language === "python" ? "python" : "ts",
    code,
    output: /^```text\n([\s\S]*?)^```$/m.exec(text.slice(index + length, found[place + 1]?.index))?.[1] ?? null,
  }));
}

/** Ids, times and etags differ in each run. */
export const hideVariables = (text: string): string =>
  text
    .replace(/\b([a-z]{3})_[0-9A-HJKMNP-TV-Z]{26}\b/g, "$1_…")
    .replace(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
    .replace(/\b1[789]\d{11}\b/g, "<time>")
    .replace(/\b\d{4}-\d\d-\d\d\b/g, "<day>");
