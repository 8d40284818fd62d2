/** One run of simulated chats: people act while everything fails, then everything works and what is under way ends. */
import { People } from "./chat-people";
import { checkChats } from "./chat-rules";
import { ChatWorld } from "./chat-world";

const ACTIVE_STEPS = 1_500;
const CALM_STEPS = 30_000;

export async function simulateChats(seed: number): Promise<{ readonly world: ChatWorld; readonly violation: string | null }> {
  const world = new ChatWorld(seed);
  const { violations, scheduler } = world;
  const people = new People(world);
  people.begin();
  const step = async (): Promise<boolean> => violations.found.length === 0 && (await scheduler.step());
  for (let n = 0; n < ACTIVE_STEPS && (await step()); n++) world.crashSome();
  world.calm();
  // A question may follow an answer.
  let steps = 0;
  do {
    while (await step()) violations.check(++steps < CALM_STEPS, "I14", () => "it never comes to rest");
  } while (violations.found.length === 0 && people.answerAll() > 0);
  if (violations.found.length === 0) await checkChats(world, people);
  return { world, violation: violations.found[0]?.message ?? null };
}
