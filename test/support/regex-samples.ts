/** Texts made for a regular expression: matches, near matches, and repetitions of both. */

type Tokens = readonly string[];

const CLASSES: Readonly<Record<string, string>> = {
  d: "1",
  D: "x",
  w: "a",
  W: "-",
  s: " ",
  S: "x",
  b: "",
  B: "",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  f: "\f",
  0: "\0",
};
const PROPERTIES: Readonly<Record<string, string>> = {
  Lu: "A",
  N: "1",
  M: "\u0301",
  Cc: "\u0001",
  Cf: "\u200b",
  Zl: "\u2028",
  Zp: "\u2029",
  Extended_Pictographic: "😀",
  Han: "中",
  Hiragana: "あ",
  Katakana: "ア",
  Hangul: "한",
  Thai: "ก",
  Lao: "ກ",
  Khmer: "ក",
  Myanmar: "က",
  Cyrillic: "ж",
};

/** One way through a pattern: the `choice`-th of each alternative and each class. */
class Walk {
  #at = 0;

  readonly source: string;
  readonly choice: number;

  constructor(source: string, choice: number) {
    this.source = source;
    this.choice = choice;
  }

  run(): Tokens {
    return this.#alternatives();
  }

  #alternatives(): string[] {
    const all: string[][] = [[]];
    while (this.#at < this.source.length && this.source[this.#at] !== ")") {
      if (this.source[this.#at] === "|") {
        this.#at += 1;
        all.push([]);
      } else all.at(-1)?.push(...this.#term());
    }
    return all[this.choice % all.length] ?? [];
  }

  #term(): string[] {
    const atom = this.#atom();
    const quantifier = /^(?:[*+?]|\{(\d+)(?:,\d*)?\})\??/.exec(this.source.slice(this.#at));
    if (!quantifier) return atom;
    this.#at += quantifier[0].length;
    const times = Math.max(1, Math.min(Number(quantifier[1] ?? 1), 8));
    return Array.from({ length: times }, () => atom).flat();
  }

  #atom(): string[] {
    const char = this.source[this.#at];
    if (char === "(") return this.#group();
    if (char === "[") return [this.#class()];
    if (char === "\\") return [this.#escape()].filter((text) => text !== "");
    this.#at += 1;
    if (char === "^" || char === "$") return [];
    return [char === "." ? "x" : (char ?? "")];
  }

  #group(): string[] {
    const [open = "("] = /^\((?:\?(?:[:=!]|<[=!]|<\w+>))?/.exec(this.source.slice(this.#at)) ?? [];
    this.#at += open.length;
    const inner = this.#alternatives();
    this.#at += 1;
    return open.endsWith("!") ? [] : inner;
  }

  #class(): string {
    const isNegated = this.source[this.#at + 1] === "^";
    const start = this.#at;
    this.#at += isNegated ? 2 : 1;
    const members: string[] = [];
    while (this.source[this.#at] !== "]") {
      if (this.source[this.#at] === "\\") members.push(this.#escape());
      else {
        const point = String.fromCodePoint(this.source.codePointAt(this.#at) ?? 0);
        members.push(point);
        this.#at += point.length;
      }
    }
    this.#at += 1;
    if (!isNegated) return members[this.choice % members.length] ?? "";
    const own = new RegExp(this.source.slice(start, this.#at), "u");
    return ["x", " ", "1", "中", "-", "\n"].filter((char) => own.test(char))[this.choice % 2] ?? "x";
  }

  #escape(): string {
    const [whole = "\\", , property = "", hex = ""] =
      /^\\(?:([pP])\{(?:\w+=)?(\w+)\}|u\{?([0-9a-fA-F]{4,6})\}?|x([0-9a-fA-F]{2})|.)/su.exec(this.source.slice(this.#at)) ?? [];
    this.#at += whole.length;
    if (property) return whole[1] === "P" ? "a" : (PROPERTIES[property] ?? "a");
    if (hex) return String.fromCodePoint(Number.parseInt(hex, 16));
    if (/^\\x/.test(whole)) return String.fromCodePoint(Number.parseInt(whole.slice(2), 16));
    const letter = whole.slice(1);
    return /^[1-9]$/.test(letter) ? "" : (CLASSES[letter] ?? letter);
  }
}

const CHOICES = 5;
const MAX_PREFIXES = 6;
const MAX_PIECES = 48;
/** A character that no pattern here contains. */
const TAIL = "\u0007";

/** Makes a text of a given length from a beginning, a repeated part, and an end. */
export interface Recipe {
  readonly before: string;
  readonly repeated: string;
  readonly after: string;
}

export const cook = ({ before, repeated, after }: Recipe, length: number): string =>
  before + repeated.repeat(Math.max(1, Math.ceil((length - before.length - after.length) / repeated.length))) + after;

const GENERIC = [
  "a",
  "A",
  "1",
  " ",
  "\n",
  "-",
  "-a",
  "a ",
  "a.",
  "a@",
  "<",
  "<a>",
  "(",
  "{",
  "[",
  '"',
  "\\",
  "é",
  "中",
  "😀",
  "\ud800",
  "a,b ",
];

/** Texts that keep `source` busy: its own characters, beginnings of its matches, and texts that match nothing in particular. */
export function recipesFor(source: string): readonly Recipe[] {
  const walks = Array.from({ length: CHOICES }, (_, choice) => new Walk(source, choice).run());
  const pieces = new Set<string>();
  for (const tokens of walks) {
    for (const token of tokens) pieces.add(token);
    const step = Math.max(1, Math.floor(tokens.length / MAX_PREFIXES));
    for (let end = tokens.length; end > 1; end -= step) pieces.add(tokens.slice(0, end).join(""));
    for (let start = 1; start < tokens.length - 1; start += step) pieces.add(tokens.slice(start).join(""));
  }
  const own = [...pieces].filter((piece) => piece !== "").slice(0, MAX_PIECES);
  const repeated = [...new Set([...own, ...GENERIC])].map((piece) => ({ before: "", repeated: piece, after: TAIL }));
  const led = walks.flatMap((tokens) => {
    const last = tokens.at(-1);
    return last ? [{ before: tokens.slice(0, -1).join(""), repeated: last, after: TAIL }] : [];
  });
  const loops = walks.flatMap((tokens) =>
    tokens.slice(0, MAX_PREFIXES * 2).map((token, at) => ({ before: tokens.slice(0, at).join(""), repeated: token, after: TAIL })),
  );
  return [...repeated, ...led, ...loops];
}
