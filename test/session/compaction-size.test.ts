/** A compaction that would make the request larger changes nothing: `memory_query`, which it offers first, weighs too. */
import { expect, test } from "vitest";
import { CALLER, Life } from "./life";
import { append, ask, work } from "./talk";

const words = (count: number): string => "nothing of note happened there ".repeat(count / 5);

async function compactedTo(tokens: number) {
  const life = new Life();
  await life.open("oneclaw");
  for (let n = 1; n <= 8; n++) await append(life, n % 2 ? "user" : "assistant", [{ type: "text", text: `${n} ${words(60)}` }]);
  const [before, asked] = [await countContext(life), await ask(life, { keepRecent: 150 })];
  await work(life, words(tokens));
  const listed = await life.service.compactions(CALLER, { after: null, limit: 10, order: "asc" });
  const statuses = listed.ok ? [...new Set(listed.value.data.map(({ status }) => status))] : [];
  return { asked: asked.kind, statuses, less: before - (await countContext(life)) };
}

async function countContext(life: Life): Promise<number> {
  const described = await life.service.describe(CALLER);
  return described.ok ? described.value.current_context_tokens.tokens : 0;
}

test("a summary that is longer than planned is completed only where the request becomes smaller", async () => {
  const [short, long] = [await compactedTo(60), await compactedTo(300)];
  expect(short).toMatchObject({ asked: "requested", statuses: ["completed"] });
  expect(short.less).toBeGreaterThan(0);
  expect(long).toMatchObject({ asked: "requested", less: 0 });
  expect(long.statuses).not.toContain("completed");
});
