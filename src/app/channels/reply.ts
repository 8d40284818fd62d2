/** Makes the parts of a reply of a turn that is over: pure, so that the same turn always makes the same parts. */
import type { TurnReport } from "../../contract/turn";
import type { ChannelAdapter, RenderedText } from "./channel";
import type { ChatRoom } from "./chat-ports";
import type { ChatTurn, OutboundPart } from "./chat-store";
import { splitMarkdown } from "./split";
import { findWords } from "./words";
import type { Words } from "./words-latin";

export interface EndedTurn {
  readonly room: ChatRoom;
  readonly followed: ChatTurn;
  readonly report: TurnReport;
}

export const isOver = ({ status }: Pick<TurnReport, "status">): boolean =>
  status === "completed" || status === "failed" || status === "stopped" || status === "interrupted";

/** The operation of the first message of a turn's reply, also where it grows while the turn runs. */
export const toFirstOperation = ({ turn }: Pick<ChatTurn, "turn">): string => `${turn}.0`;

export const findTurnWords = ({ channel: { settings } }: ChatRoom, { user }: ChatTurn): Words =>
  findWords(settings.language ?? user?.language ?? null);

/** The markdown in parts of which each is one message of the platform. */
export function splitReply({ render, traits }: Pick<ChannelAdapter<unknown>, "render" | "traits">, markdown: string): string[] {
  const isShort = ({ text, plain }: RenderedText): boolean => traits.fits(text) && traits.fits(plain);
  return splitMarkdown(markdown, (part) => isShort(render(part)));
}

/** The newest text of the turn. A reply that was cut off is shown as far as it came. */
function findText({ output_text, items }: TurnReport): string {
  if (output_text.trim() !== "") return output_text;
  const said = items
    .filter(({ role }) => role === "assistant")
    .map(({ content }) => content.map((part) => (part.type === "text" ? part.text : "")).join(""));
  return said.findLast((text) => text.trim() !== "") ?? "";
}

/**
 * Empty: there is nothing to say, because a person stopped the turn before it said anything. `sent`: units of the text that count as sent,
 * because their message cannot be edited, or may never have arrived. Sent again, they could be there twice.
 */
function writeReply(report: TurnReport, words: Words, sent: number): string {
  const { status, notices } = report;
  const text = findText(report).trim();
  const isTrimmed = notices.some(({ code }) => code === "history_trimmed");
  const ending = status === "failed" || status === "interrupted" ? words.failed : "";
  const empty = text === "" && status === "completed" ? words.empty : "";
  const notice = isTrimmed && status !== "stopped" ? `_${words.trimmed}_` : "";
  return [text.slice(sent).trim(), empty, ending, notice].filter((each) => each !== "").join("\n\n");
}

export function buildReplyParts({ room, followed, report }: EndedTurn): readonly OutboundPart[] {
  const { turn, session, place, live } = followed;
  const edited = live?.state === "shown" ? live.message : null;
  const whole = writeReply(report, findTurnWords(room, followed), edited === null ? (live?.units ?? 0) : 0);
  const toPart = (markdown: string, operation: string, edits: string | null = null): OutboundPart => ({
    ...{ operation, session, turn, place, markdown, buttons: [], edits, is_first: false },
  });
  const [first, ...rest] = splitReply(room.adapter, whole);
  if (first === undefined) return [];
  const operation = live === null ? toFirstOperation(followed) : `${turn}.end`;
  const begin = { ...toPart(first, operation, edited), is_first: live === null && !followed.is_answered };
  return [begin, ...rest.map((markdown, index) => toPart(markdown, `${turn}.${index + 1}`))];
}
