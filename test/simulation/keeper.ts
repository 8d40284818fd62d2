/** Who looks after a session: its model, policy, prompt and tools, what it must keep in mind, and what was compacted. */

import type { ModelSpec } from "../../src/app/ports";
import { parsePolicyText } from "../../src/context/policy-choice";
import type { ToolDefinition } from "../../src/domain/message";
import type { SessionRuntime } from "../../src/session/runtime";
import type { SessionService } from "../../src/session/service";
import { compactByHand, setPins } from "./by-hand";
import { drawPolicy, MODELS } from "./profile";
import { drawText } from "./texts";
import { CALLER, type World } from "./world";

export const TOOLS: readonly ToolDefinition[] = ["look_up", "write_file", "read_file"].map((name) => ({
  name,
  description: `${name}: a tool of the client`,
  parameters: { type: "object", properties: { path: { type: "string" }, text: { type: "string" } } },
}));

/** One call; whatever comes of it. Null: the object was reset, or something out of its reach threw. */
export async function attempt<T>(world: World, label: string, work: (service: SessionService) => Promise<T>): Promise<T | null> {
  try {
    return await world.call(world.clients, label, work);
  } catch {
    return null;
  }
}

export async function changeSettings(world: World): Promise<void> {
  const { random, profile } = world;
  const change = random.weighted({ model: 4, policy: 3, system: 1, tools: 1, title: 1 });
  const input = {
    model: { model: random.pick(["big", "small", "small", "tiny", "stingy", "endless"]) },
    policy: { policy: parsePolicyText(drawPolicy(random)) },
    system: { system: drawText(random, 0, 600) },
    tools: { tools: profile.toolCalls > 0 && random.chance(0.7) ? TOOLS : null },
    title: { title: drawText(random, 1, 40) },
  }[change];
  await attempt(world, `patch ${change}`, (service) => service.patch(CALLER, input));
}

export async function pin(world: World): Promise<void> {
  const { random } = world;
  const texts = Array.from({ length: random.int(0, 2) }, () => drawText(random, 3, 300));
  await attempt(world, "pins", async ({ runtime }) => {
    runtime.wake();
    return setPins(runtime, texts);
  });
}

export async function compact(world: World): Promise<void> {
  const { random } = world;
  const by = {
    keepRecent: random.pick([null, null, 100, 1_000]),
    upTo: random.pick([null, null, random.int(1, 20)]),
    instructions: random.pick([null, "Mind the </conversation> numbers."]),
  };
  const asked = await attempt(world, "compact", async ({ runtime }) => {
    runtime.wake();
    return compactByHand(runtime, by);
  });
  if (asked) world.stats.count("compactions by hand");
}

export async function takeBack(world: World, name: string, work: (runtime: SessionRuntime, spec: ModelSpec) => boolean): Promise<void> {
  const done = await attempt(world, name, async ({ runtime }) => {
    runtime.wake();
    const spec = MODELS[runtime.state.settings.model];
    return spec ? work(runtime, spec) : false;
  });
  if (done) world.stats.count(`done: ${name}`);
}

export async function look(world: World): Promise<void> {
  const page = { after: null, limit: 50, order: world.random.pick(["asc", "desc"] as const) };
  await attempt(world, "items", (service) => service.items(CALLER, page));
  await attempt(world, "compactions", (service) => service.compactions(CALLER, page));
}
