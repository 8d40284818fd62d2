/** Encloses text in delimiters that it cannot close, whatever it contains (docs/field.md, smaller traps). */
import { memoize } from "../lib/memoize";

/** `text` between tags. A bracket that would begin or close the tag is replaced, whatever the tag's case, spacing or hidden characters. */
export function enclose(tag: string, text: string): string {
  return `<${tag}>\n${neutralize(tag, text)}\n</${tag}>`;
}

/** Invisible characters that could hide a tag from a pattern: zero width, direction, soft hyphen, fillers. */
const HIDDEN =
  "[\\s\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufe00-\\ufe0f\\ufeff]*";

/** Escapes text that stands where any of `tags` may be opened and closed. */
export function tagEscaper(tags: readonly string[]): (text: string) => string {
  const spelled = tags.map((tag) => [...tag].join(HIDDEN)).join("|");
  // The pattern must match what follows the bracket in one way only. Two adjacent runs of hidden characters would take quadratic time.
  const pattern = new RegExp(`[<\\uff1c\\u2039\\ufe64](?=${HIDDEN}(?:/${HIDDEN})?(?:${spelled}))`, "gi");
  return (text) => text.replace(pattern, () => "&lt;");
}

const findEscaper = memoize((tag: string) => tagEscaper([tag]));

export const neutralize = (tag: string, text: string): string => findEscaper(tag)(text);

/** Everything that any reader takes for the end of a line. */
const LINE_END = /(\r\n|[\n\v\f\r\u0085\u2028\u2029])/;
const HIDDEN_RUN = new RegExp(HIDDEN, "g");
const RULE = /^[-\u2010-\u2015\u2212\ufe58\ufe63\uff0d]{3,}$/;

/** Escapes `text` that stands before a line of dashes: each line that consists of three or more dashes gets a backslash. */
export const escapeRules = (text: string): string => escapeLines(text, (line) => RULE.test(line.replace(HIDDEN_RUN, "")));

/** Escapes text after a speaker's label, as in a transcript: a line that begins with one of `labels` gets a backslash. */
export function labelEscaper(labels: readonly string[]): (text: string) => string {
  const label = new RegExp(`^${HIDDEN}(?:${labels.map((name) => [...name].join(HIDDEN)).join("|")})${HIDDEN}[:\\uff1a\\ufe55]`, "i");
  return (text) => escapeLines(text, (line) => label.test(line));
}

const escapeLines = (text: string, misleads: (line: string) => boolean): string =>
  text
    .split(LINE_END)
    .map((line) => (misleads(line) ? `\\${line}` : line))
    .join("");

/** Escapes `text` between brackets: a closing bracket without an opening one gets a backslash. `a[0]` and `[image: x]` stay unchanged. */
export function escapeBrackets(text: string): string {
  let open = 0;
  return text.replace(/[[\]\uff3b\uff3d]/g, (bracket) => {
    const opens = bracket === "[" || bracket === "\uff3b";
    if (!opens && open === 0) return `\\${bracket}`;
    open += opens ? 1 : -1;
    return bracket;
  });
}
