/**
 * The markdown of a model as a tree, from which each adapter writes its platform's form. Raw HTML stays text, but for `<br>`. No word of the
 * source is lost. The tree is at most `MAX_NESTING` deep, so that a walk over it cannot exhaust the stack.
 */
import MarkdownIt, { type Token } from "markdown-it";

export type MarkdownInline =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "emphasis" | "strong" | "strikethrough"; readonly children: readonly MarkdownInline[] }
  | { readonly type: "code"; readonly text: string }
  | { readonly type: "link"; readonly url: string; readonly children: readonly MarkdownInline[] }
  | { readonly type: "image"; readonly url: string; readonly alt: string }
  /** `is_hard`: the author asked for the break. A soft one is only where the source's line ends. */
  | { readonly type: "break"; readonly is_hard: boolean };

/** `is_done`: of a task's box. Null: the item has none. */
export interface MarkdownItem {
  readonly is_done: boolean | null;
  readonly children: readonly MarkdownBlock[];
}

export type MarkdownBlock =
  | { readonly type: "paragraph"; readonly children: readonly MarkdownInline[] }
  | { readonly type: "heading"; readonly level: number; readonly children: readonly MarkdownInline[] }
  /** `language`: the first word of the info string. `text` has no line break at its end. */
  | { readonly type: "code_block"; readonly language: string | null; readonly text: string }
  | { readonly type: "quote"; readonly children: readonly MarkdownBlock[] }
  /** `start`: the first number. Null: the list has bullets. */
  | { readonly type: "list"; readonly start: number | null; readonly items: readonly MarkdownItem[] }
  /** Every row has as many cells as `header`. */
  | {
      readonly type: "table";
      readonly header: readonly (readonly MarkdownInline[])[];
      readonly rows: readonly (readonly (readonly MarkdownInline[])[])[];
    }
  | { readonly type: "rule" };

/** Blocks that are nested deeper make the whole text plain, since the parser would leave them out. MarkdownInline formatting that is deeper is dropped. */
const MAX_NESTING = 40;

const parser = new MarkdownIt({ html: false, linkify: false, typographer: false, maxNesting: MAX_NESTING });

/** Parses CommonMark with tables, strikethrough and task lists. It takes every text. */
export function parseMarkdown(markdown: string): readonly MarkdownBlock[] {
  const tokens = parser.parse(markdown, {});
  const isTooDeep = tokens.some(({ nesting, level }) => nesting > 0 && level >= MAX_NESTING - 1);
  return isTooDeep ? [toPlainParagraph(markdown)] : new BlockReader(tokens).readUntil(null);
}

function toPlainParagraph(markdown: string): MarkdownBlock {
  const children: MarkdownInline[] = [];
  for (const line of markdown.split("\n")) {
    if (children.length > 0) children.push({ type: "break", is_hard: true });
    children.push({ type: "text", text: line });
  }
  return { type: "paragraph", children };
}

/** The words of the nodes, without any formatting. */
export function toWords(nodes: readonly MarkdownInline[]): string {
  return nodes.map(toWord).join("");
}

function toWord(node: MarkdownInline): string {
  switch (node.type) {
    case "text":
    case "code":
      return node.text;
    case "image":
      return node.alt;
    case "break":
      return node.is_hard ? "\n" : " ";
    default:
      return toWords(node.children);
  }
}

/** Reads the parser's flat list: a block opens, its content follows, and it closes. */
class BlockReader {
  #at = 0;
  readonly #tokens: readonly Token[];

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  /** Reads blocks up to the token of the type `end`, which is taken too. */
  readUntil(end: string | null): readonly MarkdownBlock[] {
    const blocks: MarkdownBlock[] = [];
    for (let token = this.#take(); token !== null && token.type !== end; token = this.#take()) {
      const block = this.#readBlock(token);
      if (block) blocks.push(block);
    }
    return blocks;
  }

