/** People talk to a tenant's bot in a few conversations, while the platform, the network and every object fail. Rules I51 to I53. */
import type { ChatPlace, ChatUser, Delivery } from "../../src/app/channels/channel";
import { checkChats } from "./chat-rules";
import { ChatWorld } from "./chat-world";

const PEOPLE = 3;
/** Deliveries of one person. */
const DELIVERIES = 7;
const ACTIVE_STEPS = 1_500;
const CALM_STEPS = 30_000;

class People {
  /** Marks of the messages that were sent. */
  readonly asked: string[] = [];
  readonly world: ChatWorld;
  #deliveries = 0;

  constructor(world: ChatWorld) {
    this.world = world;
  }

  async sit(name: string): Promise<void> {
    const { scheduler, random, platform } = this.world;
    for (let n = 0; n < DELIVERIES; n++) {
      await scheduler.sleep(platform.scope, random.pick([0, 500, 8_000, 60_000]), `${name} thinks`);
      const deliveries = random.chance(0.15) ? [this.#write(name), this.#write(name)] : [this.#write(name)];
      void platform.deliver(deliveries);
    }
  }

  #write(name: string): Delivery {
    const { random, stats } = this.world;
    const mark = String(++this.#deliveries);
    const command = random.weighted({ none: 12, help: 0.5, reset: 1, context: 0.5 });
    const said = command === "none" ? `What is #${mark}?` : `/${command}`;
    if (command === "none") this.asked.push(mark);
    else stats.count(`command ${command}`);
    const [place, user] = [this.#drawPlace(name), { id: name, name, language: "en" } satisfies ChatUser];
    const event = {
      type: "message",
      message: `m${mark}`,
      text: said,
      files: [],
      command: command === "none" ? null : { name: command, args: "" },
      is_addressed: true,
    } as const;
    return { id: `d${mark}`, place, user, at: this.world.scheduler.now, event };
  }

  #drawPlace(name: string): ChatPlace {
    const { random } = this.world;
    const chat = random.pick(["group", `private ${name}`]);
    const thread = chat === "group" && random.chance(0.3) ? "t1" : null;
    return { chat, thread, is_private: chat !== "group", target: { chat, thread } };
  }
}

export async function simulateChats(seed: number): Promise<{ readonly world: ChatWorld; readonly violation: string | null }> {
  const world = new ChatWorld(seed);
  const { violations, scheduler } = world;
  const people = new People(world);
  for (let n = 1; n <= PEOPLE; n++) void people.sit(`u${n}`);
  const step = async (): Promise<boolean> => violations.found.length === 0 && (await scheduler.step());
  for (let n = 0; n < ACTIVE_STEPS && (await step()); n++) world.crashSome();
  world.calm();
  for (let n = 0; await step(); n++) violations.check(n < CALM_STEPS, "I14", () => "it never comes to rest");
  if (violations.found.length === 0) await checkChats(world, people.asked);
  return { world, violation: violations.found[0]?.message ?? null };
}
