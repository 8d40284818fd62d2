/** The fidelity run at a small scale: content of a session that was compacted many times is still found. */
import { expect, test } from "vitest";
import { isAnswer } from "../../../scripts/fidelity/ask";
import { missedGoals, missedHere } from "../../../scripts/fidelity/goals";
import { embedded, playStory } from "../../../scripts/fidelity/play";
import { countChanges, describeRun, hasRow, toCells } from "../../../scripts/fidelity/report";
import { writeStory } from "../../../scripts/fidelity/story";

const story = writeStory({ seed: 3, facts: 8, gap: 2 });

test("what left the view is looked up and answered, in four languages, by words and by execution", async () => {
  const played = await playStory(story, { model: embedded(4_000), policy: "balanced" });

  expect(missedGoals(played)).toEqual([]);
  expect(countChanges(played)).toBeGreaterThan(2);
  expect(played.failed).toBe(0);
  expect(played.heaviest).toBeLessThan(4_000);
  for (const kind of ["exact", "asked", "by_words", "by_execution", "instruction", "decision", "identifier", "open"])
    expect(played.asked.some(({ question, source }) => question.kind === kind && source === "recalled")).toBe(true);
  expect(describeRun(played)).toContain("recalled");
  expect(missedHere(played)).toContainEqual(expect.stringContaining("fact: "));
  const row = `| \`${toCells(played).join("` | `")}\` |`;
  expect(hasRow(`| policy |\n${row}\n`, played)).toBe(true);
  expect(hasRow(row.replace("balanced", "economy"), played)).toBe(false);
}, 60_000);

test("a run whose session has no way to look anything up misses the goals", async () => {
  const played = await playStory(story, { model: embedded(4_000), policy: '{"preset":"balanced","recall":"off"}' });

  expect(missedGoals(played)).not.toEqual([]);
  expect(played.asked.every(({ lookUps }) => lookUps === 0)).toBe(true);
}, 60_000);

test("an answer holds the value however it is written, and not what held before in front of it", () => {
  const value = { value: "AB-12345", outdated: "CD-67890" };
  expect(isAnswer("It is ab - 12345.", value)).toBe(true);
  expect(isAnswer("It is ＡＢ-12345, no longer CD-67890.", value)).toBe(true);
  expect(isAnswer("It was CD-67890; then AB-12345.", value)).toBe(false);
  expect(isAnswer("It is CD-67890.", value)).toBe(false);
});

test("every value is held by one fact only, and the same seed tells the same story", () => {
  const others = story.questions.filter(({ kind }) => kind !== "asked" && kind !== "by_words");
  const values = others.flatMap(({ value, outdated }) => (outdated === null ? [value] : [value, outdated]));
  const told = [...story.steps.map((step) => ("text" in step ? step.text : "")), ...story.results.values()].join("\n");
  for (const value of values) expect(told.split(value)).toHaveLength(2);
  expect(writeStory({ seed: 3, facts: 8, gap: 2 })).toEqual(story);
});
