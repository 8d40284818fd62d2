/** The summariser's input: the complete source, in as many chunks as necessary. */
import { expect, test } from "vitest";
import type { CompactionId } from "../../src/domain/ids";
import { recallFor, toRecallPorts } from "../../src/session/recall/recall";
import { sized } from "../support/effort";
import { CALLER, Life, SPEC, settle } from "./life";
import { ask, cutOff, newLife, retry, say, work } from "./talk";

/** Above 0.85 of the window of 8,000. */
const OVER_THRESHOLD = 7_000;

/** The request of each chunk. Every chunk is answered. */
async function readParts(life: Life): Promise<string[]> {
  const compaction = life.jobs.at(-1) as CompactionId;
  const leased = await life.service.leaseCompaction(CALLER, compaction);
  if (!leased.ok || leased.value.kind !== "leased") throw new Error(JSON.stringify(leased));
  const { token } = leased.value;
  const parts: string[] = [];
  for (let { part } = leased.value; ; ) {
    const [asked] = part.request.messages[0]?.parts ?? [];
    parts.push(asked?.type === "text" ? asked.text : "");
    const text = `Summary ${parts.length} of what was said.`;
    const outcome = { ok: true, text, finish: "stop", model: "m", estimate: 1, usage: null, ms: 1 } as const;
    const settled = await life.service.recordCompaction(CALLER, { compaction, token, outcome, part: part.part, next: part.next });
    if (!settled.ok || settled.value.next !== "continue") return parts;
    part = settled.value.part;
  }
}

const saidIn = (parts: readonly string[]): string =>
  parts.map((part) => part.slice(part.indexOf("<conversation>") + 15, part.indexOf("\n</conversation>"))).join("");

async function talk(life: Life, words: number, questions = 12): Promise<void> {
  for (let n = 1; n <= questions; n++) {
    await life.send(`question-${n} ${"word ".repeat(words)}`);
    await life.answer(`reply-${n} ${"word ".repeat(words)}`, n === questions ? OVER_THRESHOLD : 5_000);
  }
}

test("a message longer than a part is itself split, and nothing of it is left out", async () => {
  const life = new Life();
  await life.open();
  await life.send("my order number is 4711");
  await life.answer("noted", 20);
  const long = Array.from({ length: 2_000 }, (_, n) => `w${n}`).join(" ");
  await life.send(long);
  await life.answer("read", 6_000);
  for (const text of ["one", "two", "three"]) {
    await life.send(text);
    await life.answer(`${text}, yes. ${"more words ".repeat(400)}`, text === "three" ? OVER_THRESHOLD : 6_000);
  }

  const parts = await readParts(life);

  expect(parts.length).toBeGreaterThan(1);
  expect(parts[0]).toContain("4711");
  expect(saidIn(parts)).toContain(long);
  expect(life.runtime.state.view.overlays).toMatchObject([{ kind: "summary" }]);
});

test("each part updates the summary of those before it, and the last one's is what the view shows", async () => {
  const life = new Life();
  await life.open();
  await talk(life, 300);

  const parts = await readParts(life);

  expect(parts.length).toBeGreaterThan(1);
  expect(parts[0]).not.toContain("Previous conversation summary:");
  for (const [index, part] of parts.slice(1).entries())
    expect(part).toContain(`<summary>\nSummary ${index + 1} of what was said.\n</summary>`);
  expect(life.runtime.content.readSummaries()).toEqual([`Summary ${parts.length} of what was said.`]);
});

test("a source of many parts is read to its end, in parts that are well filled", async () => {
  const questions = sized({ whole: 640, small: 200 });
  const life = new Life();
  await life.open();
  life.models = { resolve: async () => ({ ...SPEC, context_window: 10_000_000 }) };
  await talk(life, 400, questions);
  await life.send("and then?");
  // The registry has another window for the model.
  life.models = { resolve: async () => SPEC };
  await life.answer("then it ended", OVER_THRESHOLD);

  const parts = await readParts(life);

  expect(parts.length).toBeGreaterThan(questions / 10);
  const [summary] = life.runtime.state.view.overlays;
  expect(summary).toMatchObject({ kind: "summary", from: 1 });
  const read = saidIn(parts);
  const unread = Array.from({ length: summary?.to ?? 0 }, (_, n) => `${n % 2 === 0 ? "question" : "reply"}-${Math.floor(n / 2) + 1} `);
  expect(unread.filter((mark) => !read.includes(mark))).toEqual([]);
  expect(read).not.toContain("left out");
  const lengths = parts.slice(1, -1).map((part) => part.length);
  expect(Math.min(...lengths)).toBeGreaterThan(Math.max(...lengths) * 0.7);
});

test("the lists of files that code puts under a summary are not given back as words of it", async () => {
  const life = new Life();
  await life.open();
  await life.send("read it");
  const call = { type: "tool_call", call_id: "c1", name: "read_file", arguments: '{"path":"src/a.ts"}' } as const;
  await life.say({ type: "tool_call", call }, { type: "finish", finish: "tool_calls", usage: null });
  const results = [{ execution_id: null, call_id: "c1", output: "export {};", is_error: false }];
  await life.service.toolResults(CALLER, { results, idempotency: null });
  await settle();
  await life.answer("read", 100);
  await talk(life, 300);
  await readParts(life);
  expect(life.runtime.content.readSummaries()[0]).toMatch(/^Summary \d+ of what was said\.\n\n<read-files>\nsrc\/a\.ts\n<\/read-files>$/);

  await talk(life, 300);
  const [prompt] = await readParts(life);

  expect(prompt).toMatch(/<summary>\nSummary \d+ of what was said\.\n<\/summary>/);
  expect(life.runtime.content.readSummaries()[0]).toContain("src/a.ts");
});

test.each([1, 3])("what a retry took back is in no summary and no look-up, however often it was cut off: %s", async (times) => {
  const life = await newLife();
  await cutOff(life, "What is the price?", "I guess 999 dollars, I am fairly");
  for (let n = 1; n < times; n++) {
    await life.service.retry(CALLER, { idempotency: null });
    await settle();
    await life.say({ type: "text", text: `I guess 999 dollars, try ${n}` });
    await life.service.stop(CALLER, { idempotency: null });
    await settle();
  }
  await retry(life, "The price is 10 dollars.");
  for (let n = 0; n < 4; n++) await say(life, `question-${n}`, `reply-${n} ${"word ".repeat(50)}`);
  const find = (input: object) =>
    life.service.recall(CALLER, { query: null, execution: null, from: null, to: null, offset: 0, limit: 20, ...input });
  const readLookUps = async () => JSON.stringify([await find({ query: "guess dollars price" }), await find({ from: 1, to: 9 })]);
  expect(await readLookUps()).toContain("10 dollars");
  expect(await readLookUps()).not.toContain("999");
  await ask(life, { keepRecent: 20 });
  life.jobs.push(life.runtime.state.compaction.requested?.id ?? "");

  const said = saidIn(await readParts(life));

  expect(said).toContain("10 dollars");
  expect(said).not.toContain("999");
  await work(life);
  expect(life.runtime.state.view.overlays).toMatchObject([{ kind: "summary", from: 1 }]);
  const { output } = await recallFor({ session_id: CALLER.session }, toRecallPorts(life.runtime));
  expect(output).toContain("10 dollars");
  expect(output).not.toContain("999");
  expect(await readLookUps()).not.toContain("999");
});
