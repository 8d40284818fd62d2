/**
 * Cuts a long markdown text into messages. A code block that is cut is closed, and opened again with its info string; a table gets its head
 * again, and a quote its marks. Blank space at a cut is lost, and nothing else.
 */
import { chooseCut, endCharacter, endGrapheme } from "./cut-places";
import { findLine, readMarkdownLines, type SourceLine } from "./markdown-lines";

/** The length that is tried first, near the limits of chat platforms. */
const FIRST_GUESS = 4_096;

/**
 * `fits` gets the markdown of a part, and tells whether a message takes it. It should be true for shorter texts too. When a single character
 * does not fit, it is a part nevertheless.
 */
export function splitMarkdown(markdown: string, fits: (part: string) => boolean): string[] {
  const splitter = new Splitter(markdown, fits);
  const parts: string[] = [];
  for (let part = splitter.next(); part !== null; part = splitter.next()) if (part !== "") parts.push(part);
  return parts;
}

/** `as_is`: without what repeats a block's beginning, where that leaves no room. */
type Form = "whole" | "as_is";

class Splitter {
  readonly #text: string;
  readonly #lines: readonly SourceLine[];
  readonly #fits: (part: string) => boolean;
  #from = 0;
  #guess = FIRST_GUESS;

  constructor(text: string, fits: (part: string) => boolean) {
    this.#text = text;
    this.#lines = readMarkdownLines(text);
    this.#fits = fits;
  }

  /** Null at the end. Empty: there was blank space only. */
  next(): string | null {
    this.#skip();
    if (this.#from >= this.#text.length) return null;
    const from = this.#from;
    const { to, form } = this.#findEnd();
    this.#from = to;
    this.#guess = to - from;
    return this.#compose(from, to, form);
  }

  /** Skips blank lines, and the end of a code block that the part before has closed. */
  #skip(): void {
    for (let line = this.#lineAt(this.#from); line && line.from === this.#from && this.#from < this.#text.length; ) {
      if (line.kind !== "blank" && line.kind !== "fence_end") return;
      this.#from = line.end;
      line = this.#lineAt(this.#from);
    }
  }

  #lineAt(place: number): SourceLine | undefined {
    return this.#lines[findLine(this.#lines, place)];
  }

  #findEnd(): { readonly to: number; readonly form: Form } {
    for (const form of ["whole", "as_is"] as const) {
      const limit = this.#findLimit(form);
      if (limit > this.#from) return { to: this.#findCut(limit, form), form };
    }
    return { to: endGrapheme(this.#text, this.#from), form: "as_is" };
  }

  #isFit(to: number, form: Form): boolean {
    const part = this.#compose(this.#from, to, form);
    return part === "" || this.#fits(part);
  }

  /** The end of a long text that fits. `#from`: nothing fits. */
  #findLimit(form: Form): number {
    const from = this.#from;
    const isFit = (length: number): boolean => this.#isFit(endCharacter(this.#text, from, from + length), form);
    let [low, high] = findBounds({ guess: this.#guess, rest: this.#text.length - from, isFit });
    while (high - low > 1 + (low >> CLOSE_ENOUGH)) {
      const middle = (low + high) >> 1;
      if (isFit(middle)) low = middle;
      else high = middle;
    }
    return low === 0 ? from : endCharacter(this.#text, from, from + low);
  }

  #findCut(found: number, form: Form): number {
    const range = { text: this.#text, lines: this.#lines, from: this.#from };
    for (let limit = found; limit > this.#from; limit -= 1 + ((limit - this.#from) >> 2)) {
      const cut = chooseCut({ ...range, limit });
      if (cut === found || this.#isFit(cut, form)) return cut;
    }
    return found;
  }

  /** Empty: there is nothing to read between the two places. */
  #compose(from: number, to: number, form: Form): string {
    const first = this.#lineAt(from);
    const body = this.#text.slice(from, to).trim();
    if (form === "as_is" || !first) return body;
    if (body === "" || (first.kind === "fence" && to <= first.end)) return "";
    const isWithin = from > first.from;
    const { text, moved } = this.#dedent(from, to);
    const trimmed = first.kind === "code" && !isWithin ? text.replace(/^\n+/, "") : text.trimStart();
    return `${reopen(first, isWithin)}${trimmed.trimEnd()}${this.#close(to, moved)}`;
  }

  #close(to: number, moved: number): string {
    const fence = to < this.#text.length ? this.#lineAt(to)?.fence : null;
    return fence ? `\n${fence.quote}${" ".repeat(Math.max(0, fence.indent - moved))}${fence.marker}` : "";
  }

  /** A part that begins deep in a list moves to the left, since a text that begins with four blanks is code. `moved`: how far its end has. */
  #dedent(from: number, to: number): { readonly text: string; readonly moved: number } {
    const begin = findLine(this.#lines, from);
    const first = this.#lines[begin];
    const depth = first ? findDepth(first, from) : 0;
    if (depth === 0) return { text: this.#text.slice(from, to), moved: 0 };
    const pieces: string[] = [];
    for (let number = begin; ; number++) {
      const line = this.#lines[number];
      if (!line || line.from >= to) return { text: pieces.join(""), moved: depth };
      if (number > begin && line.indent === 0 && line.kind !== "blank" && line.kind !== "code")
        return { text: pieces.join("") + this.#text.slice(line.from, to), moved: 0 };
      const piece = this.#text.slice(Math.max(line.from, from), Math.min(line.end, to));
      pieces.push(line.from < from ? piece : stripIndent(piece, line.quote, depth));
    }
  }
}

/** Lengths are near enough when they differ by 1/2^6. */
const CLOSE_ENOUGH = 6;

interface Search {
  readonly guess: number;
  readonly rest: number;
  readonly isFit: (length: number) => boolean;
}

/** A length that fits, and one that does not. The guess is doubled or halved, so that the work is in proportion to the result. */
function findBounds({ guess, rest, isFit }: Search): [low: number, high: number] {
  let high = Math.min(guess, rest);
  if (isFit(high)) {
    while (high < rest) {
      const low = high;
      high = Math.min(high * 2, rest);
      if (!isFit(high)) return [low, high];
    }
    return [rest, rest];
  }
  for (; high > 1; high >>= 1) if (isFit(high >> 1)) return [high >> 1, high];
  return [0, 1];
}

/** What a part begins with that continues a block. `isWithin`: the part begins within the line. */
function reopen(first: SourceLine, isWithin: boolean): string {
  const quote = isWithin ? first.quote : "";
  if (first.fence) return `${first.fence.quote}${first.fence.marker}${first.fence.info}\n${quote}`;
  return isWithin ? quote : (first.head ?? "");
}

function findDepth({ fence, content, indent, from }: SourceLine, begin: number): number {
  if (fence) return fence.indent;
  return begin > from ? content : indent;
}

function stripIndent(line: string, quote: string, depth: number): string {
  let end = quote.length;
  while (end < quote.length + depth && (line[end] === " " || line[end] === "\t")) end += 1;
  return quote + line.slice(end);
}