  #take(): Token | null {
    const token = this.#tokens[this.#at] ?? null;
    this.#at += 1;
    return token;
  }

  #readBlock(token: Token): MarkdownBlock | null {
    switch (token.type) {
      case "paragraph_open":
        return { type: "paragraph", children: this.#readInlines("paragraph_close") };
      case "heading_open":
        return { type: "heading", level: Number(token.tag.slice(1)), children: this.#readInlines("heading_close") };
      case "fence":
      case "code_block":
        return { type: "code_block", language: readLanguage(token.info), text: token.content.replace(/\n$/, "") };
      case "blockquote_open":
        return { type: "quote", children: this.readUntil("blockquote_close") };
      case "bullet_list_open":
        return { type: "list", start: null, items: this.#readItems("bullet_list_close") };
      case "ordered_list_open":
        return { type: "list", start: Number(token.attrGet("start") ?? 1), items: this.#readItems("ordered_list_close") };
      case "table_open":
        return this.#readTable();
      case "hr":
        return { type: "rule" };
      case "inline":
        return { type: "paragraph", children: readInlines(token.children) };
      default:
        return null;
    }
  }

  #readInlines(end: string): readonly MarkdownInline[] {
    const nodes: MarkdownInline[] = [];
    for (let token = this.#take(); token !== null && token.type !== end; token = this.#take())
      for (const node of readInlines(token.children)) nodes.push(node);
    return nodes;
  }

  #readItems(end: string): readonly MarkdownItem[] {
    const items: MarkdownItem[] = [];
    for (let token = this.#take(); token !== null && token.type !== end; token = this.#take())
      if (token.type === "list_item_open") items.push(toItem(this.readUntil("list_item_close")));
    return items;
  }

  #readTable(): MarkdownBlock {
    const rows: (readonly MarkdownInline[])[][] = [];
    for (let token = this.#take(); token !== null && token.type !== "table_close"; token = this.#take()) {
      if (token.type === "tr_open") rows.push([]);
      if (token.type === "th_open") rows.at(-1)?.push(this.#readInlines("th_close"));
      if (token.type === "td_open") rows.at(-1)?.push(this.#readInlines("td_close"));
    }
    const [header = [], ...rest] = rows;
    return { type: "table", header, rows: rest };
  }
}

function readLanguage(info: string): string | null {
  return /^\s*(\S+)/.exec(info)?.[1] ?? null;
}

const TASK = /^\[([ xX])\]\s+/;

/** A task begins with `[ ]` or `[x]`, which become `is_done`. */
function toItem(children: readonly MarkdownBlock[]): MarkdownItem {
  const [first, ...rest] = children;
  const [words, ...others] = first?.type === "paragraph" ? first.children : [];
  const box = words?.type === "text" ? TASK.exec(words.text) : null;
  if (words?.type !== "text" || !box) return { is_done: null, children };
  const text = { type: "text", text: words.text.slice(box[0].length) } as const;
  return { is_done: box[1] !== " ", children: [{ type: "paragraph", children: [text, ...others] }, ...rest] };
}

const MARKS = { em: "emphasis", strong: "strong", s: "strikethrough" } as const;

const isMark = (tag: string): tag is keyof typeof MARKS => Object.hasOwn(MARKS, tag);

/** MarkdownInline tokens are in pairs too. The parser closes what it opens, in the order of nesting. */
function readInlines(tokens: readonly Token[] | null): readonly MarkdownInline[] {
  const reader = new InlineReader();
  for (const token of tokens ?? []) {
    if (token.nesting > 0) reader.open(token);
    else if (token.nesting < 0) reader.close();
    else readLeaf(token, reader.into);
  }
  return reader.root;
}

class InlineReader {
  readonly root: MarkdownInline[] = [];
  /** Null: the mark is too deep, so that the outer one has what it holds. */
  readonly #open: ({ readonly token: Token; readonly children: MarkdownInline[] } | null)[] = [];
  #into = this.root;

  get into(): MarkdownInline[] {
    return this.#into;
  }

  open(token: Token): void {
    const mark = this.#open.length < MAX_NESTING ? { token, children: [] } : null;
    this.#open.push(mark);
    if (mark) this.#into = mark.children;
  }

  close(): void {
    const mark = this.#open.pop();
    if (!mark) return;
    this.#into = this.#open.at(-1)?.children ?? this.root;
    this.#into.push(toMark(mark.token, mark.children));
  }
}

function toMark(token: Token, children: readonly MarkdownInline[]): MarkdownInline {
  return isMark(token.tag) ? { type: MARKS[token.tag], children } : { type: "link", url: String(token.attrGet("href") ?? ""), children };
}

function readLeaf(token: Token, into: MarkdownInline[]): void {
  switch (token.type) {
    case "softbreak":
      into.push({ type: "break", is_hard: false });
      return;
    case "hardbreak":
      into.push({ type: "break", is_hard: true });
      return;
    case "code_inline":
      into.push({ type: "code", text: token.content });
      return;
    case "image":
      into.push({ type: "image", url: String(token.attrGet("src") ?? ""), alt: toWords(readInlines(token.children)) });
      return;
    default:
      readText(token.content, into);
  }
}

/** Models write `<br>` in the cells of tables, where markdown has no other break. */
function readText(text: string, into: MarkdownInline[]): void {
  for (const [place, line] of text.split(/<br ?\/?>/i).entries()) {
    if (place > 0) into.push({ type: "break", is_hard: true });
    if (line !== "") into.push({ type: "text", text: line });
  }
}
