/** Compares what people wrote with the sessions and with what people see: one message, one turn and one reply of each delivery, in order. */
import type { BotEvidence, ChatEvidence, SessionEvidence } from "./evidence.ts";
import { countPieces, type Planned, type PlatformName, readPieces } from "./plan.ts";

/** When a delivery was first sent, and when it was first answered with 2xx. Null: never. */
export interface Travelled {
  readonly firstSentAt: number;
  readonly answeredAt: number | null;
}

export interface Case extends BotEvidence {
  readonly planned: readonly Planned[];
  readonly traces: ReadonlyMap<number, Travelled>;
}

export interface BotVerdict {
  readonly turns: number;
  /** Deliveries whose reply is there as a whole. */
  readonly replies: number;
  /** Turns that ended without the whole reply, because a kill met them. A person is told. */
  readonly failed: number;
  /** Replies of which something is in doubt, by the platform. */
  readonly doubts: ReadonlyMap<PlatformName, number>;
  /** Replies among them of which something is not there. */
  readonly doubtsMissing: number;
  readonly lost: readonly string[];
  readonly doubled: readonly string[];
  readonly reordered: readonly string[];
  /** Anything else that should not be. */
  readonly other: readonly string[];
}

const toName = ({ mark, platform, chat }: Planned): string => `m${mark} (${platform}, chat ${chat})`;

/** The words for a turn that failed, which have no mark. */
const APOLOGY = "I could not answer just now";

interface Known {
  readonly planned: Planned;
  readonly messages: readonly string[];
  readonly turns: SessionEvidence["turns"];
  /** How many pieces the reply has in the session: all of them, unless the turn was cut off. */
  readonly said: number;
  /** How often each of them is there. */
  readonly pieces: ReadonlyMap<number, number>;
  readonly isDoubted: boolean;
  readonly isFailed: boolean;
}

function group<T, K>(items: readonly T[], toKey: (item: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) groups.set(toKey(item), [...(groups.get(toKey(item)) ?? []), item]);
  return groups;
}

function gather({ planned, sessions, log, chats }: Case): readonly Known[] {
  const asked = group(
    sessions.flatMap((session) => session.asked),
    ({ mark }) => mark,
  );
  const turns = group(
    sessions.flatMap((session) => session.turns),
    ({ message_id }) => message_id,
  );
  const seen = group(
    chats.flatMap((chat) => chat.texts.flatMap(readPieces).map((piece) => ({ ...piece, place: `${chat.platform} ${chat.chat}` }))),
    ({ mark }) => mark,
  );
  const doubts = new Set(log.flatMap(({ reason, turn_id }) => (reason.startsWith("in doubt") && turn_id !== null ? [turn_id] : [])));
  return planned.map((each) => {
    const messages = (asked.get(each.mark) ?? []).map(({ id }) => id);
    const own = messages.flatMap((id) => turns.get(id) ?? []);
    const pieces = new Map<number, number>();
    // A piece in another chat than the person's counts twice: it should not be there.
    for (const { number, place } of seen.get(each.mark) ?? [])
      pieces.set(number, (pieces.get(number) ?? 0) + (place === `${each.platform} ${each.chat}` ? 1 : 2));
    const isFailed = own.some(({ status }) => status !== "completed");
    const said = isFailed ? new Set(own.flatMap((turn) => turn.said.map(({ number }) => number))).size : countPieces(each);
    return { planned: each, messages, turns: own, said, pieces, isDoubted: own.some(({ id }) => doubts.has(id)), isFailed };
  });
}

const countMissing = ({ said, pieces }: Known): number => said - pieces.size;

function findLost(known: Known): readonly string[] {
  const { planned, messages, turns, said, isDoubted } = known;
  const name = toName(planned);
  if (messages.length === 0) return [`${name} has no message in any session`];
  if (turns.length === 0) return [`${name} began no turn`];
  const missing = countMissing(known);
  if (missing <= 0 || isDoubted) return [];
  return [
    `${name}: ${missing} of ${said} pieces of the reply are not there, and nothing is in doubt (${turns.map(({ id }) => id).join(", ")})`,
  ];
}

