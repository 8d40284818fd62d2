/** WhatsApp's markup: https://faq.whatsapp.com/539178204879377 */
import type { RenderedText } from "../../app/channels/channel";
import type { MarkupStyle } from "../text/light-inlines";
import { writeMarkup } from "../text/light-markup";
import { parseMarkdown } from "../text/markdown";
import { PLAIN_STYLE } from "../text/plain-style";

/** WhatsApp escapes nothing, and links addresses by itself. */
const STYLE: MarkupStyle = {
  ...PLAIN_STYLE,
  marks: { strong: "*", emphasis: "_", strikethrough: "~", code: "`" },
  fence: "```",
  // Three backticks would begin a code block.
  write: (text) => text.replaceAll("```", "`\u200b`\u200b`"),
};

export function renderWhatsApp(markdown: string): RenderedText {
  const blocks = parseMarkdown(markdown.toWellFormed());
  return { text: writeMarkup(blocks, STYLE), plain: writeMarkup(blocks, PLAIN_STYLE) };
}
