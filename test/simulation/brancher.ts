/** A client that rewinds a conversation, regenerates answers, continues earlier branches, and redacts messages. */
import { attempt } from "./keeper";
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

export async function answerAgain(world: World): Promise<void> {
  const page = { after: null, limit: 20, order: "desc" } as const;
  const listed = await attempt(world, "items", (service) => service.items(CALLER, page));
  const asked = listed?.ok ? listed.value.data.filter(({ role }) => role === "user") : [];
  if (asked.length === 0) return;
  const message = world.random.pick(asked).id;
  const done = await attempt(world, "regenerate", (service) => service.regenerate(CALLER, { message, ...KEYLESS }));
  world.stats.count(`regenerate: ${done === null ? "unanswered" : done.ok ? "done" : done.error.code}`);
}

/** On any branch. Summaries of summaries may have read an old message. */
export async function redact(world: World): Promise<void> {
  const page = { after: null, limit: 20, order: world.random.chance(0.6) ? "asc" : "desc", branch: "all" } as const;
  const listed = await attempt(world, "items", (service) => service.items(CALLER, page));
  const said = listed?.ok ? listed.value.data : [];
  if (said.length === 0) return;
  const message = world.random.pick(said).id;
  const done = await attempt(world, "redact", (service) => service.redact(CALLER, message));
  world.stats.count(`redact: ${done === null ? "unanswered" : done.ok ? "done" : done.error.code}`);
}
