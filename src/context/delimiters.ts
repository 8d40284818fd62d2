/** Text inside delimiters that it cannot close, whatever it says (docs/field.md, smaller traps). */

/** `text` between tags: a bracket that would begin or close the tag is replaced, whatever its case, spacing or hidden characters. */
export function enclose(tag: string, text: string): string {
  return `<${tag}>\n${neutralize(tag, text)}\n</${tag}>`;
}

/** Characters that show nothing and could hide a tag from a pattern: zero width, direction, soft hyphen, fillers. */
const HIDDEN =
  "[\\s\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufe00-\\ufe0f\\ufeff]*";

const patterns = new Map<string, RegExp>();

function patternOf(tag: string): RegExp {
  const known = patterns.get(tag);
  if (known) return known;
  const spelled = [...tag].join(HIDDEN);
  // One way only to read what follows the bracket: two runs of hidden characters side by side would cost their square.
  const pattern = new RegExp(`[<\\uff1c\\u2039\\ufe64](?=${HIDDEN}(?:/${HIDDEN})?${spelled})`, "gi");
  patterns.set(tag, pattern);
  return pattern;
}

export const neutralize = (tag: string, text: string): string => text.replace(patternOf(tag), () => "&lt;");

/** What ends a line, for whoever reads one. */
const LINE_END = /(\r\n|[\n\v\f\r\u0085\u2028\u2029])/;
const HIDDEN_RUN = new RegExp(HIDDEN, "g");
const RULE = /^[-\u2010-\u2015\u2212\ufe58\ufe63\uff0d]{3,}$/;

/** `text` in front of a line of dashes: each line of its own that is nothing but three or more of them gets a backslash, and is text. */
export const escapeRules = (text: string): string => escapeLines(text, (line) => RULE.test(line.replace(HIDDEN_RUN, "")));

/** For texts behind a speaker's label, as in a transcript: a line that would be read as one of `labels` gets a backslash. */
export function labelEscaper(labels: readonly string[]): (text: string) => string {
  const label = new RegExp(`^${HIDDEN}(?:${labels.map((name) => [...name].join(HIDDEN)).join("|")})${HIDDEN}[:\\uff1a\\ufe55]`, "i");
  return (text) => escapeLines(text, (line) => label.test(line));
}

const escapeLines = (text: string, misleads: (line: string) => boolean): string =>
  text
    .split(LINE_END)
    .map((line) => (misleads(line) ? `\\${line}` : line))
    .join("");

/** `text` between brackets: one that closes what the text did not open gets a backslash; `a[0]` and `[image: x]` stay as they are. */
export function escapeBrackets(text: string): string {
  let open = 0;
  return text.replace(/[[\]\uff3b\uff3d]/g, (bracket) => {
    const opens = bracket === "[" || bracket === "\uff3b";
    if (!opens && open === 0) return `\\${bracket}`;
    open += opens ? 1 : -1;
    return bracket;
  });
}
