/** Makes the parts of a reply of a turn that is over: pure, so that the same turn always makes the same parts. */
import type { TurnReport } from "../../../contract/turn";
import { sha256Sync } from "../../../lib/sha256-sync";
import type { ChannelAdapter, RenderedText } from "../channel";
import type { ChatRoom } from "../chat-ports";
import type { ChatTurn, LiveMessage, OutboundPart } from "../chat-store";
import { closeCodeBlock } from "../text/markdown-lines";
import { splitMarkdown } from "../text/split";
import { findWords } from "../words/words";
import type { Words } from "../words/words-latin";

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

/** The reply as markdown. `text`: what of the model's text is still to be sent. Empty: a person stopped the turn before it said anything. */
function writeReply({ report, followed, room }: EndedTurn, { text, isEmpty }: Unsent): string {
  const { status, notices } = report;
  const words = findTurnWords(room, followed);
  const { is_scheduled } = followed;
  const isTrimmed = notices.some(({ code }) => code === "history_trimmed");
  const failed = is_scheduled ? words.schedule_failed : words.failed;
  const why = report.failure?.kind === "budget" ? words.budget : failed;
  const ending = status === "failed" || status === "interrupted" ? why : "";
  // A schedule may be told to say something only where there is something to say.
  const empty = isEmpty && status === "completed" && !is_scheduled ? words.empty : "";
  const notice = isTrimmed && status !== "stopped" ? `_${words.trimmed}_` : "";
  // A reply that was cut off may have ended inside a code block.
  return [ending + notice === "" ? text : closeCodeBlock(text), empty, ending, notice].filter((each) => each !== "").join("\n\n");
}

interface Unsent {
  readonly text: string;
  /** The turn has no text at all. */
  readonly isEmpty: boolean;
}

/**
 * The beginning of the text that an earlier message has, or may have: it cannot be edited, or its answer never came. Sent again, it could be
 * there twice. A message that began another text, which the model did not end, counts for nothing.
 */
function findBegun(text: string, live: LiveMessage | null): string {
  if (live === null || live.message !== null) return "";
  const begun = text.slice(0, live.units);
  // A turn that was interrupted may have recorded less than it streamed.
  if (begun.length < live.units) return begun;
  return live.digest === sha256Sync(begun) ? begun : "";
}

export function buildReplyParts(ended: EndedTurn): readonly OutboundPart[] {
  const { room, followed } = ended;
  const { turn, session, place, live } = followed;
  const edited = live?.state === "shown" ? live.message : null;
  const text = findText(ended.report).trim();
  const begun = findBegun(text, live);
  const unsent = { text: text.slice(begun.length).trim(), isEmpty: text === "" };
  const toPart = (markdown: string, operation: string, edits: string | null = null): OutboundPart => ({
    ...{ operation, session, turn, place, markdown, buttons: [], edits, is_first: false },
  });
  const [first, ...rest] = splitReply(room.adapter, writeReply(ended, unsent));
  // The platform knows the operation, if it has the message.
  const isAskedAgain = begun !== "" && live?.state === "sending" && room.adapter.traits.is_idempotent;
  const again = isAskedAgain ? [toPart(begun, toFirstOperation(followed))] : [];
  if (first === undefined) return again;
  const operation = live === null ? toFirstOperation(followed) : `${turn}.end`;
  const begin = { ...toPart(first, operation, edited), is_first: live === null && !followed.is_answered };
  return [...again, begin, ...rest.map((markdown, index) => toPart(markdown, `${turn}.${index + 1}`))];
}
