/** The simulation is worth what its repetition is worth (docs/simulation.md). */
import { expect, test } from "vitest";
import { Random } from "./random";
import { Scheduler, Scope } from "./scheduler";
import { simulate } from "./simulate";

test("a seed replays exactly, whatever ran before it", async () => {
  const first = await simulate(11);
  await simulate(12);
  const again = await simulate(11);
  expect(again.trace).toEqual(first.trace);
  expect([...again.stats.counts]).toEqual([...first.stats.counts]);
});

test("nothing is left to happen only once what was begun outside of a step has gone on", async () => {
  const scheduler = new Scheduler(new Random(1));
  const done: string[] = [];
  const work = async (): Promise<void> => {
    await Promise.resolve();
    await scheduler.gate(new Scope("life"), "models");
    done.push("models");
  };
  void work();
  expect(await scheduler.step()).toBe(true);
  expect(done).toEqual(["models"]);
  expect(await scheduler.step()).toBe(false);
});
