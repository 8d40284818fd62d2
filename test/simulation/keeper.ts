/** A client that manages a session: its model, policy, prompt, tools, pins and compactions. */

import type { WholeSessionApi } from "../../src/app/control-api";
import type { Outcome } from "../../src/app/session-api";
import { parsePolicyText } from "../../src/context/policy-choice";
import { drawGeneration, drawInstructions, drawPolicy } from "./profile";
import type { Random } from "./random";
import { TOOLS } from "./sim-tools";
import { drawText } from "./texts";
import { CALLER, type World } from "./world";

/** Makes one call, with any outcome. Null: the object was reset, or one of its dependencies failed. */
export async function attempt<T>(world: World, label: string, work: (service: WholeSessionApi) => Promise<T>): Promise<T | null> {
  try {
    return await world.call(world.clients, label, work);
  } catch {
    return null;
  }
}

/** Repeats the call until there is a response. */
export async function insist<T>(world: World, label: string, work: (service: WholeSessionApi) => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await world.call(world.clients, label, work);
    } catch {
      await world.scheduler.gate(world.clients, `${label} again`);
    }
  }
}

/** As `insist`. The outcome of an attempt whose response was lost is unknown until there is room again. */
export async function insistOnRoom<T>(
  world: World,
  label: string,
  work: (service: WholeSessionApi) => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  let attempts = 0;
  const submit = () =>
    insist(world, label, (service) => {
      attempts++;
      return work(service);
    });
  let answer = await submit();
  while (!answer.ok && answer.error.code === "storage_full" && attempts > 1) answer = await submit();
  return answer;
}

export async function changeSettings(world: World): Promise<void> {
  const { random, profile, log } = world;
  const isCompacting = log.replayed.compaction.requested !== null;
  const ordinary = random.weighted({ model: 4, policy: 3, system: 1, tools: 1, title: 1, generation: 1.5, instructions: 2 });
  const change = isCompacting && random.chance(0.5) ? "instructions" : ordinary;
  const input = {
    model: { model: random.pick(["big", "small", "small", "tiny", "stingy", "endless", "dense", "blind"]) },
    policy: { policy: parsePolicyText(drawPolicy(random)) },
    system: { system: drawText(random, 0, 600) },
    tools: { tools: profile.toolCalls > 0 && random.chance(0.7) ? TOOLS : null },
    title: { title: drawText(random, 1, 40) },
    generation: { generation: random.chance(0.2) ? null : drawGeneration(random) },
    instructions: { summaryInstructions: drawInstructions(random) },
  }[change];
  await attempt(world, `patch ${change}`, (service) => service.patch(CALLER, input));
}

/** Sets other instructions for summaries while one is written by those that stood when it was planned. */
export async function meddle(world: World): Promise<void> {
  const summaryInstructions = drawInstructions(world.random) ?? "Keep every name.";
  const done = await attempt(world, "patch instructions", (service) => service.patch(CALLER, { summaryInstructions }));
  if (done?.ok) world.stats.count("meddled");
}

export async function pin(world: World): Promise<void> {
  const { random } = world;
  const newest = { after: null, limit: 12, order: "desc" } as const;
  const listed = await attempt(world, "items", (service) => service.items(CALLER, newest));
  const ids = listed?.ok ? listed.value.data.map(({ id }) => id) : [];
  const pins = Array.from({ length: random.int(0, 2) }, () => {
    if (random.chance(0.4)) return drawText(random, 3, 300);
    if (ids.length > 0 && random.chance(0.6)) return { message_id: random.pick(ids) };
    return { position: random.int(1, Math.max(1, world.log.replayed.next_position)) };
  });
  const set = await attempt(world, "pins", (service) => service.setPins(CALLER, pins));
  if (set?.ok && set.value.pins.some(({ position }) => position !== null)) world.stats.count("pinned a message");
}

export async function compact(world: World): Promise<void> {
  const { random } = world;
  const input = {
    dryRun: random.chance(0.2),
    keepRecent: random.pick([null, null, 256, 1_000]),
    upTo: random.pick([null, null, random.int(1, 20)]),
    instructions: random.pick([null, "Mind the </conversation> numbers."]),
    idempotency: null,
    ...(random.chance(0.15) && drawApart(random)),
  };
  const asked = await attempt(world, "compact", (service) => service.compact(CALLER, input));
  if (asked?.ok) world.stats.count(`by hand: ${asked.value.kind}`);
}

/** With instructions, with another summariser or policy, or as a rebuild from the record. */
function drawApart(random: Random) {
  return {
    ...(random.chance(0.5) && { rebuild: true, keepRecent: null, upTo: null }),
    ...(random.chance(0.4) && { model: random.pick(["big", "small", "tiny", "gone"]) }),
    ...(random.chance(0.3) && { policy: random.pick(["opal", "oneclaw", "balanced"] as const) }),
    ...(random.chance(0.2) && { policy: { summary: { instructions: drawInstructions(random) } } }),
  };
}

/** Mostly the newest compaction, which alone can be reverted. Another one is refused. */
export async function takeBack(world: World): Promise<void> {
  const { random } = world;
  const page = { after: null, limit: 5, order: "desc" } as const;
  const listed = await attempt(world, "compactions", (service) => service.compactions(CALLER, page));
  const standing = (listed?.ok ? listed.value.data : []).filter((row) => row.epoch !== null && row.status !== "reverted");
  const compaction = random.chance(0.9) ? standing[0] : standing.at(-1);
  if (!compaction) return;
  const input = { compaction: compaction.id, idempotency: null };
  const done = await attempt(world, "revert", (service) => service.revertCompaction(CALLER, input));
  world.stats.count(`revert: ${done === null ? "unanswered" : done.ok ? "done" : done.error.code}`);
}

export async function startOver(world: World): Promise<void> {
  const done = await attempt(world, "reset", (service) => service.resetSummary(CALLER));
  world.stats.count(`reset: ${done === null ? "unanswered" : done.ok ? "done" : done.error.code}`);
}

export async function look(world: World): Promise<void> {
  const page = { after: null, limit: 50, order: world.random.pick(["asc", "desc"] as const) };
  await attempt(world, "items", (service) => service.items(CALLER, page));
  await attempt(world, "compactions", (service) => service.compactions(CALLER, page));
}
