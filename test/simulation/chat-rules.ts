/** I51 to I53: what a platform delivers leads to one turn, and what people see is its reply, once, or the channel's log says why not. */
import type { TurnReport } from "../../src/contract/turn";
import type { ItemId, SessionId } from "../../src/domain/ids";
import { readEvents } from "../../src/session/log/event-log";
import { TENANT } from "../http/support";
import type { ChatWorld } from "./chat-world";

const WORD = /w\d+\.\d+\.\d+/g;
const readWords = (text: string): readonly string[] => text.match(WORD) ?? [];
const isOver = ({ status }: TurnReport): boolean => ["completed", "failed", "stopped", "interrupted"].includes(status);

interface Answered {
  readonly mark: string;
  readonly session: SessionId;
  readonly report: TurnReport;
}

/** Once nothing is under way any more. `asked`: the marks of the messages that people wrote. */
export async function checkChats(world: ChatWorld, asked: readonly string[]): Promise<void> {
  checkNothingWaits(world);
  checkWordsOnce(world);
  const turns = await findTurns(world);
  const cancelled = findCancelled(world);
  for (const mark of asked) checkTurns(world, mark, { turns, isCancelled: cancelled.has(mark) });
  for (const turn of turns) checkReply(world, turn);
  checkOrder(world, turns);
}

/** I51: no delivery, turn or part waits for ever, and no text is kept that waits for nothing. */
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

/** Each message of a person that began a turn, over all sessions. */
async function findTurns(world: ChatWorld): Promise<readonly Answered[]> {
  const found: Answered[] = [];
  for (const [session, { object, sql }] of world.sessions) {
    const { service } = object.wake();
    for (const event of readEvents(sql, 0, Number.MAX_SAFE_INTEGER)) {
      if (event.type !== "TurnStarted" || event.item === null) continue;
      const report = await service.turn({ tenant: TENANT, session }, event.turn);
      const mark = /m(\d+)$/.exec(event.item.client_id ?? "")?.[1] ?? "";
      if (report.ok) found.push({ mark, session, report: report.value });
    }
  }
  return found;
}

/** The marks of messages that a person took back by `/reset` or an edit before their turns began. */
function findCancelled({ chats, sessions }: ChatWorld): ReadonlySet<string> {
  const cancelled = new Set(
    [...sessions.values()].flatMap(({ sql }) =>
      readEvents(sql, 0, Number.MAX_SAFE_INTEGER).flatMap((event) => (event.type === "QueuedMessageCancelled" ? [event.message] : [])),
    ),
  );
  const known = [...chats.values()].flatMap(({ sql }) => sql.rows<{ key: string; item: string }>("SELECT key, item FROM messages"));
  return new Set(known.flatMap(({ key, item }) => (cancelled.has(item as ItemId) ? [/m(\d+)/.exec(key)?.[1] ?? ""] : [])));
}

interface Fate {
  readonly turns: readonly Answered[];
  readonly isCancelled: boolean;
}

/** I51: a message is in one session, once, with one turn, which is over. */
function checkTurns({ noted, violations, stats }: ChatWorld, mark: string, { turns, isCancelled }: Fate): void {
  const own = turns.filter((turn) => turn.mark === mark);
  const isGivenUp = noted.some(({ id }) => id === `d${mark}.given_up`);
  if (isGivenUp) stats.count("given up");
  if (isCancelled) stats.count("cancelled by their person");
  const most = own.length === 1 || (own.length === 0 && (isGivenUp || isCancelled));
  violations.check(most, "I51", () => `#${mark} has ${own.length} turns`);
  for (const { report } of own) violations.check(isOver(report), "I51", () => `#${mark} is ${report.status} for ever`);
}

/** I53: people see the whole reply, in its order, and that it failed or is empty; or the log names the operation that is in doubt or ended. */
function checkReply(world: ChatWorld, { mark, report }: Answered): void {
  const { noted, platform, violations, stats, traits } = world;
  const shown = platform.seen.filter(({ operation }) => operation.startsWith(report.id));
  const seen = shown.flatMap(({ text }) => readWords(text));
  const notes = noted.filter(({ id }) => id.startsWith(report.id));
  const doubts = notes.filter(({ reason }) => reason.startsWith("in doubt"));
  stats.count(`replies ${report.status}`);
  stats.count("messages seen", shown.length);
  if (doubts.length > 0) stats.count("replies in doubt");
  violations.check(doubts.length === 0 || !traits.is_idempotent, "I53", () => `#${mark} is in doubt on an idempotent platform`);
  // What is in doubt may arrive behind what was sent after it.
  const certain = shown.filter(({ operation }) => !notes.some(({ id }) => id === operation));
  if (notes.length > 0) return checkPart(world, { mark, seen: certain.flatMap(({ text }) => readWords(text)) });
  const expected = readWords(findText(report));
  violations.check(
    seen.join() === expected.join(),
    "I53",
    () => `of #${mark} (${report.status}) people see ${seen}, and the reply is ${expected}`,
  );
  const isSilent = shown.length === 0 && report.status !== "stopped";
  violations.check(!isSilent, "I53", () => `#${mark} (${report.status}) was never answered`);
}

/** I53: replies come in the order of their turns. A message that is in doubt may come later. */
function checkOrder({ platform, noted, violations }: ChatWorld, turns: readonly Answered[]): void {
  for (const session of new Set(turns.map((turn) => turn.session))) {
    const own = turns.filter((turn) => turn.session === session).map(({ report }) => report.id);
    const shown = platform.seen.filter(({ operation }) => !noted.some(({ id }) => id === operation));
    const order = shown.map(({ operation }) => own.findIndex((id) => operation.startsWith(id))).filter((index) => index >= 0);
    const inOrder = order.every((index, n) => index >= (order[n - 1] ?? 0));
    violations.check(inOrder, "I53", () => `of ${session} people see the replies ${order}`);
  }
}

/** What is in doubt is left out. What is there is in order. */
function checkPart({ violations }: ChatWorld, { mark, seen }: { readonly mark: string; readonly seen: readonly string[] }): void {
  const numbers = seen.map((word) => Number(word.split(".")[2]));
  const inOrder = numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? 0));
  violations.check(inOrder, "I53", () => `of #${mark} people see ${seen}`);
}

/** The newest text of the turn: what `output_text` has, or what came before a failure. */
function findText({ output_text, items }: TurnReport): string {
  if (output_text.trim() !== "") return output_text;
  const texts = items
    .filter(({ role }) => role === "assistant")
    .map(({ content }) => content.map((part) => (part.type === "text" ? part.text : "")).join(""));
  return texts.findLast((text) => text.trim() !== "") ?? "";
}
