/** A client that rewinds a conversation, regenerates answers, continues earlier branches, and redacts messages. */
import type { ItemId } from "../../src/domain/ids";
import { attempt, insistOnRoom } from "./keeper";
import { drawTurnInput } from "./profile";
import { CALLER, type World } from "./world";

const KEYLESS = { idempotency: null } as const;

/** Mostly near the end. A position inside a response is refused. */
export async function goBack(world: World): Promise<void> {
  const { random } = world;
  const page = { after: null, limit: 12, order: "desc" } as const;
  const listed = await attempt(world, "items", (service) => service.items(CALLER, page));
  const said = (listed?.ok ? listed.value.data : []).map(({ position }) => position);
  const to = random.chance(0.1) || said.length === 0 ? 0 : random.pick(said);
  const done = await attempt(world, "rewind", (service) => service.rewind(CALLER, { to, ...KEYLESS }));
  world.stats.count(`rewind: ${done === null ? "unanswered" : done.ok ? "done" : done.error.code}`);
}

export async function goOnElsewhere(world: World): Promise<void> {
  const listed = await attempt(world, "branches", (service) => service.branches(CALLER));
  const others = listed?.ok ? listed.value.filter(({ current }) => !current) : [];
  if (others.length === 0) return;
  const branch = world.random.pick(others).number;
  const done = await attempt(world, "switch", (service) => service.switchBranch(CALLER, { branch, ...KEYLESS }));
  world.stats.count(`switch: ${done === null ? "unanswered" : done.ok ? "done" : done.error.code}`);
}

/** One of the newest user messages. Null: there is none. */
export async function findQuestion(world: World): Promise<ItemId | null> {
  const page = { after: null, limit: 20, order: "desc" } as const;
  const listed = await attempt(world, "items", (service) => service.items(CALLER, page));
  const asked = listed?.ok ? listed.value.data.filter(({ role }) => role === "user") : [];
  return asked.length > 0 ? world.random.pick(asked).id : null;
}

/** With the settings of the answer before, or with some of them changed. */
export async function answerAgain(world: World): Promise<void> {
  const { random, stats, choices } = world;
  const message = await findQuestion(world);
  if (!message) return;
  const choice = random.chance(0.4) ? drawTurnInput(random) : {};
  const idempotency = { key: world.newKey(), digest: message };
  const done = await insistOnRoom(world, "regenerate", (service) => service.regenerate(CALLER, { message, ...choice, idempotency }));
  stats.count(`regenerate: ${done.ok ? "done" : done.error.code}`);
  if (done.ok && done.value.turn_id) choices.note(done.value.turn_id, choice, done.value.message_id);
}

/** On any branch, and sometimes a message that is pinned. Summaries of summaries may have read an old message. */
export async function redact(world: World): Promise<void> {
  const pinned = world.log.replayed.pins.flatMap(({ from = [] }) => from);
  if (pinned.length > 0 && world.random.chance(0.7)) return redactAt(world, world.random.pick(pinned));
  const page = { after: null, limit: 20, order: world.random.chance(0.6) ? "asc" : "desc", branch: "all" } as const;
  const listed = await attempt(world, "items", (service) => service.items(CALLER, page));
  const said = listed?.ok ? listed.value.data : [];
  if (said.length === 0) return;
  const { id, tool_calls: calls = [] } = world.random.pick(said);
  await redactMessage(
    world,
    id,
    calls.map((call) => call.id),
  );
}

async function redactAt(world: World, position: number): Promise<void> {
  const page = { after: position - 1, limit: 1, order: "asc", branch: "all" } as const;
  const listed = await attempt(world, "items", (service) => service.items(CALLER, page));
  const [message] = listed?.ok ? listed.value.data : [];
  // The message of a call has the position of its first part.
  const id = message?.position === position ? message.id : (message?.tool_calls ?? []).find((call) => call.position === position)?.id;
  if (id) await redactMessage(world, id);
}

async function redactMessage(world: World, message: ItemId, calls: readonly ItemId[] = []): Promise<void> {
  const done = await attempt(world, "redact", (service) => service.redact(CALLER, message));
  if (done?.ok) world.log.redactions.checkCalls(calls);
  world.stats.count(`redact: ${done === null ? "unanswered" : done.ok ? "done" : done.error.code}`);
}
