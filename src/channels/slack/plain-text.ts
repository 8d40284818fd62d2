/** Slack's escapes in the text of a message: https://docs.slack.dev/messaging/formatting-message-text#retrieving-messages */

/** A reference in angle brackets, or an escaped character. All other text is as it was written. */
const ESCAPE = /<([^<>]*)>|&(amp|lt|gt);/g;
const CHARACTERS: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">" };
const ADDRESS = /^(?:https?:|ftp:|mailto:|tel:|slack:)/i;

/** The text as a person reads it. A mention of the bot at its beginning is left out: it only addresses. */
export function toPlainText(text: string, bot: string | null): string {
  const said = bot === null ? text : dropLeadingMention(text, bot);
  const plain = said.replace(ESCAPE, (whole: string, reference: string | undefined, name: string | undefined) => {
    if (reference !== undefined) return unescapeText(showReference(reference) ?? whole);
    return CHARACTERS[name ?? ""] ?? whole;
  });
  return plain.trim();
}

export const mentionsUser = (text: string, user: string): boolean => text.includes(`<@${user}>`) || text.includes(`<@${user}|`);

function dropLeadingMention(text: string, bot: string): string {
  const start = text.trimStart();
  if (!start.startsWith(`<@${bot}>`) && !start.startsWith(`<@${bot}|`)) return text;
  return start.slice(start.indexOf(">") + 1).replace(/^[\s:,]+/, "");
}

/** Null: this is none of Slack's references, but brackets that a person wrote. */
function showReference(reference: string): string | null {
  const bar = reference.indexOf("|");
  const target = bar < 0 ? reference : reference.slice(0, bar);
  const label = bar < 0 ? "" : reference.slice(bar + 1);
  if (/^@[UW]/.test(target)) return `@${label || target.slice(1)}`;
  if (/^#[CGD]/.test(target)) return `#${label || target.slice(1)}`;
  if (target.startsWith("!")) return showSpecial(target.slice(1), label);
  return ADDRESS.test(target) ? showLink(target, label) : null;
}

/** `<!here>`, `<!subteam^S1|@team>`, `<!date^1392734382^{date}|18 February>`. */
function showSpecial(name: string, label: string): string {
  const [word = ""] = name.split("^");
  return label || `@${word}`;
}

function showLink(target: string, label: string): string {
  const address = target.replace(/^(?:mailto|tel):/i, "");
  if (label === "" || label === address || label === target) return address;
  return isShortForm(label, address) ? address : `${label} (${address})`;
}

/** Slack labels a written `example.com` with itself, and links it to `http://example.com`. */
const isShortForm = (label: string, address: string): boolean => address.replace(/^https?:\/\//i, "").replace(/\/$/, "") === label;

const unescapeText = (text: string): string => text.replace(/&(amp|lt|gt);/g, (whole, name: string) => CHARACTERS[name] ?? whole);
