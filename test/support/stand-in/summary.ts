/** The stand-in's own summaries: a few sentences from each part of the input, so that something of each remains. */
import { countTokens } from "./count-tokens.ts";
import { contentText, type WireRequest } from "./wire.ts";

/** The wordings of the narrative and the structured form, and of an instruction that is appended to the conversation. */
const MARKERS = ["You are summarizing a conversation", "You are a summarizer."];
const SECTION = /^## .+$/gm;
const SHARE = 0.15;

/** A summary request is recognised by its instruction: the system prompt, or the last message. */
export const isSummaryRequest = (request: WireRequest): boolean => MARKERS.some((marker) => findInstruction(request).includes(marker));

const findInstruction = ({ messages }: WireRequest): string =>
  [...messages.filter((message) => message.role === "system"), ...messages.slice(-1)]
    .map((message) => contentText(message.content))
    .join("\n");

const TAGGED = /<(summary|conversation)>\n([\s\S]*?)\n<\/\1>/g;

/** The source of the summary: the text inside the tags, or, if the instruction is appended, the messages before it. */
function findInput({ messages }: WireRequest): string {
  const tagged = [...contentText(messages.at(-1)?.content ?? null).matchAll(TAGGED)].map((block) => block[2] ?? "");
  if (tagged.length > 0) return tagged.join("\n");
  const said = messages.filter((message) => message.role !== "system").map((message) => contentText(message.content));
  return (said.length > 1 ? said.slice(0, -1) : said).join("\n");
}

/** About 15 % of the input's tokens, at most `max_tokens`. */
export function cutSummary(request: WireRequest): string {
  const input = findInput(request);
  const most = request.max_completion_tokens ?? request.max_tokens ?? Number.POSITIVE_INFINITY;
  const cap = Math.max(8, Math.min(Math.floor(countTokens(input) * SHARE), most - 1));
  const sentences = input.split(/(?<=[.!?])\s+|(?<=[。！？])|\n+/u).filter((sentence) => sentence.trim() !== "");
  const step = Math.max(1, Math.floor(1 / SHARE));
  const kept: string[] = [];
  let used = 0;
  for (const [place, sentence] of sentences.entries()) {
    const tokens = countTokens(sentence) + 1;
    if (place % step !== 0 || used + tokens > cap) continue;
    kept.push(sentence.trim());
    used += tokens;
  }
  const said = kept.length > 0 ? kept.join("\n") : "A short exchange.";
  const sections = findInstruction(request).match(SECTION) ?? [];
  return sections.length === 0
    ? said
    : sections.map((heading, index) => `${heading}\n${index === sections.length - 1 ? said : "none"}`).join("\n");
}
