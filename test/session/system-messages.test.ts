/** System messages inside the conversation, which a policy keeps verbatim: no summary reads them, and each keeps its place. */
import { expect, test } from "vitest";
import { estimateTokens } from "../../src/context/tokens";
import { long } from "./filled";
import { CALLER, Life, settle } from "./life";

async function instruct(life: Life, text: string): Promise<void> {
  const input = { role: "system", parts: [{ type: "text", text }], run: false, onBusy: "queue", tools: null, idempotency: null } as const;
  await life.service.submit(CALLER, input);
  await settle();
}

/** Answers every running summariser, and returns its requests. */
async function summarizeAll(life: Life): Promise<string[]> {
  const asked: string[] = [];
  while (life.call.request.purpose === "compaction") {
    asked.push(life.call.messages.join("\n"));
    await life.summarize(`So far, part ${asked.length}.`);
  }
  return asked;
}

/** Exchanges of about 1,000 tokens. Returns the summarisers' requests in the meantime. */
async function talk(life: Life, numbers: readonly number[]): Promise<string[]> {
  const asked: string[] = [];
  for (const n of numbers) {
    await life.send(long(`question-${n}`));
    asked.push(...(await summarizeAll(life)));
    await life.answer(`reply-${n}`, estimateTokens(JSON.stringify(life.call.request.messages)));
  }
  return asked;
}

async function compactTwice(): Promise<{ readonly life: Life; readonly asked: readonly string[] }> {
  const life = new Life();
  await life.open({ preset: "yeoman", summary: { mode: "transcript" } });
  await instruct(life, "RULE ONE");
  const first = await talk(life, [1, 2, 3]);
  await instruct(life, "RULE TWO");
  const second = await talk(life, [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
  return { life, asked: [...first, ...second] };
}

test("are not read again by any summary", async () => {
  const { asked } = await compactTwice();

  expect(asked.length).toBeGreaterThan(1);
  expect(asked.filter((text) => text.includes("RULE"))).toEqual([]);
  expect(asked[0]).toContain("question-1");
});

test("stand before the context summary under preset yeoman", async () => {
  const { life } = await compactTwice();

  const shown = life.call.messages.filter((text) => text.startsWith("system: "));
  expect(shown).toEqual(["system: RULE ONE", "system: RULE TWO", expect.stringContaining("[Context summary: ")]);
  expect(life.call.messages.indexOf(shown[2] ?? "")).toBe(2);
  expect(life.call.request.older).toBe(3);
});
