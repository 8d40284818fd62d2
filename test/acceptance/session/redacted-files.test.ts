/** The files of a session's object hold nothing of what was redacted, or expired, among hundreds of messages whose pages SQLite split. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { NO_RETENTION } from "../../../src/app/retention";
import type { ItemId } from "../../../src/domain/ids";
import { CALLER, Life, settle } from "../../session/life";
import { append, ROOMY } from "../../session/talk";
import { sized } from "../../support/effort";
import { toMark } from "../../support/marks";
import { type ObjectFiles, openObjectFiles } from "../../support/object-files";

/** The mark of each text is at its beginning, and at its end. */
const toText = (n: number, length: number): string => `${toMark(n)} ${"some words ".repeat(length / 11)}${toMark(n)}`;

let files: ObjectFiles;
let life: Life;
beforeEach(async () => {
  files = openObjectFiles();
  life = new Life(files.session);
  life.models = { resolve: async () => ROOMY };
  await life.open();
});
afterEach(() => files.remove());

async function importTexts(count: number, length: number): Promise<void> {
  const messages = Array.from({ length: count }, (_, n) => ({ role: "user", parts: [{ type: "text", text: toText(n, length) }] }) as const);
  expect(await life.service.importMessages(CALLER, { messages, idempotency: null })).toMatchObject({ ok: true });
  await settle();
}

async function listItems(): Promise<readonly ItemId[]> {
  const found: ItemId[] = [];
  for (let after: number | null = null; ; ) {
    const page = await life.service.items(CALLER, { after, limit: 100, order: "asc" });
    if (!page.ok) throw new Error(page.error.code);
    found.push(...page.value.data.map(({ id }) => id));
    after = page.value.data.at(-1)?.position ?? null;
    if (!page.value.has_more) return found;
  }
}

/** All at once, so that they share the scrubs. */
async function redact(items: readonly ItemId[]): Promise<void> {
  const done = await Promise.all(items.map((item) => life.service.redact(CALLER, item)));
  expect(done.filter(({ ok }) => !ok)).toEqual([]);
}

describe("of imported messages", () => {
  test.each(sized({ whole: [30, 300, 3_000], small: [300] }))("of %i characters", async (length) => {
    await importTexts(150, length);
    const items = await listItems();

    await redact(items.filter((_, n) => n % 4 !== 0));

    expect(files.findMarks()).toEqual(items.flatMap((_, n) => (n % 4 === 0 ? [toMark(n)] : [])));
  });

  test("that were redacted in several goes, with more said in between", async () => {
    await importTexts(100, 300);
    const gone = new Set<number>();
    for (let go = 0; go < 3; go++) {
      const items = await listItems();
      const some = items.flatMap((item, n) => (!gone.has(n) && (n * 7 + go) % 3 === 0 ? [{ item, n }] : []));
      for (const { n } of some) gone.add(n);
      await redact(some.map(({ item }) => item));
      const kept = items.flatMap((_, n) => (gone.has(n) ? [] : [toMark(n)]));
      expect(files.findMarks()).toEqual(kept);
      for (let n = items.length; n < items.length + 40; n++) await append(life, "user", [{ type: "text", text: toText(n, 200) }]);
    }
  });
});

test("of turns with streamed replies and results of tools", async () => {
  const TURNS = sized({ whole: 40, small: 16 });
  for (let turn = 0; turn < TURNS; turn++) {
    await life.send(toText(3 * turn, 200));
    await life.useTool(`call_${turn}`, toText(3 * turn + 1, 600), 10);
    for (let chunk = 0; chunk < 10; chunk++) {
      life.call.say({ type: "text", text: `${toMark(3 * turn + 2)} ${"reply ".repeat(20)}` });
      await life.advance(1_000);
    }
    await life.answer(`${toMark(3 * turn + 2)}`);
  }
  const items = await listItems();
  expect(items.length).toBe(4 * TURNS);

  await redact(items.filter((_, n) => Math.floor(n / 4) % 4 !== 0));

  const kept = Array.from({ length: 3 * TURNS }, (_, n) => n).filter((n) => Math.floor(n / 3) % 4 === 0);
  expect(files.findMarks()).toEqual(kept.map(toMark));
});

test("of results of tools that were older than the retention", async () => {
  const TURNS = 60;
  for (let turn = 0; turn < TURNS; turn++) {
    await life.send(toText(2 * turn, 100));
    await life.useTool(`call_${turn}`, toText(2 * turn + 1, turn % 2 === 0 ? 40 : 2_000), 10);
    await life.answer("so it is");
  }
  life.time.advance(30 * 86_400_000);
  const setting = { ...NO_RETENTION, remove_tool_results_after_days: 30 };

  for (let go = 0; go < 2; go++) expect(await life.service.retain(CALLER, { setting, isDryRun: false })).toMatchObject({ ok: true });

  expect(files.findMarks()).toEqual(Array.from({ length: TURNS }, (_, turn) => toMark(2 * turn)));
});
