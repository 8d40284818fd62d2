/** A client for which each answer is a fixed place: it continues any turn at any of its waits, in a copy of the session where that is needed. */
import type { CopiedPlace, RespondFromInput } from "../../src/app/respond-api";
import type { Outcome } from "../../src/app/session-api";
import type { Accepted } from "../../src/contract/item";
import type { TurnReport } from "../../src/contract/turn";
import { ok } from "../../src/lib/result";
import { id } from "../support/builders";
import { attempt } from "./keeper";
import { drawMessages, drawResult, listBegun, noteAnswer, type RespondClient } from "./responder";
import { toSaid } from "./send";
import { TOOLS } from "./sim-tools";
import { CALLER, digestText, type World } from "./world";

type Answer = Outcome<Accepted | CopiedPlace>;

const CLIENT_TOOLS = new Set(TOOLS.flatMap(({ name, runs }) => (runs ? [] : name)));
/** Copies have numbers that no session of another test has. */
const FIRST_COPY = 1_000;
/** No such wait, or none that a copy can have. */
const NOWHERE: ReadonlySet<string> = new Set(["turn_not_found", "approval_not_open"]);

export async function continuePlace(client: RespondClient): Promise<void> {
  const { world } = client;
  const { random, stats, respond, copies } = world;
  const turn = await drawTurn(world);
  if (!turn) return;
  const replies = listReplies(turn);
  const [after, leg] = [turn.id, random.int(1, random.chance(0.9) ? replies.length + 1 : 3)];
  const results = random.chance(0.7) ? answerCalls(world, replies[leg - 1] ?? []) : [];
  const count = results.length > 0 ? random.pick([0, 0, 1]) : random.pick([1, 1, 2]);
  const sends = drawMessages(client, { count, run: true, choice: {}, batch: world.newBatch() });
  const texts = [...results.map(({ output }) => output), ...sends.map(({ text }) => text)];
  const idempotency = { key: world.newKey(), digest: digestText(texts.join("\n")) };
  const input = { after, leg, results, messages: sends.map(toSaid), run: true, tools: null, idempotency };
  const begun = listBegun(world);
  const answer = await askOnce(client, input);
  const marks = results.map(({ output }) => output.slice(0, output.indexOf(" ") + 1));
  const here = toHere(answer);
  if (here) {
    stats.count(`continued: ${here.ok ? "here" : here.error.code}`);
    return noteAnswer(client, { after, results: marks, sends, run: true, answer: here }, { choice: {}, begun });
  }
  for (const send of sends) send.refused = true;
  respond.noteElsewhere(marks);
  if (!answer.ok) return stats.count(`continued: ${answer.error.code}`);
  if (!("copy" in answer.value)) return;
  copies.note({ ...answer.value, after, leg });
  stats.count(answer.value.cut ? "continued: in a copy behind calls" : "continued: in a copy");
}

/** The session took the request, or refused it as it refuses any other. Null: nothing of it may be in the session. */
function toHere(answer: Answer): Outcome<Accepted> | null {
  if (!answer.ok) return NOWHERE.has(answer.error.code) ? null : answer;
  return "copy" in answer.value ? null : ok(answer.value);
}

/** With one key there is one place, though each time the request is sent it brings another id for a copy. */
async function askOnce({ world, insist: askAgain }: RespondClient, input: Omit<RespondFromInput, "copy">): Promise<Answer> {
  const ask = () =>
    askAgain<Accepted | CopiedPlace>("continue", (service) =>
      service.respondFrom(CALLER, { ...input, copy: id("ses", FIRST_COPY + world.newBatch()) }),
    );
  const answers = world.random.chance(0.25) ? await Promise.all([ask(), ask()]) : [await ask()];
  const places = new Set(answers.flatMap((answer) => (answer.ok ? [toPlace(answer.value)] : [])));
  world.violations.check(places.size <= 1, "I38", () => `one key led to two places: ${[...places]}`);
  const [first, second] = answers;
  const found = first?.ok ? first : (second ?? first);
  if (!found) throw new TypeError("nothing was answered");
  return found;
}

const toPlace = (value: Accepted | CopiedPlace): string =>
  "copy" in value ? `${value.copy} at ${value.at} without ${JSON.stringify(value.cut)}` : `${value.message_id} ${value.turn_id}`;

async function drawTurn(world: World): Promise<TurnReport | null> {
  const listed = await attempt(world, "turns", (service) => service.turns(CALLER, { after: null, limit: 6, order: "desc" }));
  return listed?.ok && listed.value.data.length > 0 ? world.random.pick(listed.value.data) : null;
}

type Calls = NonNullable<TurnReport["items"][number]["tool_calls"]>;

/** The calls of the client in each reply that has some. */
const listReplies = ({ items }: TurnReport): readonly Calls[] =>
  items.map(({ tool_calls = [] }) => tool_calls.filter(({ name }) => CLIENT_TOOLS.has(name))).filter(({ length }) => length > 0);

const answerCalls = (world: World, calls: Calls) =>
  calls.map(({ execution_id, call_id }) => drawResult(world, world.random.chance(0.5) ? { execution_id } : { call_id }));
