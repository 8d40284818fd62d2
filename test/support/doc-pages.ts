/** The documentation pages: their blocks of commands, prose, links and headings. */
import { readFiles } from "./source-files";

export interface Page {
  /** The path from the repository's root: `docs/limits.md`. */
  readonly path: string;
  readonly text: string;
}

export interface CommandBlock {
  readonly page: string;
  /** The line of its opening fence. */
  readonly line: number;
  readonly commands: string;
  /** The requirement that the paragraph before it names, as in "**Needs a Cloudflare account.**". Null: only `npm start`. */
  readonly needs: string | null;
  /** What it prints: the block of text that follows at once. `…` stands for any part of a line. Null: the page does not say. */
  readonly shows: string | null;
}

export interface Piece {
  readonly kind: "paragraph" | "item";
  readonly text: string;
}

/** Decisions are frozen, so they do not count as pages. */
export const readPages = (): readonly Page[] =>
  readFiles(".", /\.md$/).filter(({ path }) => /^(docs\/((api|clients|channels)\/)?)?[^/]+$/.test(path));

const FENCE = /^```(\w*)[^\n]*\n([\s\S]*?)^```/gm;
const SHELLS = new Set(["sh", "bash", "zsh", "shell"]);

export function findCommandBlocks({ path, text }: Page): readonly CommandBlock[] {
  return [...text.matchAll(FENCE)]
    .filter(([, language = ""]) => SHELLS.has(language))
    .map((match) => {
      const before = text.slice(0, match.index);
      const paragraph = before.trimEnd().split("\n\n").at(-1) ?? "";
      return {
        page: path,
        line: before.split("\n").length,
        commands: match[2] ?? "",
        needs: /^\*\*Needs ([^*]+)\.\*\*/.exec(paragraph)?.[1] ?? null,
        shows: /^\s*\n```text\n([\s\S]*?\n)```/.exec(text.slice(match.index + match[0].length))?.[1] ?? null,
      };
    });
}

/** Matches an output that is as the page shows it. */
export const toOutputPattern = (shows: string): RegExp => new RegExp(`^${shows.trim().split("…").map(escapePattern).join("[^\\n]*")}$`);

const escapePattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

const withoutFences = (text: string): string => text.replace(FENCE, "\n");

/** Paragraphs and list items, each in one line, without headings, tables and code. */
export function findPieces({ text }: Page): readonly Piece[] {
  const blocks = withoutFences(text).split(/\n\s*\n/);
  return blocks.flatMap((block) => {
    const lines = block.split("\n").filter((line) => line.trim() !== "" && !/^(#|\s*\||<!--)/.test(line));
    return gather(lines);
  });
}

function gather(lines: readonly string[]): readonly Piece[] {
  const pieces: { kind: Piece["kind"]; text: string }[] = [];
  for (const line of lines) {
    const last = pieces.at(-1);
    const isItem = /^\s*([-*]|\d+\.)\s/.test(line);
    if (isItem || last === undefined) pieces.push({ kind: isItem ? "item" : "paragraph", text: line.trim() });
    else last.text += ` ${line.trim()}`;
  }
  return pieces;
}

/** The number of words, as `wc -w` counts them. */
export const countWords = (text: string): number => text.split(/\s+/).filter((word) => word !== "").length;

/** Targets of links, as written. Text in code is no link. */
export function findLinks({ text }: Page): readonly string[] {
  const prose = withoutFences(text).replace(/`[^`\n]*`/g, "");
  return [...prose.matchAll(/\]\(([^()\s]+)\)/g)].map(([, target = ""]) => target);
}

/** The anchors that `#…` in a link may name, as GitHub derives them from headings. */
export function findAnchors({ text }: Page): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ""] of withoutFences(text).matchAll(/^#{1,6} (.+)$/gm)) {
    const slug = toSlug(heading);
    let anchor = slug;
    for (let nth = 1; anchors.has(anchor); nth++) anchor = `${slug}-${nth}`;
    anchors.add(anchor);
  }
  return anchors;
}

const toSlug = (heading: string): string =>
  heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replace(/\s/g, "-");

/** Examples whose `Idempotency-Key` is written out: pasted again with anything changed, they are refused. */
const FIXED_KEY = /-H (?:"Idempotency-Key: [^$"\n]*"|'Idempotency-Key: [^'\n]*')|idempotency-?key["']?: ["'][^\n]*/gi;

export const findFixedKeys = ({ text }: Page): readonly string[] => [...text.matchAll(FIXED_KEY)].map(([found]) => found);

const NAMED = /(?:^|[\s`(])((?:src|test|scripts|docs|bench|migrations|\.github|\.ci)\/[\w./-]*\w)/g;

/** Files and directories that backticks or commands name. A path with a placeholder (`NNNN_name.sql`, `Type@version.json`) is none. */
export function findNamedPaths({ text }: Page): readonly string[] {
  const code = [...text.matchAll(FENCE)].map(([, language = "", body = ""]) => (SHELLS.has(language) ? body : ""));
  const inline = [...withoutFences(text).matchAll(/`([^`\n]+)`/g)].map(([, body = ""]) => body);
  return [...code, ...inline]
    .flatMap((piece) =>
      [...piece.matchAll(NAMED)].map((match) => ({ path: match[1] ?? "", next: piece.charAt(match.index + match[0].length) })),
    )
    .filter(({ path, next }) => !/[*…{<@]/.test(next) && !/(\b|_|-)(X|N|NNNN)(\b|_)/.test(path))
    .map(({ path }) => path);
}
