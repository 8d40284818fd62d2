/** An evaluation follows what single turns were asked with in place of the session's settings. */
import { expect, test } from "vitest";
import type { Evaluation } from "../../src/contract/evaluation";
import { CALLER, MESSAGE, settle } from "../session/life";
import { newLife } from "../session/talk";
import { evaluate, words } from "./support";

/** A session whose turns have these system prompts, one after the other, evaluated under its own policy. */
async function playWith(prompts: readonly string[]): Promise<Evaluation> {
  const life = await newLife({ policy: "oneclaw", system: "Be brief." });
  for (let n = 0; n < 12; n++) {
    const parts = [{ type: "text", text: words(60, `CUST${n}`) }] as const;
    await life.service.submit(CALLER, { ...MESSAGE, parts, system: prompts[n % prompts.length] ?? null });
    await settle();
    await life.answer(words(40, `ORD${n}`), 0);
  }
  return evaluate(life, { policy: "oneclaw" });
}

test("a turn's own system prompt is sent, and the cache of a turn with another one does not serve it", async () => {
  const prompt = words(2_000, "north");
  const [plain, alike, apart] = [await playWith([]), await playWith([prompt]), await playWith([prompt, words(2_000, "south")])];

  const size = alike.current.tokens.input - plain.current.tokens.input;
  expect(size).toBeGreaterThan(12 * 1_500);
  expect(Math.abs(apart.current.tokens.input - alike.current.tokens.input)).toBeLessThan(200);
  expect(apart.current.tokens.cached).toBeLessThan(alike.current.tokens.cached / 2);
});
