/** Slack's markup: https://docs.slack.dev/messaging/formatting-message-text */
import type { RenderedText } from "../../app/channels/channel";
import type { MarkupStyle } from "../text/light-inlines";
import { writeMarkup } from "../text/light-markup";
import { parseMarkdown } from "../text/markdown";
import { PLAIN_STYLE } from "../text/plain-style";

/** A link that is longer could not be cut into parts. It is written as text. */
const LINK_CHARS = 1_000;
const LINKED = /^(?:https?:\/\/|mailto:|tel:)[^\s]/i;
const ADDRESS = /https?:\/\/[^\s<>|"]+/gi;
const TRAILING = /[.,;:!?)'*_~\]]$/;

export const escapeMrkdwn = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const STYLE: MarkupStyle = {
  marks: { strong: "*", emphasis: "_", strikethrough: "~", code: "`" },
  fence: "```",
  escapeCode: escapeMrkdwn,
  write: writeProse,
  link: writeLink,
};

export function renderMrkdwn(markdown: string): RenderedText {
  const blocks = parseMarkdown(markdown.toWellFormed());
  return { text: writeMarkup(blocks, STYLE), plain: writeMarkup(blocks, PLAIN_STYLE) };
}

/** Text is sent as `verbatim`, so that no word of a model becomes a mention. Addresses are therefore linked here. */
function writeProse(text: string): string {
  let written = "";
  let end = 0;
  for (const { 0: found, index } of text.matchAll(ADDRESS)) {
    const url = trimAddress(found);
    written += writeWords(text.slice(end, index)) + writeLink(url, "");
    end = index + url.length;
  }
  return written + writeWords(text.slice(end));
}

/** Three backticks would begin a code block. */
const writeWords = (text: string): string => escapeMrkdwn(text.replaceAll("```", "`\u200b`\u200b`"));

function trimAddress(found: string): string {
  let end = found.length;
  while (end > 0 && TRAILING.test(found.charAt(end - 1))) end--;
  return found.slice(0, end);
}

function writeLink(url: string, label: string): string {
  const words = label.replace(/\s+/g, " ").trim();
  const address = url.replace(/[<>|\s]/g, encodeURIComponent);
  if (address.length > LINK_CHARS || !LINKED.test(address)) return escapeMrkdwn(PLAIN_STYLE.link(url, words));
  if (words === "" || words === url) return `<${escapeMrkdwn(address)}>`;
  return `<${escapeMrkdwn(address)}|${escapeMrkdwn(words)}>`;
}