function findDoubled({ planned, messages, turns, pieces }: Known): readonly string[] {
  const name = toName(planned);
  const doubled = [...pieces].filter(([, count]) => count > 1).map(([number]) => number);
  return [
    ...(messages.length > 1 ? [`${name} has ${messages.length} messages: ${messages.join(", ")}`] : []),
    ...(turns.length > 1 ? [`${name} has ${turns.length} turns: ${turns.map(({ id }) => id).join(", ")}`] : []),
    ...(doubled.length > 0 ? [`${name}: pieces ${doubled.join(", ")} of the reply are there more than once, or in another chat`] : []),
  ];
}

const toFirsts = (marks: readonly number[]): readonly number[] => [...new Set(marks)];

/** The order of the replies is the session's, and the session's keeps what was answered before something else was sent. */
function findReordered({ sessions, chats, traces }: Case): readonly string[] {
  const place = new Map<number, number>();
  for (const { asked } of sessions) for (const [index, { mark }] of asked.entries()) if (mark !== null) place.set(mark, index);
  const isAfter = (a: number, b: number): boolean => (place.get(a) ?? 0) > (place.get(b) ?? 0);
  const replies = chats.flatMap(({ platform, chat, texts }) => {
    const marks = toFirsts(texts.flatMap(readPieces).map(({ mark }) => mark));
    return marks.flatMap((mark, index) => {
      const before = marks[index - 1];
      return before !== undefined && isAfter(before, mark)
        ? [`${platform}, chat ${chat}: the reply to m${mark} is behind that to m${before}`]
        : [];
    });
  });
  const messages = sessions.flatMap(({ id, asked }) =>
    asked.flatMap(({ mark: later }, index) =>
      asked.slice(0, index).flatMap(({ mark: earlier }) => {
        const sent = traces.get(earlier ?? 0)?.firstSentAt ?? 0;
        const answered = traces.get(later ?? 0)?.answeredAt ?? Number.POSITIVE_INFINITY;
        return answered < sent ? [`${id}: m${later} was answered before m${earlier} was sent, and is behind it`] : [];
      }),
    ),
  );
  return [...replies, ...messages];
}

/** What the bot says beside replies: an apology for each turn that failed, and nothing else. */
function findStrange({ chats, sessions, log }: Case, known: readonly Known[]): readonly string[] {
  const failed = group(
    known.filter(({ isFailed }) => isFailed),
    ({ planned }) => `${planned.platform} ${planned.chat}`,
  );
  const spoken = chats.flatMap((chat) => {
    const due = failed.get(`${chat.platform} ${chat.chat}`) ?? [];
    const apologies = chat.texts.filter((text) => text.includes(APOLOGY)).length;
    const least = due.filter(({ isDoubted }) => !isDoubted).length;
    return [
      ...findWords(chat),
      ...(apologies > due.length ? [`${chat.platform}, chat ${chat.chat}: ${apologies} apologies, ${due.length} turns failed`] : []),
      ...(apologies < least
        ? [`${chat.platform}, chat ${chat.chat}: ${apologies} apologies, and ${least} turns failed without a doubt`]
        : []),
    ];
  });
  const strangers = sessions.flatMap(({ id, asked }) =>
    asked.some(({ mark }) => mark === null) ? [`${id}: a message that nobody sent`] : [],
  );
  const noted = log.filter(({ kind, reason }) => kind !== "delivery_ignored" && !reason.startsWith("in doubt"));
  return [...spoken, ...strangers, ...noted.map(({ kind, reason, turn_id }) => `the log has ${kind}: ${reason} (${turn_id})`)];
}

const findWords = ({ platform, chat, texts }: ChatEvidence): readonly string[] =>
  texts
    .filter((text) => readPieces(text).length === 0 && !text.includes(APOLOGY))
    .map((text) => `${platform}, chat ${chat}: the bot said ${JSON.stringify(text.slice(0, 80))}`);

export function judgeBots(evidence: Case): BotVerdict {
  const known = gather(evidence);
  const doubted = known.filter(({ isDoubted }) => isDoubted);
  const doubts = group(doubted, ({ planned }) => planned.platform);
  return {
    turns: evidence.sessions.reduce((sum, { turns }) => sum + turns.length, 0),
    replies: known.filter((each) => countMissing(each) <= 0).length,
    failed: known.filter(({ isFailed }) => isFailed).length,
    doubts: new Map([...doubts].map(([platform, each]) => [platform, each.length])),
    doubtsMissing: doubted.filter((each) => countMissing(each) > 0).length,
    lost: known.flatMap(findLost),
    doubled: known.flatMap(findDoubled),
    reordered: findReordered(evidence),
    other: findStrange(evidence, known),
  };
}
