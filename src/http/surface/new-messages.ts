/**
 * Finds what is new in a transcript. A client of a stateless API sends its whole copy of the conversation with each request; a session has
 * that conversation already. New is what follows the last answer that the client has, unless the session has that, too, because the client
 * sends a request again whose answer it has lost. Pure.
 */

/** A message of either copy, as far as it is compared. */
export interface TranscriptMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  /** Its texts in order. White space does not count. */
  readonly text: string;
  /** Role tool: the id of the call that it answers, as the client knows it. */
  readonly answers?: string;
}

/** The end of the session's conversation. */
export interface KnownEnd {
  /** In order. Calls that the server ran, and their results, are left out. */
  readonly newest: readonly TranscriptMessage[];
  /** `newest` is the whole conversation. */
  readonly isWhole: boolean;
  /** The calls that wait for their results, as the client knows them. Ids of a provider may repeat. Absent: none. */
  readonly open?: ReadonlySet<string>;
}

export interface Sorted<T> {
  /** They hold for the request, wherever they are, and are not part of the conversation. */
  readonly system: readonly T[];
  /** Results of calls, in the client's order. */
  readonly results: readonly T[];
  readonly messages: readonly T[];
  /** The session has all of the transcript: the client asks for an answer again. */
  readonly isRepeated: boolean;
  /** What precedes the known end cannot change the result. */
  readonly isSure: boolean;
}

export function findNewMessages<T extends TranscriptMessage>(transcript: readonly T[], known: KnownEnd): Sorted<T> {
  const system = transcript.filter(({ role }) => role === "system");
  const spoken = transcript.filter(({ role }) => role !== "system");
  if (known.newest.length === 0) return { system, results: [], messages: spoken, isRepeated: false, isSure: known.isWhole };
  const start = spoken.findLastIndex(({ role }) => role === "assistant") + 1;
  const tail = spoken.slice(start);
  const { had, isSure } = countHad({ before: spoken.slice(0, start), tail }, known);
  const added = tail.slice(had);
  const unanswered = added.filter((message) => !isAnswered(message, known));
  // Results alone are a request that is sent again.
  const fresh = unanswered.length > 0 ? unanswered : added;
  return {
    system,
    results: fresh.filter(({ role }) => role === "tool"),
    messages: fresh.filter(({ role }) => role !== "tool"),
    isRepeated: tail.length > 0 && fresh.length === 0,
    // What is read of the session may lack the result that is sent again.
    isSure: isSure && (known.isWhole || fresh.every(({ role, answers = "" }) => role !== "tool" || known.open?.has(answers))),
  };
}

/** A client that says something else after a result sends the result again. */
const isAnswered = ({ role, answers = "" }: TranscriptMessage, { newest, open }: KnownEnd): boolean =>
  role === "tool" && !open?.has(answers) && newest.some((known) => known.role === "tool" && known.answers === answers);

/** What one side said until the other did: the messages of a client between two answers, or all pieces of an answer. */
interface Exchange {
  readonly isModel: boolean;
  readonly messages: readonly TranscriptMessage[];
}

function toExchanges(messages: readonly TranscriptMessage[]): Exchange[] {
  const found: { isModel: boolean; messages: TranscriptMessage[] }[] = [];
  for (const message of messages) {
    const isModel = message.role === "assistant";
    const last = found.at(-1);
    if (last?.isModel === isModel) last.messages.push(message);
    else found.push({ isModel, messages: [message] });
  }
  return found;
}

/** The session's side without what the client never sees: system messages, and results of calls that the server ran. */
function toKnownExchanges({ newest, isWhole }: KnownEnd, transcript: readonly TranscriptMessage[]): Exchange[] {
  const answered = new Set(transcript.flatMap(({ answers }) => answers ?? []));
  const seen = newest.filter(({ role, answers = "" }) => role !== "system" && (role !== "tool" || answered.has(answers)));
  // The oldest of a part of the conversation may lack its beginning.
  return toExchanges(seen).slice(isWhole ? 0 : 1);
}

/** What a file or an image counts as where texts are compared. */
const MEDIA_MARK = "\uFFFC";

