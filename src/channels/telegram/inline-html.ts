/** Formatted words as Telegram's HTML. */
import { assertNever } from "../../lib/assert-never";
import { type MarkdownInline, toWords } from "../text/markdown";

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

export const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => ESCAPES[character] ?? character);

type Mark = "b" | "i" | "s";
/** The order of nesting, so that neighbours share their tags. */
const MARKS: readonly Mark[] = ["b", "i", "s"];

/** What surrounds a text. `url`: of the link that it is in. */
interface Around {
  readonly marks: readonly Mark[];
  readonly url: string | null;
}

/** `marks`: of all of the text, such as a heading's. */
export function toInlineHtml(nodes: readonly MarkdownInline[], marks: readonly Mark[]): string {
  const writer = new TagWriter();
  for (const node of nodes) writeInline(node, { marks, url: null }, writer);
  return writer.finish();
}

function writeInline(node: MarkdownInline, around: Around, writer: TagWriter): void {
  switch (node.type) {
    case "text":
      return writer.write(node.text, toTags(around));
    case "break":
      return writer.write("\n", toTags(around));
    case "code":
      // Within a link, code would have to be part of the link's text. It is plain there.
      return writer.write(node.text, around.url === null ? ["code"] : toTags(around));
    case "strong":
      return writeAll(node.children, withMark(around, "b"), writer);
    case "emphasis":
      return writeAll(node.children, withMark(around, "i"), writer);
    case "strikethrough":
      return writeAll(node.children, withMark(around, "s"), writer);
    case "link":
      return writeLink(node.url, node.children, around, writer);
    case "image":
      return writeLink(node.url, [{ type: "text", text: node.alt === "" ? node.url : node.alt }], around, writer);
    default:
      return assertNever(node);
  }
}

function writeAll(nodes: readonly MarkdownInline[], around: Around, writer: TagWriter): void {
  for (const node of nodes) writeInline(node, around, writer);
}

const withMark = (around: Around, mark: Mark): Around =>
  around.marks.includes(mark) ? around : { ...around, marks: [...around.marks, mark] };

/** Addresses that Telegram follows. Others, such as a path, are shown behind the text. */
const FOLLOWED = /^(?:https?:\/\/|tg:\/\/|mailto:)[^\s]{1,2000}$/i;

function writeLink(url: string, children: readonly MarkdownInline[], around: Around, writer: TagWriter): void {
  // A link in a link is part of the outer one, as an image in a link is.
  if (around.url !== null) return writeAll(children, around, writer);
  if (FOLLOWED.test(url)) return writeAll(children, { ...around, url }, writer);
  writeAll(children, around, writer);
  if (url !== "" && toWords(children) !== url) writer.write(` (${url})`, toTags(around));
}

function toTags({ marks, url }: Around): readonly string[] {
  const tags = MARKS.filter((mark) => marks.includes(mark));
  return url === null ? tags : [`a href="${escapeHtml(url)}"`, ...tags];
}

/** Opens and closes tags between neighbours, so that they are nested and none is left open. */
class TagWriter {
  readonly #pieces: string[] = [];
  #open: readonly string[] = [];

  write(text: string, tags: readonly string[]): void {
    if (text === "") return;
    this.#change(tags);
    this.#pieces.push(escapeHtml(text));
  }

  finish(): string {
    this.#change([]);
    return this.#pieces.join("");
  }

  #change(tags: readonly string[]): void {
    const differs = this.#open.findIndex((tag, place) => tags[place] !== tag);
    const kept = differs < 0 ? this.#open.length : differs;
    for (const tag of this.#open.slice(kept).toReversed()) this.#pieces.push(`</${tag.split(" ", 1)[0]}>`);
    for (const tag of tags.slice(kept)) this.#pieces.push(`<${tag}>`);
    this.#open = tags;
  }
}
