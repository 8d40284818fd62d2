/**
 * A client that names no idempotency key and counts how often it sends a request, as the SDKs of several vendors do. When an answer is lost, or
 * when the client waits no longer, it sends the request again, while the one before may still be on its way.
 */
import type { Idempotency, Outcome } from "../../src/app/session-api";
import type { Accepted } from "../../src/contract/item";
import { checkSame, listBegun, noteAnswer, type RespondClient } from "./responder";
import type { Send } from "./send";
import { CALLER, digestText, type World } from "./world";

type Attempt = NonNullable<Idempotency["attempt"]>;
/** Null: the answer was lost. */
type Answer = Outcome<Accepted> | null;
type Ask = (attempt: Attempt) => Promise<Answer>;

const MOST_TRIES = 6;
/** How often the Worker of a try waits for the running turn before it says that one runs. */
const MOST_WAITS = 3;
/** How long the SDKs wait for an answer. No try arrives later than that behind the one before. */
const TIMEOUT_MS = 10 * 60 * 1_000;

/** The client has given up the try before it arrives. */
class GivenUpError extends Error {
  override readonly name = "GivenUpError";
}

export async function sendCounted(client: RespondClient): Promise<void> {
  const { world } = client;
  const { last, before } = drawSends(client);
  const begun = listBegun(world);
  const answers = await sendUntilAnswered(world, createAsk(world, [...before, last]));
  checkSame(
    world,
    answers.flatMap((answer) => answer ?? []),
  );
  const answer = answers.find((each) => each?.ok);
  if (answer) return noteAnswer(client, { after: null, results: [], sends: [last], run: true, answer }, { choice: {}, begun });
  // What was lost may have been accepted.
  const isRefused = answers.every((each) => each !== null);
  if (!isRefused) world.choices.noteUnanswered();
  for (const send of [...before, last]) send.refused = isRefused;
}

/** The answer names the last message alone, and they have no ids of the client's: the record tells by their texts whether one is there twice. */
function drawSends({ world, draw }: RespondClient): { readonly last: Send; readonly before: readonly Send[] } {
  const about = { onBusy: "queue", clientId: "" } as const;
  const before = world.random.chance(0.5) ? [draw({ ...about, role: "system" })] : [];
  return { before, last: draw({ ...about, role: "user", run: true }) };
}

function createAsk(world: World, sends: readonly Send[]): Ask {
  const { scheduler, clients } = world;
  const messages = sends.map(({ role, text }) => ({
    role: role === "system" ? ("system" as const) : ("user" as const),
    parts: [{ type: "text" as const, text }],
    about: {},
  }));
  const digest = digestText(sends.map(({ text }) => text).join("\n"));
  let arrived: number | null = null;
  return async (attempt) => {
    const idempotency = { key: `request ${digest}`, digest, attempt };
    const input = { after: null, results: [], messages, run: true, tools: null, idempotency };
    try {
      return await world.call(clients, "counted", async (service) => {
        arrived ??= scheduler.now;
        if (scheduler.now - arrived > Math.max(1, attempt.tries) * TIMEOUT_MS) throw new GivenUpError();
        return service.respond(CALLER, input);
      });
    } catch {
      return null;
    }
  };
}

async function sendUntilAnswered(world: World, ask: Ask): Promise<readonly Answer[]> {
  const { random, scheduler, clients, stats } = world;
  const sent: Promise<Answer>[] = [];
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const sending = sendOnce(world, ask, { id: world.newKey(), tries, arrived_at: scheduler.now });
    sent.push(sending);
    const isPatient = random.chance(0.75);
    const answer = await (isPatient ? sending : Promise.race([sending, scheduler.gate(clients, "no patience").then(() => null)]));
    if (answer?.ok && answer.value.replayed) stats.count("counted: answered again");
    if (answer && (answer.ok || answer.error.code !== "storage_full")) break;
    stats.count("counted: sent again");
    await scheduler.gate(clients, "counted again");
  }
  return Promise.all(sent);
}

/** The Worker of one try: it repeats a call whose object was moved, and waits in line while a turn runs. */
async function sendOnce({ random, scheduler, clients }: World, ask: Ask, attempt: Attempt): Promise<Answer> {
  let repeats = random.int(0, 1);
  for (let waits = 0; ; ) {
    const answer = await ask(attempt);
    const isBusy = answer !== null && !answer.ok && answer.error.code === "turn_running";
    if (answer === null && repeats-- > 0) continue;
    if (!isBusy || waits++ === MOST_WAITS) return answer;
    await scheduler.gate(clients, "waits in line");
  }
}
