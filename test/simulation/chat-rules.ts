/** I51 to I54: what a platform delivers leads to one turn, and what people see is its reply, once, or the channel's log says why not. */
import type { WholeSessionApi } from "../../src/app/control-api";
import type { TurnReport } from "../../src/contract/turn";
import type { StoredEvent } from "../../src/domain/events";
import type { SessionId } from "../../src/domain/ids";
import { parseBody } from "../../src/domain/item-content";
import { readBodies } from "../../src/session/log/bodies";
import { readEvents } from "../../src/session/log/event-log";
import type { Sql } from "../../src/session/log/sql";
import { TENANT } from "../http/support";
import type { People } from "./chat-people";
import type { ChatWorld } from "./chat-world";

const WORD = /w\d+\.\d+\.\d+/g;
const readWords = (text: string): readonly string[] => text.match(WORD) ?? [];
const readMark = (text: string): string => /#(\d+)/.exec(text)?.[1] ?? "";
/** The mark in a client's id, or in the name of a schedule. */
const readNumber = (text: string): string => /\d+$/.exec(text)?.[0] ?? "";
const isOver = ({ status }: TurnReport): boolean => ["completed", "failed", "stopped", "interrupted"].includes(status);

interface Begun {
  /** The mark of the platform's message. Empty: an edit or a reminder began the turn. */
  readonly message: string;
  /** The mark in the text. */
  readonly mark: string;
  readonly session: SessionId;
  readonly report: TurnReport;
}

/** What all sessions have, once nothing is under way any more. */
interface Found {
  readonly world: ChatWorld;
  readonly people: People;
  readonly turns: readonly Begun[];
  /** Marks of texts that were recorded, on any branch, and how often. */
  readonly recorded: ReadonlyMap<string, number>;
  /** Marks of texts that a model would read. */
  readonly live: ReadonlySet<string>;
  /** Marks of messages and reminders that were taken back before their turns began. */
  readonly cancelled: ReadonlySet<string>;
}

export async function checkChats(world: ChatWorld, people: People): Promise<void> {
  checkNothingWaits(world);
  checkWordsOnce(world);
  const found = await readAll(world, people);
  for (const { mark } of people.written) checkMessage(found, mark);
  for (const [mark, session] of people.reminders) checkReminder(found, mark, session);
  for (const turn of found.turns) checkReply(found, turn);
  checkOrder(found);
}

/** I51: no delivery, turn or part waits for ever. */
function checkNothingWaits({ chats, platform, violations }: ChatWorld): void {
  violations.check(platform.pending === 0, "I51", () => `${platform.pending} deliveries were never taken`);
  for (const [name, { sql }] of chats) {
    for (const table of ["deliveries", "turns", "parts"]) {
      const left = sql.rows(`SELECT * FROM ${table}`);
      violations.check(left.length === 0, "I51", () => `${name} has waiting ${table}: ${JSON.stringify(left)}`);
    }
  }
}

/** I52: people see no word twice. */
function checkWordsOnce({ platform, violations }: ChatWorld): void {
  const seen = new Map<string, string>();
  for (const { operation, text } of platform.seen) {
    for (const word of readWords(text)) {
      const first = seen.get(word);
      violations.check(first === undefined, "I52", () => `${word} is seen in ${first} and in ${operation}`);
      seen.set(word, operation);
    }
  }
}

async function readAll(world: ChatWorld, people: People): Promise<Found> {
  const found: OpenSession[] = [];
  for (const [session, { object, sql }] of world.sessions) {
    const { service, runtime } = object.wake();
    if (runtime.state.lifecycle === "open") found.push(await readSession(service, session, sql));
    else checkErased(world, session, sql);
  }
  const recorded = new Map<string, number>();
  for (const mark of found.flatMap((each) => each.recorded)) recorded.set(mark, (recorded.get(mark) ?? 0) + 1);
  const [live, cancelled] = [found.flatMap((each) => each.live), found.flatMap((each) => each.cancelled)];
  return { world, people, turns: found.flatMap(({ turns }) => turns), recorded, live: new Set(live), cancelled: new Set(cancelled) };
}

type OpenSession = Readonly<Record<"recorded" | "live" | "cancelled", readonly string[]>> & Pick<Found, "turns">;

