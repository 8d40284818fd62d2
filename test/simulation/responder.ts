/** A client that says in one request all that it has to say: results of calls, messages, their place, and what the turn is asked with. */
import type { WholeSessionApi } from "../../src/app/control-api";
import type { Outcome, SessionError, TurnInput } from "../../src/app/session-api";
import type { Accepted } from "../../src/contract/item";
import type { TurnId } from "../../src/domain/ids";
import { listEventItems } from "../../src/domain/items-of";
import { attempt } from "./keeper";
import type { NameRules } from "./name-rules";
import { drawTurnInput } from "./profile";
import { type Responded, toResultMark } from "./respond-rules";
import { type Send, toSaid } from "./send";
import { drawText } from "./texts";
import { CALLER, digestText, type World } from "./world";

export interface RespondClient {
  readonly world: World;
  readonly names: NameRules;
  /** A new message. */
  draw(change: Partial<Send>): Send;
  /** Repeats the call with its key until there is an answer, and until there was room if an answer was lost. */
  insist<T>(label: string, work: (service: WholeSessionApi) => Promise<Outcome<T>>): Promise<Outcome<T>>;
}

/** Each of them leaves nothing of the request behind. */
const REFUSALS: ReadonlySet<string> = new Set([
  "turn_running",
  "queue_full",
  "storage_full",
  "call_not_open",
  "calls_unanswered",
  "client_id_taken",
  "branch_limit",
  "too_many_items",
  "models_unavailable",
  "budget_exhausted",
  "budgets_unavailable",
  "unknown_model",
  // A place inside of a response, a result of no call, a client's id twice, or a system prompt that leaves no room.
  "invalid",
]);

export async function respondAtOnce(client: RespondClient): Promise<void> {
  const { world } = client;
  const { random } = world;
  const seen = await findTurn(world);
  const open = seen?.open_calls ?? [];
  const after = await drawPlace(world);
  const owed = open.filter(({ runs }) => runs === "client");
  const given = random.chance(0.8) ? (random.chance(0.75) ? owed : owed.slice(0, -1)) : [];
  const results = given.map(({ id, call_id }) => drawResult(world, random.chance(0.6) ? { execution_id: id } : { call_id }));
  const run = random.chance(0.85);
  const choice = run && random.chance(0.35) ? drawTurnInput(random) : {};
  const count = results.length > 0 ? random.pick([0, 0, 1, 2]) : random.pick([1, 1, 2, 4]);
  const isLone = count === 1 && results.length === 0 && after === null && run;
  const sends = drawMessages(client, { count, run, choice, batch: isLone ? null : world.newBatch() });
  if (sends.length + results.length === 0) return;
  const texts = [...results.map(({ output }) => output), ...sends.map(({ text }) => text)];
  const idempotency = { key: world.newKey(), digest: digestText(texts.join("\n")) };
  const supersedes = drawSuperseded(world, seen);
  const input = { after, results, messages: sends.map(toSaid), run, tools: null, ...choice, ...supersedes, idempotency };
  const begun = listBegun(world);
  const ask = () => client.insist("respond", (service) => service.respond(CALLER, input));
  const answers = random.chance(0.15) ? await Promise.all([ask(), ask()]) : [await ask()];
  checkSame(world, answers);
  const answer = answers.find(({ ok }) => ok) ?? answers[0];
  if (!answer) return;
  const marks = results.map(({ output }) => output.slice(0, output.indexOf(" ") + 1));
  noteAnswer(client, { after, results: marks, sends, run, answer }, { choice, begun });
  const left = supersedes.supersedes === undefined ? 0 : open.length - given.length;
  if (left > 0) noteSuperseded(world, answer, sends);
}

function noteSuperseded({ stats }: World, { ok: isDone }: Outcome<Accepted>, sends: readonly Send[]): void {
  if (isDone && sends.length > 0) stats.count("respond: superseded");
}

async function findTurn(world: World) {
  const seen = await attempt(world, "describe", (service) => service.describe(CALLER));
  return seen?.ok ? seen.value.turn : null;
}

/** The turn that the client saw waiting, for messages that give up its calls. */
const drawSuperseded = ({ random }: World, turn: { readonly id: TurnId } | null): { readonly supersedes?: TurnId } =>
  turn && random.chance(0.4) ? { supersedes: turn.id } : {};

/** The turns that began before the request: results alone let them go on. */
export function listBegun({ log }: World): ReadonlySet<TurnId> {
  log.catchUp();
  return new Set(log.events.flatMap((event) => (event.type === "TurnStarted" ? [event.turn] : [])));
}

