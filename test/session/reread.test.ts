/**
 * After a number of merges, the next one reads the newest of the record again. If that fails, the compaction continues
 * with an ordinary merge, and nothing leaves the view without a summary.
 */
import { expect, test } from "vitest";
import { runCompaction } from "../../src/app/compaction/run-compaction";
import { talk } from "./filled";
import { CALLER, failure, Life, settle } from "./life";

const POLICY = { preset: "oneclaw", summary: { rebuild_after: 1 } } as const;

/**
 * Continues the conversation until a compaction is requested and a worker runs. Each of its requests is answered with
 * `text`, except that the first fails.
 */
async function compactWith(life: Life, text: string, first: "fails" | "is answered" = "is answered"): Promise<string[]> {
  await talk(life, 6);
  await life.send("and?");
  await life.answer("so", 6_850);
  const { requested } = life.runtime.state.compaction;
  if (!requested) throw new Error("nothing was asked for");
  const { model, clock, schedule, log } = life.runtime.deps;
  const job = { ...CALLER, compaction: requested.id };
  const done = runCompaction(job, { session: life.service, model, clock, schedule, random: () => 0, isSuspended: async () => false, log });
  await settle();
  const prompts: string[] = [];
  while (life.call.request.purpose === "compaction" && life.runtime.state.compaction.requested?.id === requested.id) {
    prompts.push(life.call.messages[0] ?? "");
    if (first === "fails" && prompts.length === 1) await life.say(failure("refused"));
    else await life.summarize(text);
  }
  await done;
  return prompts;
}

test("a summary that reads the record again and fails is an ordinary summary at the next attempt, and is not due again for as long", async () => {
  const life = new Life();
  await life.open(POLICY);
  await compactWith(life, "First.");
  await compactWith(life, "Second.");

  const [again, ordinary] = await compactWith(life, "Third.", "fails");

  expect(again).toContain("<summary>\nSecond.\n</summary>");
  expect(again).toContain("are in the summary already");
  expect(ordinary).toContain("<summary>\nSecond.\n</summary>");
  expect(ordinary).not.toContain("are in the summary already");
  const [next] = await compactWith(life, "Fourth.");
  expect(next).not.toContain("are in the summary already");
  const plans = life.events().flatMap((event) => (event.type === "CompactionStarted" ? [event.reread_from !== undefined] : []));
  expect(plans).toEqual([false, false, true, false, false]);
  const changes = life.events().flatMap((event) => (event.type === "EpochChanged" ? [event] : []));
  expect(changes.map(({ receipt }) => receipt.dropped_items)).toEqual([0, 0, 0, 0]);
  expect(life.runtime.content.readSummaries()).toEqual(["Fourth."]);
});
