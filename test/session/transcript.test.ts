/** What the summariser is given to read. */
import { expect, test } from "vitest";
import type { CompactionId } from "../../src/domain/ids";
import { CALLER, Life } from "./life";

/** Past 0.85 of the window of 8,000. */
const OVER_THRESHOLD = 7_000;

async function readTranscript(life: Life): Promise<string> {
  const leased = await life.service.leaseCompaction(CALLER, life.jobs.at(-1) as CompactionId);
  if (!leased.ok || leased.value.kind !== "leased") throw new Error(JSON.stringify(leased));
  const [part] = leased.value.request.messages[0]?.parts ?? [];
  return part?.type === "text" ? part.text : "";
}

test("a message longer than its share shows both its ends, and does not crowd out what came before it", async () => {
  const life = new Life();
  await life.open();
  await life.send("my order number is 4711");
  await life.answer("noted");
  await life.send(`BEGIN ${"word ".repeat(4_500)} END`);
  await life.answer("read");
  for (const text of ["one", "two", "three"]) {
    await life.send(text);
    await life.answer(`${text}, yes. ${"more words ".repeat(400)}`, text === "three" ? OVER_THRESHOLD : 6_000);
  }

  const transcript = await readTranscript(life);

  expect(transcript).toContain("4711");
  expect(transcript).toMatch(/User: BEGIN word .*characters left out of this view.* END/s);
});

test("what does not fit goes from the oldest end, and is counted", async () => {
  const life = new Life();
  await life.open();
  for (let n = 1; n <= 12; n++) {
    await life.send(`question-${n} ${"word ".repeat(300)}`);
    await life.answer(`reply-${n} ${"word ".repeat(300)}`, n === 12 ? OVER_THRESHOLD : 5_000);
  }

  const transcript = await readTranscript(life);
  const left = Number(/\[(\d+) earlier entries are left out here\.\]/.exec(transcript)?.[1]);
  const told = [...transcript.matchAll(/(?:User|Assistant): (?:question|reply)-(\d+)/g)];

  expect(left + told.length).toBe(life.runtime.state.compaction.lease?.range.to);
  expect(transcript).not.toContain("question-1 ");
});
