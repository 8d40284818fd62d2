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