export const toComparedText = (parts: readonly { readonly type: string; readonly text?: string }[]): string =>
  parts.map(({ type, text = "" }) => (type === "text" ? text : type === "reasoning" ? "" : MEDIA_MARK)).join("");

/** White space does not count where texts are compared. */
export const toPlain = (text: string): string => text.replace(/\s+/g, "");
const joinText = (messages: readonly TranscriptMessage[]): string => toPlain(messages.map(({ text }) => text).join(""));

/** Results are the same if they answer the same call: a long output is not kept as it came. */
const toMark = ({ role, text, answers }: TranscriptMessage): string => (role === "tool" ? `tool ${answers}` : `${role} ${toPlain(text)}`);

/** Results of parallel calls come in any order. */
function isSameSet(one: readonly TranscriptMessage[], other: readonly TranscriptMessage[]): boolean {
  if (one.length !== other.length) return false;
  const marks = other.map(toMark).sort();
  return one
    .map(toMark)
    .sort()
    .every((mark, index) => mark === marks[index]);
}

const isSame = (one: Exchange, other: Exchange): boolean =>
  one.isModel === other.isModel &&
  (one.isModel ? joinText(one.messages) === joinText(other.messages) : isSameSet(one.messages, other.messages));

/** A copy that was cut may begin within an answer, which came in several pieces where tools ran. */
const isEnd = (their: Exchange, our: Exchange): boolean =>
  isSame(their, our) || (their.isModel && our.isModel && joinText(our.messages).endsWith(joinText(their.messages)));

/** How many messages at the beginning of `tail` are the last ones of what was asked. */
function countSame(tail: readonly TranscriptMessage[], { messages: asked }: Exchange): number {
  for (let count = Math.min(tail.length, asked.length); count > 0; count--)
    if (isSameSet(tail.slice(0, count), asked.slice(-count))) return count;
  return 0;
}

/** The client's copy up to the last answer that it has, and what it says after that. */
interface Copy {
  readonly before: readonly TranscriptMessage[];
  readonly tail: readonly TranscriptMessage[];
}

/**
 * `had`: how many messages of the tail the session has already. A tail that differs from what the client asked last is new, whatever was said
 * before that.
 */
function countHad({ before, tail }: Copy, known: KnownEnd): { readonly had: number; readonly isSure: boolean } {
  const theirs = toExchanges(before);
  const ours = toKnownExchanges(known, [...before, ...tail]);
  const hasAnswer = ours.at(-1)?.isModel === true;
  const asked = ours.at(hasAnswer ? -2 : -1);
  const count = asked ? countSame(tail, asked) : 0;
  if (count === 0) return { had: 0, isSure: known.isWhole || asked !== undefined };
  // Without an answer in the client's copy nothing tells which answers it has seen. A message is rather added twice than lost.
  if (theirs.length === 0) return hasAnswer ? { had: 0, isSure: true } : { had: count, isSure: known.isWhole };
  const repeated = rankFit(theirs, ours.slice(0, hasAnswer ? -2 : -1), known.isWhole);
  const added = hasAnswer ? rankFit(theirs, ours, known.isWhole) : 0;
  // Both may fit, because people and models repeat themselves.
  return { had: repeated > added ? count : 0, isSure: known.isWhole };
}

/** How well two copies of the conversation agree at their ends. 0: their last answers differ. 3: both are whole, and the same. */
function rankFit(theirs: readonly Exchange[], ours: readonly Exchange[], isWhole: boolean): 0 | 1 | 2 | 3 {
  const depth = Math.min(theirs.length, ours.length);
  const fits = ours
    .slice(ours.length - depth)
    .map((our, index) => fitsAt(theirs, theirs.length - depth + index, our))
    .reverse();
  const isLonger = theirs.length > ours.length && isWhole;
  if (fits[0] === false || (depth === 0 && isLonger)) return 0;
  if (fits.includes(false) || isLonger) return 1;
  return isWhole && theirs.length === ours.length ? 3 : 2;
}

function fitsAt(theirs: readonly Exchange[], index: number, our: Exchange): boolean {
  const their = theirs[index];
  return their !== undefined && (index === 0 ? isEnd(their, our) : isSame(their, our));
}