async function readSession(service: WholeSessionApi, session: SessionId, sql: Sql): Promise<OpenSession> {
  const events = readEvents(sql, 0, Number.MAX_SAFE_INTEGER);
  const turns: Begun[] = [];
  for (const { turn, item } of events.filter((event) => event.type === "TurnStarted")) {
    const report = item && (await service.turn({ tenant: TENANT, session }, turn));
    const message = readNumber(item?.client_id ?? "");
    if (item && report?.ok) turns.push({ message, mark: readMark(readText(sql, item.id)), session, report: report.value });
  }
  return {
    turns,
    recorded: events.flatMap((event) => listMarks(sql, event)),
    live: await readLive(service, session),
    cancelled: events.flatMap((event) => listCancelled(events, event)),
  };
}

/** The marks of what a model would read of people. */
async function readLive(service: WholeSessionApi, session: SessionId): Promise<readonly string[]> {
  const items = await service.items({ tenant: TENANT, session }, { after: null, limit: 100, order: "desc" });
  const read = items.ok ? items.value.data.filter(({ role }) => role === "user") : [];
  return read.map(({ content }) => readMark(content.map((part) => (part.type === "text" ? part.text : "")).join("")));
}

const readText = (sql: Sql, item: Parameters<typeof readBodies>[1][number]): string =>
  parseBody(readBodies(sql, [item]).get(item) ?? "[]")
    .parts.map((part) => (part.type === "text" ? part.text : ""))
    .join("");

function listMarks(sql: Sql, event: StoredEvent): readonly string[] {
  const items = event.type === "TurnStarted" && event.item ? [event.item] : event.type === "MessagesAppended" ? event.items : [];
  return items.map(({ id }) => readMark(readText(sql, id)));
}

function listCancelled(events: readonly StoredEvent[], event: StoredEvent): readonly string[] {
  // The session was busy for too long: its client is told.
  if (event.type === "ScheduleRan" && event.skipped !== null) return [readNumber(event.name)];
  if (event.type !== "QueuedMessageCancelled") return [];
  const queued = events.find((each) => each.type === "MessageQueued" && each.message.item.id === event.message);
  if (queued?.type === "MessageQueued" && queued.message.item.client_id) return [readNumber(queued.message.item.client_id)];
  const ran = events.find((each) => each.type === "ScheduleRan" && each.turn === event.turn);
  return ran?.type === "ScheduleRan" ? [readNumber(ran.name)] : [];
}

/** I54: an erased session has no text. */
function checkErased({ violations, stats }: ChatWorld, session: SessionId, sql: Sql): void {
  stats.count("sessions erased");
  const hasBodies = sql.all("SELECT 1 FROM sqlite_master WHERE name = 'bodies'").length > 0;
  const left = hasBodies ? sql.all<{ text: string }>("SELECT text FROM bodies").filter(({ text }) => readMark(text) !== "") : [];
  violations.check(left.length === 0, "I54", () => `${session} is erased, and has ${JSON.stringify(left)}`);
}

/** I51: a message is in one session, once, with one turn, which is over. I54: it is there as its person left it. */
function checkMessage({ world, people, turns, recorded, live, cancelled }: Found, mark: string): void {
  const { violations, noted, stats } = world;
  const edit = people.edits.get(mark);
  const isGivenUp = (id: string): boolean => noted.some((note) => note.id === `d${id}.given_up`);
  const own = turns.filter(({ message }) => message === mark);
  const mayLack = isGivenUp(mark) || cancelled.has(mark) || people.forgotten.has(mark) || people.deleted.has(mark);
  if (isGivenUp(mark)) stats.count("given up");
  if (cancelled.has(mark)) stats.count("cancelled by their person");
  violations.check(own.length <= 1 && (own.length === 1 || mayLack), "I51", () => `#${mark} has ${own.length} turns`);
  for (const { report } of own) violations.check(isOver(report), "I51", () => `#${mark} is ${report.status} for ever`);
  if (edit !== undefined) {
    const count = recorded.get(edit) ?? 0;
    const mayBeAway = mayLack || isGivenUp(edit);
    violations.check(
      count === 1 || (count === 0 && mayBeAway),
      "I54",
      () => `#${mark} was changed to #${edit}, which was recorded ${count} times`,
    );
    violations.check(count === 0 || !live.has(mark), "I54", () => `#${mark} was changed to #${edit}, and is still read`);
  }
  if (people.deleted.has(mark))
    violations.check(!live.has(mark) && !(edit && live.has(edit)), "I54", () => `#${mark} (#${edit}) was deleted, and is still read`);
}

