/**
 * Reads a text with `parse_mode: HTML` as the Bot API's documents describe it, and refuses what they rule out:
 * https://core.telegram.org/bots/api#html-style. Telegram itself is milder in one thing: it drops formatting that may not be nested.
 */

export interface Entity {
  readonly type: string;
  /** UTF-16 units. */
  readonly offset: number;
  readonly length: number;
  readonly url?: string;
  readonly language?: string;
}

export interface ReadHtml {
  readonly text: string;
  readonly entities: readonly Entity[];
}

export class HtmlFault extends Error {}

const TYPES: Readonly<Record<string, string>> = {
  b: "bold",
  strong: "bold",
  i: "italic",
  em: "italic",
  u: "underline",
  ins: "underline",
  s: "strikethrough",
  strike: "strikethrough",
  del: "strikethrough",
  "tg-spoiler": "spoiler",
  a: "text_link",
  code: "code",
  pre: "pre",
  blockquote: "blockquote",
};
const NAMED: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"' };
const LINK = /^(?:https?|tg|mailto|tel|ftp):/i;

interface OpenTag {
  readonly name: string;
  readonly offset: number;
  readonly attribute: string | undefined;
}

const PIECE =
  /<(?<slash>\/?)(?<name>[a-z0-9-]*)(?<attributes>(?:\s+[a-z-]+(?:="[^"]*")?)*)\s*>|&(?:(?<named>lt|gt|amp|quot)|#(?<decimal>\d{1,6})|#x(?<hex>[0-9a-f]{1,5}));|[^<&]+|[<&]/giy;

export function readHtml(html: string): ReadHtml {
  let text = "";
  const open: OpenTag[] = [];
  const entities: Entity[] = [];
  for (const { 0: whole, groups = {} } of html.matchAll(PIECE)) {
    const { slash, name, attributes = "" } = groups;
    if (name === undefined) text += toCharacters(whole, groups);
    else if (slash) entities.push(...close(open, name.toLowerCase(), text));
    else open.push(toOpenTag(name.toLowerCase(), attributes, text.length));
  }
  const last = open.at(-1);
  if (last) throw new HtmlFault(`Can't find end tag corresponding to start tag "${last.name}"`);
  const sorted = joinLanguages(entities).toSorted((a, b) => a.offset - b.offset || b.length - a.length);
  checkNesting(sorted);
  return trim(text, sorted);
}

/** A `&` that begins no entity is itself. A `<` must begin a tag. */
function toCharacters(whole: string, { named, decimal, hex }: Readonly<Record<string, string | undefined>>): string {
  if (whole === "<") throw new HtmlFault('Unsupported start tag ""');
  if (named) return NAMED[named] ?? whole;
  if (decimal) return String.fromCodePoint(Number(decimal));
  return hex ? String.fromCodePoint(Number.parseInt(hex, 16)) : whole;
}

function toOpenTag(name: string, attributes: string, offset: number): OpenTag {
  if (!Object.hasOwn(TYPES, name)) throw new HtmlFault(`Unsupported start tag "${name}" at byte offset ${offset}`);
  const value = /="([^"]*)"/.exec(attributes)?.[1]?.replace(/&(lt|gt|amp|quot);/g, (_, each: string) => NAMED[each] ?? "");
  return { name, offset, attribute: value };
}

function close(open: OpenTag[], name: string, text: string): readonly Entity[] {
  const tag = open.pop();
  if (!tag) throw new HtmlFault(`Unexpected end tag at byte offset ${text.length}`);
  if (tag.name !== name)
    throw new HtmlFault(`Unmatched end tag at byte offset ${text.length}, expected "</${tag.name}>", found "</${name}>"`);
  const entity = { type: TYPES[name] ?? name, offset: tag.offset, length: text.length - tag.offset };
  if (entity.length === 0) return [];
  if (name === "a") return tag.attribute !== undefined && LINK.test(tag.attribute) ? [{ ...entity, url: tag.attribute }] : [];
  // Code with a language inside of `pre` is one entity with it.
  const language = name === "code" && open.at(-1)?.name === "pre" ? /^language-(.+)$/.exec(tag.attribute ?? "")?.[1] : undefined;
  return [language === undefined ? entity : { ...entity, type: "language", language }];
}

function joinLanguages(entities: readonly Entity[]): readonly Entity[] {
  const languages = entities.filter(({ type }) => type === "language");
  const findLanguage = ({ offset, length }: Entity) => languages.find((each) => each.offset === offset && each.length === length)?.language;
  return entities.flatMap((entity) => {
    const language = entity.type === "pre" ? findLanguage(entity) : undefined;
    if (entity.type === "language") return [];
    return [language === undefined ? entity : { ...entity, language }];
  });
}

const MARKS = new Set(["bold", "italic", "underline", "strikethrough", "spoiler"]);

/** Marks may contain and be part of all but code. Quotes are not nested. Code is in a quote alone, and links neither in code nor in links. */
function checkNesting(entities: readonly Entity[]): void {
  const open: Entity[] = [];
  for (const entity of entities) {
    while (open.length > 0 && (open.at(-1)?.offset ?? 0) + (open.at(-1)?.length ?? 0) <= entity.offset) open.pop();
    for (const outer of open) if (!mayContain(outer.type, entity.type)) throw new HtmlFault(`${entity.type} is in ${outer.type}`);
    open.push(entity);
  }
}

function mayContain(outer: string, inner: string): boolean {
  if (outer === "pre" || outer === "code") return false;
  if (inner === "code" || inner === "pre") return outer === "blockquote";
  if (MARKS.has(outer)) return inner !== outer;
  return outer === "blockquote" ? inner !== "blockquote" : MARKS.has(inner);
}

/** Telegram removes blanks at both ends. */
function trim(text: string, entities: readonly Entity[]): ReadHtml {
  const trimmed = text.trim();
  const cut = text.length - text.trimStart().length;
  const moved = entities.map((entity) => {
    const from = Math.max(0, entity.offset - cut);
    return { ...entity, offset: from, length: Math.min(entity.offset - cut + entity.length, trimmed.length) - from };
  });
  return { text: trimmed, entities: moved.filter(({ length }) => length > 0) };
}
