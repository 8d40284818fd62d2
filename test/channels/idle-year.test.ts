/** What a chat's object and its session keep while no message comes, for a year: no timer, no map that grows, few alarms. */
import { expect, test } from "vitest";
import { settle } from "../session/life";
import { withCountedCollections } from "../support/kept-collections";
import { ChatWorld, toMessage } from "./chat-life";

const DAY = 24 * 60 * 60_000;

/** Lets a day pass, and rings both alarms as often as they are due. */
async function passDay(world: ChatWorld): Promise<number> {
  const end = world.time.now() + DAY;
  let rung = 0;
  while (world.alarmAt !== null && world.alarmAt <= end) {
    world.time.advance(Math.max(0, world.alarmAt - world.time.now()));
    world.alarmAt = null;
    world.chat.alarmRang();
    await settle();
    rung += 1;
  }
  world.time.advance(end - world.time.now());
  return rung + (await world.life.ringUntil(end));
}

test.each<[string, (world: ChatWorld) => Promise<unknown>]>([
  ["after a conversation", (world) => world.answer("Good day.")],
  [
    "with a reply that the platform refused",
    (world) => {
      world.answers.push({ kind: "not_sent", reason: "gone" });
      return world.answer("Good day.");
    },
  ],
])("a chat that is left %s", (_, leave) =>
  withCountedCollections(async (sizes) => {
    const world = new ChatWorld();
    await world.receive(toMessage("Hello."));
    await leave(world);
    for (let day = 0; day < 10; day++) await passDay(world);
    const before = sizes();

    let rung = 0;
    for (let day = 0; day < 365; day++) rung += await passDay(world);

    const after = sizes();
    expect(before.map((__, index) => after[index])).toEqual(before);
    expect([world.time.waiting, world.life.time.waiting, rung, world.alarmAt]).toEqual([0, 0, 0, null]);
  }),
);