/** I51: a reminder begins one turn, in a session that is not erased. */
function checkReminder({ world, turns, cancelled }: Found, mark: string, session: SessionId): void {
  if (world.findSession(session).object.wake().runtime.state.lifecycle !== "open") return;
  const own = turns.filter((turn) => turn.mark === mark);
  world.violations.check(own.length === (cancelled.has(mark) ? 0 : 1), "I51", () => `the reminder #${mark} has ${own.length} turns`);
  for (const { report } of own) world.violations.check(isOver(report), "I51", () => `the reminder #${mark} is ${report.status} for ever`);
}

/** I53: people see the whole reply, in its order, and that it failed or is empty; or the log names the operation that is in doubt or ended. */
function checkReply({ world, people }: Found, { message, mark, report }: Begun): void {
  const { noted, platform, violations, stats, traits } = world;
  const shown = platform.seen.filter(({ operation }) => operation.startsWith(report.id));
  const notes = noted.filter(({ id }) => id.startsWith(report.id));
  const doubts = notes.filter(({ reason }) => reason.startsWith("in doubt"));
  stats.count(`replies ${report.status}`);
  stats.count("messages seen", shown.length);
  if (doubts.length > 0) stats.count("replies in doubt");
  violations.check(doubts.length === 0 || !traits.is_idempotent, "I53", () => `#${mark} is in doubt on an idempotent platform`);
  // What is in doubt may arrive behind what was sent after it.
  const certain = shown.filter(({ operation }) => !notes.some(({ id }) => id === operation));
  const seen = certain.flatMap(({ text }) => readWords(text));
  // The reply to a text that was changed ends where it was.
  if (notes.length > 0 || people.edits.has(message)) return checkPart(world, mark, seen);
  const expected = readWords(findText(report));
  checkPart(world, mark, seen);
  // A crash may lose the last words that people saw before they were stored, and where the answer to their message was lost too, they stay.
  const compared = report.status === "interrupted" ? seen.slice(0, expected.length) : seen;
  violations.check(
    compared.join() === expected.join(),
    "I53",
    () => `of #${mark} (${report.status}) people see ${seen}, and the reply is ${expected}`,
  );
  // A schedule may have been made though its answer was lost, so that its person does not know of it.
  const isScheduled = message === "" && ![...people.edits.values()].includes(mark);
  const maySayNothing = report.status === "stopped" || isScheduled;
  violations.check(shown.length > 0 || maySayNothing, "I53", () => `#${mark} (${report.status}) was never answered`);
}

/** What is there is in order. */
function checkPart({ violations }: ChatWorld, mark: string, seen: readonly string[]): void {
  const numbers = seen.map((word) => Number(word.split(".")[2]));
  const inOrder = numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? 0));
  violations.check(inOrder, "I53", () => `of #${mark} people see ${seen}`);
}

/** I53: replies to messages come in the order of their turns. */
function checkOrder({ world: { platform, noted, violations }, turns }: Found): void {
  const shown = platform.seen.filter(({ operation }) => !noted.some(({ id }) => id === operation));
  for (const session of new Set(turns.map((turn) => turn.session))) {
    const own = turns.filter((turn) => turn.session === session && turn.message !== "").map(({ report }) => report.id);
    const order = shown.map(({ operation }) => own.findIndex((id) => operation.startsWith(id))).filter((index) => index >= 0);
    const inOrder = order.every((index, n) => index >= (order[n - 1] ?? 0));
    violations.check(inOrder, "I53", () => `of ${session} people see the replies ${order}`);
  }
}

/** The newest text of the turn: what `output_text` has, or what came before a failure. */
function findText({ output_text, items }: TurnReport): string {
  if (output_text.trim() !== "") return output_text;
  const texts = items
    .filter(({ role }) => role === "assistant")
    .map(({ content }) => content.map((part) => (part.type === "text" ? part.text : "")).join(""));
  return texts.findLast((text) => text.trim() !== "") ?? "";
}
