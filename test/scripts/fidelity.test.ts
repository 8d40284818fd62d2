/** The whole promise on a small scale: what was said in a session that was compacted many times is still answered. */
import { expect, test } from "vitest";
import { playStory } from "../../scripts/fidelity/play";
import { describeRun, missedGoals } from "../../scripts/fidelity/report";
import { KINDS, writeStory } from "../../scripts/fidelity/story";

const story = writeStory({ seed: 3, facts: 8, gap: 2 });

test("what left the view is looked up and answered, in four languages, by words and by execution", async () => {
  const played = await playStory(story, { window: 4_000, policy: "balanced" });

  expect(missedGoals(played)).toEqual([]);
  expect(Object.values(played.compactions).reduce((sum, times) => sum + times, 0)).toBeGreaterThan(2);
  expect(played.heaviest).toBeLessThan(4_000);
  for (const kind of KINDS)
    expect(played.asked.some(({ question, source }) => question.kind === kind && source === "memory_query")).toBe(true);
  expect(describeRun(played)).toContain("memory_query");
}, 60_000);

test("a run whose session has no way to look anything up misses the goals", async () => {
  const played = await playStory(story, { window: 4_000, policy: '{"preset":"balanced","recall":"off"}' });

  expect(missedGoals(played)).not.toEqual([]);
  expect(played.asked.every(({ lookUps }) => lookUps === 0)).toBe(true);
}, 60_000);

test("every value is held by one fact only, and the same seed tells the same story", () => {
  const values = story.questions.filter(({ kind }) => kind === "exact" || kind === "by_execution").map(({ value }) => value);
  const told = [...story.steps.map((step) => ("text" in step ? step.text : "")), ...story.results.values()].join("\n");
  for (const value of values) expect(told.split(value)).toHaveLength(2);
  expect(writeStory({ seed: 3, facts: 8, gap: 2 })).toEqual(story);
});
