/** What holds of every page: it is short, every link leads somewhere, every file that it names is there, and the map leads to it. */
import { existsSync, readdirSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { describe, expect, test } from "vitest";
import {
  countWords,
  findAnchors,
  findCommandBlocks,
  findFixedKeys,
  findLinks,
  findNamedPaths,
  findPieces,
  type Page,
  readPages,
  toOutputPattern,
} from "../support/doc-pages";

const ROOT = join(import.meta.dirname, "..", "..");
const MAP = "docs/README.md";
const MOST_WORDS = 1_500;
const MOST_WORDS_OF_A_PARAGRAPH = 80;

const pages = readPages();
const byPath = new Map(pages.map((page) => [page.path, page]));

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
  test.each(pages)("has at most 1,500 words: $path", ({ text }) => {
    expect(countWords(text)).toBeLessThanOrEqual(MOST_WORDS);
  });

  test.each(pages)("has no paragraph and no item of more than 80 words: $path", (page) => {
    const long = findPieces(page).filter(({ text }) => countWords(text) > MOST_WORDS_OF_A_PARAGRAPH);
    expect(long.map(({ text }) => `${countWords(text)}: ${text}`)).toEqual([]);
  });

  test.each(pages)("has links that all lead to a file and a heading: $path", (page) => {
    const faults = findLinks(page)
      .filter((target) => !isElsewhere(target))
      .map((target) => findFault(page, target));
    expect(faults.filter((fault) => fault !== null)).toEqual([]);
  });

  test.each(pages)("has no Idempotency-Key that is the same each time: $path", (page) => {
    expect(findFixedKeys(page)).toEqual([]);
  });

  test.each(pages)("names no file that is not there: $path", (page) => {
    const missing = findNamedPaths(page).filter((path) => !existsSync(join(ROOT, path)) && !existsSync(join(ROOT, `${path}.ts`)));
    expect(missing).toEqual([]);
  });
});

describe("a path without src", () => {
  const rooms = readdirSync(join(ROOT, "src"), { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  const inRoom = new RegExp(`\`((?:${rooms.join("|")})/[\\w./-]+\\.ts)\``, "g");

  test.each(pages)("names a file of src that is there: $path", ({ text }) => {
    const named = [...text.matchAll(inRoom)].map(([, path = ""]) => path);
    expect(named.filter((path) => !existsSync(join(ROOT, "src", path)))).toEqual([]);
  });
});

describe("what is read of a page", () => {
  const page: Page = {
    path: "docs/x.md",
    text: [
      "# One, two\n\nA text\nof two lines, with [a link](a.md#b).\n\n- an item\n  that goes on\n- another\n",
      "**Needs an account.** First:\n\n```sh\ncat src/index.ts\n```\n\n| a | table |\n\n## One, two\n\n`docs/NNNN-x.md` and `docs/limits.md`\n",
    ].join("\n"),
  };

  test("paragraphs and items, without headings, tables and code", () => {
    expect(findPieces(page).map(({ kind, text }) => `${kind}: ${text}`)).toEqual([
      "paragraph: A text of two lines, with [a link](a.md#b).",
      "item: - an item that goes on",
      "item: - another",
      "paragraph: **Needs an account.** First:",
      "paragraph: `docs/NNNN-x.md` and `docs/limits.md`",
    ]);
  });

  test("links, headings as anchors, and files that commands and backticks name", () => {
    expect(findLinks(page)).toEqual(["a.md#b"]);
    expect([...findAnchors(page)]).toEqual(["one-two", "one-two-1"]);
    expect(findNamedPaths(page)).toEqual(["src/index.ts", "docs/limits.md"]);
  });

  test("what a block of commands needs beside a backend", () => {
    const block = { page: "docs/x.md", line: 12, commands: "cat src/index.ts\n", needs: "an account", shows: null };
    expect(findCommandBlocks(page)).toEqual([block]);
  });

  test("what a block of commands prints: the text that follows at once", () => {
    const text = "```sh\nls\n```\n\n```text\na\n```\n\n```sh\nls\n```\n\nA program:\n\n```text\nb\n```\n";
    expect(findCommandBlocks({ path: "docs/x.md", text }).map(({ shows }) => shows)).toEqual(["a\n", null]);
  });

  test.each<[string, boolean]>([
    [`ask $URL -H 'Idempotency-Key: rotate-1'`, true],
    [`ask $URL -H 'Idempotency-Key: rotate-$ID'`, true],
    [`ask $URL -H "Idempotency-Key: rotate-1"`, true],
    [`ask $URL -H "Idempotency-Key: rotate-$ID"`, false],
    [`{ "Idempotency-Key": "rotate-1" }`, true],
    [`{ idempotencyKey: "rotate-1" }`, true],
    [`{ "Idempotency-Key": makeKey() }`, false],
    [`{ "idempotency-key": key }`, false],
  ])("an Idempotency-Key that is the same each time: %s: %j", (text, isFixed) => {
    expect(findFixedKeys({ path: "docs/x.md", text }).length > 0).toBe(isFixed);
  });

  test.each<[string, string, boolean]>([
    ['{"id":"…"}', '{"id":"a.b"}', true],
    ["1 + …", "1 + ", true],
    ["a…", "a\nb", false],
    ["a", "ab", false],
    ["a.b", "axb", false],
  ])("an output that is shown as %j: %j", (shows, said, isShown) => {
    expect(toOutputPattern(shows).test(said)).toBe(isShown);
  });
});

test("the map leads to every page", () => {
  const reached = new Set([MAP]);
  for (const path of reached) {
    const page = byPath.get(path);
    const targets = page ? findLinks(page).filter((target) => !isElsewhere(target)) : [];
    for (const target of targets) reached.add(resolveLink(page ?? { path, text: "" }, target).path);
  }
  expect(pages.map(({ path }) => path).filter((path) => !reached.has(path))).toEqual([]);
});
