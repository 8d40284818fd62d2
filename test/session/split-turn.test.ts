/** A turn that is too long to keep completely: earlier messages and the turn's own beginning get separate summaries. */
import { describe, expect, test } from "vitest";
import { long, talk } from "./filled";
import { failure, Life } from "./life";

const QUESTION = "What is the sum of all of them?";
const UNDER_WAY = "This is the beginning of a turn that is still under way.";

/** With the requested sections. */
const sections = (mark: string): string =>
  ["Goal", "Constraints", "Progress", "Decisions", "Next steps", "Critical context"].map((name) => `## ${name}\n${mark}`).join("\n");

const HISTORY = sections("what came before");
const BEGINNING = sections("what was attempted");

/** Two exchanges, and a turn that calls tools until its next request would not fit. Each is about an eighth of the window. */
async function longTurn(): Promise<{ readonly life: Life; readonly rounds: number }> {
  const life = new Life();
  await life.open("opal");
  await talk(life, 2);
  await life.send(QUESTION);
  let rounds = 0;
  while (life.call.request.purpose === "turn") await life.useTool(`c${++rounds}`, long(`result-${rounds}`), 1_050 * (rounds + 1));
  return { life, rounds };
}

const readPrompt = (life: Life): string => life.call.messages[0] ?? "";
const resultsIn = (text: string): string[] => text.match(/result-\d+ /g) ?? [];

describe("a turn that is cut after at least five messages", () => {
  test("is summarised in two calls, whose answers stand in the view as one text, the question behind it", async () => {
    const { life, rounds } = await longTurn();
    expect(life.runtime.state.compaction.lease).toMatchObject({ mode: "transcript", split: 5 });

    const history = readPrompt(life);
    await life.summarize(HISTORY);
    const beginning = readPrompt(life);
    await life.summarize(BEGINNING);

    for (const said of ["question-1 ", "reply-1", "question-2 ", "reply-2"]) expect(history).toContain(said);
    expect(history).not.toContain(QUESTION);
    expect(history).not.toContain(UNDER_WAY);
    expect(resultsIn(history)).toEqual([]);

    expect(beginning).toContain(`<conversation>\nUser: ${QUESTION}\n\nAssistant: [calls look with {}]`);
    expect(beginning).toContain(UNDER_WAY);
    expect(beginning).not.toContain("Previous conversation summary:");
    expect(beginning).not.toContain("question-2 ");
    const cut = resultsIn(beginning).length;
    expect(cut).toBeGreaterThanOrEqual(2);

    const joined = `${HISTORY}\n\n---\n\n${BEGINNING}`;
    expect(life.runtime.content.readSummaries()).toEqual([joined]);
    expect(life.asked).toBe(`${"t".repeat(2 + rounds)}cct`);
    const [summary, question, ...kept] = life.call.messages;
    expect(summary).toContain(`<conversation_summary>\n${joined}\n</conversation_summary>`);
    expect(question).toBe(`user: ${QUESTION}`);
    expect(resultsIn(kept.join()).map((mark) => mark.trim())).toEqual(
      Array.from({ length: rounds - cut }, (_, n) => `result-${cut + n + 1}`),
    );
    expect(life.runtime.state.turn).toMatchObject({ phase: "generating", rounds });
  });

  test("whose beginning could not be summarised is not read again from the start of the conversation", async () => {
    const { life } = await longTurn();
    await life.summarize(HISTORY);
    const beginning = readPrompt(life);

    await life.say(failure("unavailable"));

    expect(readPrompt(life)).toBe(beginning);
    await life.summarize(BEGINNING);
    expect(life.runtime.content.readSummaries()).toEqual([`${HISTORY}\n\n---\n\n${BEGINNING}`]);
  });
});