interface Before {
  readonly choice: TurnInput;
  readonly begun: ReadonlySet<TurnId>;
}

/** Mostly a new turn, sometimes an old one. Null: the newest place of the current branch. */
async function drawPlace(world: World): Promise<TurnId | null> {
  const { random } = world;
  if (random.chance(0.5)) return null;
  const listed = await attempt(world, "turns", (service) => service.turns(CALLER, { after: null, limit: 8, order: "desc" }));
  const turns = listed?.ok ? listed.value.data.map(({ id }) => id) : [];
  const [newest] = turns;
  return newest === undefined ? null : random.chance(0.4) ? newest : random.pick(turns);
}

export function drawResult(world: World, named: object) {
  const { random } = world;
  const output = `${toResultMark(world.newResult())}${drawText(random, 0, random.chance(0.05) ? 40_000 : 2_000)}`;
  return { execution_id: null, call_id: null, output, is_error: random.chance(0.1), ...named };
}

interface Wanted {
  readonly count: number;
  readonly run: boolean;
  readonly choice: TurnInput;
  readonly batch: number | null;
}

/** With `run` the last one is mostly a user's. Now and then one is the result of no call: the request is refused after its first steps. */
export function drawMessages({ world, draw }: RespondClient, { count, run, choice, batch }: Wanted): Send[] {
  const { random } = world;
  return Array.from({ length: count }, (_, index) => {
    const isStarting = run && index === count - 1 && !random.chance(0.12);
    if (isStarting) return draw({ role: "user", run: true, onBusy: "queue", batch, choice });
    if (random.chance(0.1)) return draw({ role: "tool", calls: ["call_of_nothing"], batch, onBusy: "queue" });
    return draw({ role: random.pick(["user", "assistant", "system"]), batch, onBusy: "queue" });
  });
}

/** Two requests with one key have one outcome. A refused one keeps no key, so that the other may be accepted. */
export function checkSame({ violations }: World, answers: readonly Outcome<Accepted>[]): void {
  const told = new Set(answers.flatMap((each) => (each.ok ? [`${each.value.message_id} ${each.value.turn_id}`] : [])));
  violations.check(told.size <= 1, "I38", () => `one key led to two outcomes: ${[...told]}`);
}

export function noteAnswer({ world, names }: RespondClient, responded: Responded, before: Before): void {
  const { violations, stats, respond } = world;
  const { answer, sends, results, after } = responded;
  respond.note(responded);
  stats.count(`respond: ${answer.ok ? "done" : answer.error.code}`);
  if (!answer.ok) {
    violations.check(
      REFUSALS.has(answer.error.code) || isOfNoBegun(world, answer.error),
      "I38",
      () => `a request was refused: ${JSON.stringify(answer.error)}`,
    );
    if (answer.error.code === "client_id_taken") names.noteTaken(sends[answer.error.index ?? 0], answer.error.message);
    for (const send of sends) send.refused = true;
    return;
  }
  if (results.length > 0 && sends.length > 0) stats.count("respond: results and messages");
  if (after !== null) stats.count("respond: after a turn");
  noteMessages(world, sends, answer.value);
  noteTurn(world, responded, { ...before, turn: answer.value.turn_id });
}

/** A message that was cancelled while it waited has a turn that never began: nothing can follow it. */
const isOfNoBegun = ({ log }: World, error: SessionError): boolean =>
  error.code === "turn_not_found" && !log.events.some((event) => event.type === "TurnStarted" && event.turn === error.turn);

/** The answer names the last message alone. The others are known by their own ids. */
function noteMessages({ log, scheduler }: World, sends: readonly Send[], { message_id, turn_id }: Accepted): void {
  log.catchUp();
  const items = new Map(log.events.flatMap(listEventItems).map(({ client_id, id }) => [client_id, id]));
  for (const [index, send] of sends.entries()) {
    const isLast = index === sends.length - 1;
    send.message = isLast ? message_id : (items.get(send.clientId) ?? null);
    send.turn = isLast ? turn_id : null;
    send.ackedAt = scheduler.steps;
  }
}

/** A turn that goes on keeps what it was asked with. A new one that answers the same message is asked with what the request names alone. */
function noteTurn({ choices, stats }: World, { sends }: Responded, { choice, begun, turn }: Before & { turn: TurnId | null }): void {
  if (turn === null) return;
  if (sends.length > 0) return choices.note(turn, choice, null);
  if (begun.has(turn)) return;
  choices.noteAlone(turn, choice);
  stats.count("respond: asked otherwise");
}
