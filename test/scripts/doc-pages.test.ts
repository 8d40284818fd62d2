/** What holds of every page: it is short, every link leads somewhere, every file that it names is there, and the map leads to it. */
import { existsSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { describe, expect, test } from "vitest";
import { countWords, findAnchors, findLinks, findNamedPaths, findPieces, type Page, readPages } from "../support/doc-pages";

const ROOT = join(import.meta.dirname, "..", "..");
const MAP = "docs/README.md";
const MOST_WORDS = 1_500;
const MOST_WORDS_OF_A_PARAGRAPH = 80;

const pages = readPages();
const byPath = new Map(pages.map((page) => [page.path, page]));

/** Still to be split. */
const LONG = new Set<string>(["docs/design.md"]);
const short = pages.filter(({ path }) => !LONG.has(path));

const isElsewhere = (target: string): boolean => /^(https?|mailto):/.test(target);

/** A link's file from the repository's root, and its heading. */
function resolveLink(page: Page, target: string): { readonly path: string; readonly anchor: string } {
  const [path = "", anchor = ""] = target.split("#");
  return { path: path === "" ? page.path : posix.join(dirname(page.path), path), anchor };
}

function findFault(page: Page, target: string): string | null {
  const { path, anchor } = resolveLink(page, target);
  if (!existsSync(join(ROOT, path))) return `${target}: no such file`;
  const linked = byPath.get(path);
  return anchor !== "" && linked && !findAnchors(linked).has(anchor) ? `${target}: no such heading` : null;
}

describe("a page", () => {
  test.each(short)("has at most 1,500 words: $path", ({ text }) => {
    expect(countWords(text)).toBeLessThanOrEqual(MOST_WORDS);
  });

  test.each(short)("has no paragraph and no item of more than 80 words: $path", (page) => {
    const long = findPieces(page).filter(({ text }) => countWords(text) > MOST_WORDS_OF_A_PARAGRAPH);
    expect(long.map(({ text }) => `${countWords(text)}: ${text}`)).toEqual([]);
  });

  test.each(pages)("has links that all lead to a file and a heading: $path", (page) => {
    const faults = findLinks(page)
      .filter((target) => !isElsewhere(target))
      .map((target) => findFault(page, target));
    expect(faults.filter((fault) => fault !== null)).toEqual([]);
  });

  test.each(pages)("names no file that is not there: $path", (page) => {
    const missing = findNamedPaths(page).filter((path) => !existsSync(join(ROOT, path)) && !existsSync(join(ROOT, `${path}.ts`)));
    expect(missing).toEqual([]);
  });
});

test("the map leads to every page", () => {
  const reached = new Set([MAP]);
  for (const path of reached) {
    const page = byPath.get(path);
    const targets = page ? findLinks(page).filter((target) => !isElsewhere(target)) : [];
    for (const target of targets) reached.add(resolveLink(page ?? { path, text: "" }, target).path);
  }
  expect(pages.map(({ path }) => path).filter((path) => !reached.has(path) && !LONG.has(path))).toEqual([]);
});
