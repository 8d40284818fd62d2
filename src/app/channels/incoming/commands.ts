/** The bot's commands. Each leads to one answer in the bot's own words. */
import type { ChatCommand } from "../../../contract/channel";
import type { SessionId } from "../../../domain/ids";
import { assertNever } from "../../../lib/assert-never";
import type { WholeSessionApi } from "../../control-api";
import type { Caller, SessionError } from "../../session-api";
import type { ReplyButton } from "../channel";
import { toCaller } from "../chat-ports";
import { say } from "../replies/say";
import { again, done, type Task, toDeliveryToken, toIdempotency, toPersonToken, type Worked } from "../task";
import { findWords } from "../words/words";
import type { Words } from "../words/words-latin";
import { eraseConversation } from "./forget";
import { answerRefusal, toSessionRefusal } from "./refusals";

/** How long a question about an erasure can be answered. */
const ASK_MS = 5 * 60_000;

export function runCommand(task: Task, command: ChatCommand): Promise<Worked> {
  switch (command) {
    case "start":
      return answer(task, ({ start }) => start);
    case "help":
      return answer(task, (words) => writeHelp(task, words));
    case "reset":
      return reset(task);
    case "compact":
      return compact(task);
    case "context":
      return showContext(task);
    case "undo":
      return undo(task);
    case "forget":
      return forget(task);
    default:
      return assertNever(command);
  }
}

function sayWords({ chat, room, row }: Task, write: (words: Words) => string): void {
  say(chat, row.delivery, { name: "answer", write, language: room.channel.settings.language });
}

const answer = async (task: Task, write: (words: Words) => string): Promise<Worked> => done(() => sayWords(task, write));

function writeHelp({ room }: Task, { help, commands }: Words): string {
  return [help, ...room.channel.settings.commands.map((name) => `- /${name}: ${commands[name]}`)].join("\n");
}

/** The session and its API, or null: the conversation has none, and nothing to work on. */
function findCurrent({
  chat: { deps },
  room,
}: Task): { readonly session: SessionId; readonly api: WholeSessionApi; readonly caller: Caller } | null {
  const session = deps.store.sessions.current();
  return session && { session, api: deps.sessions(room.address.tenant, session), caller: toCaller(room.address, session) };
}

/** A refusal that may pass by itself. */
const isPassing = ({ code }: SessionError): boolean => ["models_unavailable", "budgets_unavailable", "turn_running"].includes(code);

/** The old session stays as it is, but for the turns that it has not ended. */
async function reset(task: Task): Promise<Worked> {
  const { store } = task.chat.deps;
  const current = findCurrent(task);
  if (current) await stopTurns(task, current.session);
  return done(() => {
    if (store.sessions.current() !== null) store.sessions.leave();
    sayWords(task, (words) => words.reset);
  });
}

/** Ends the turns of the session that are under way or wait. What they said so far is still shown. */
async function stopTurns({ chat: { deps }, room }: Task, session: SessionId): Promise<void> {
  const api = deps.sessions(room.address.tenant, session);
  for (const { turn } of deps.store.turns.list(session).toReversed()) {
    await api.stop(toCaller(room.address, session), { idempotency: null, turn });
    deps.store.turns.postpone(turn, deps.now());
  }
}

async function compact(task: Task): Promise<Worked> {
  const current = findCurrent(task);
  if (!current) return answer(task, (words) => words.nothing_to_compact);
  const asked = {
    dryRun: false,
    instructions: null,
    keepRecent: null,
    upTo: null,
    idempotency: toIdempotency(task.row.delivery, "compact"),
  };
  const compacted = await current.api.compact(current.caller, asked);
  if (!compacted.ok && isPassing(compacted.error)) return again(compacted.error.code);
  if (!compacted.ok && compacted.error.code === "budget_exhausted") return answerRefusal(task, toSessionRefusal(compacted.error));
  const isBegun = compacted.ok && compacted.value.kind !== "plan";
  return answer(task, (words) => (isBegun ? words.compacting : words.nothing_to_compact));
}

async function showContext(task: Task): Promise<Worked> {
  const current = findCurrent(task);
  if (!current) return answer(task, (words) => words.context(0));
  const report = await current.api.context(current.caller, { content: null });
  if (!report.ok && isPassing(report.error)) return again(report.error.code);
  const limit = report.ok ? report.value.limit : null;
  if (!report.ok || limit === null || limit <= 0) return answer(task, (words) => words.context_unknown);
  const percent = Math.min(100, Math.round((report.value.total.tokens / limit) * 100));
  return answer(task, (words) => words.context(percent));
}

/** Goes back to before the newest message of a person. */
async function undo(task: Task): Promise<Worked> {
  const current = findCurrent(task);
  if (!current) return answer(task, (words) => words.nothing_to_undo);
  await stopTurns(task, current.session);
  const items = await current.api.items(current.caller, { after: null, limit: 50, order: "desc" });
  const newest = items.ok ? items.value.data.find(({ role, redacted }) => role === "user" && !redacted) : undefined;
  if (!newest) return answer(task, (words) => words.nothing_to_undo);
  const input = { to: newest.position - 1, idempotency: toIdempotency(task.row.delivery, "undo") };
  const rewound = await current.api.rewind(current.caller, input);
  if (!rewound.ok && isPassing(rewound.error)) return again(rewound.error.code);
  return answer(task, (words) => (rewound.ok ? words.undone : words.nothing_to_undo));
}

/** Asked by buttons, or by the command once more. */
async function forget(task: Task): Promise<Worked> {
  const { chat, room, row } = task;
  const { store, now } = chat.deps;
  const { user } = row.delivery;
  const hasButtons = room.adapter.traits.max_buttons >= 2;
  const asked = hasButtons ? null : store.buttons.findQuestion(toPersonToken(user), "forget", now());
  if (asked) {
    await eraseConversation(task);
    return done(() => {
      store.buttons.removeQuestion(asked.question);
      sayWords(task, ({ forgotten }) => forgotten);
    });
  }
  return done(() => askToForget(task, hasButtons));
}

function askToForget({ chat, room, row: { delivery } }: Task, hasButtons: boolean): void {
  const { store, now } = chat.deps;
  const question = toDeliveryToken(delivery);
  const known = { question, session: null, user: toPersonToken(delivery.user), expires_at: now() + ASK_MS };
  for (const confirmed of [true, false])
    store.buttons.add({ ...known, data: `${confirmed ? "y" : "n"}.${question}`, act: { type: "forget", confirmed } });
  const { language } = room.channel.settings;
  const { yes, no, forget_ask, forget_again } = findWords(language ?? delivery.user.language);
  const buttons = hasButtons ? [toButton(yes, `y.${question}`), toButton(no, `n.${question}`)] : [];
  say(chat, delivery, { name: "answer", write: () => (hasButtons ? forget_ask : forget_again), buttons });
}

const toButton = (label: string, data: string): ReplyButton => ({ label, data });
