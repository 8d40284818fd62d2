/** A message that never fitted is refused, stays in the record, and removes nothing of the history before it. */
import { describe, expect, test } from "vitest";
import { talk } from "./filled";
import { CALLER, Life, SPEC, settle } from "./life";

const HUGE = "a word of many ".repeat(6_000);

async function refused(policy: string): Promise<Life> {
  const life = new Life();
  await life.open(policy);
  await talk(life, 3);
  await life.send(HUGE);
  expect(life.runtime.state.last_turn).toMatchObject({ status: "failed", failure: { kind: "cannot_fit" } });
  return life;
}

const dropped = (life: Life) => life.runtime.state.view.overlays.map(({ kind, from, to }) => ({ kind, from, to }));

describe.each(["balanced", "oneclaw", "opal", "odincode", "yeoman"])("after a message that was refused, under %s", (policy) => {
  test("the next one is answered with all of the history, and only the refused one is left out", async () => {
    const life = await refused(policy);
    const shown = life.runtime.state.view.items.map(({ position }) => position);
    const asked = life.asked;

    await life.send("and briefly?");

    expect(life.asked).toBe(`${asked}t`);
    const request = life.call.messages.join("\n");
    for (const question of [1, 2, 3]) expect(request).toContain(`question-${question} `);
    expect(request).not.toContain(HUGE.slice(0, 100));
    const huge = shown.at(-1) ?? 0;
    expect(dropped(life)).toEqual([{ kind: "dropped", from: huge, to: huge }]);
    expect(life.runtime.state.view.items.map(({ position }) => position)).toEqual([...shown.slice(0, -1), huge + 1]);
  });
});

test("what was refused stays where a larger window has room for it", async () => {
  const life = await refused("balanced");
  life.models = { resolve: async () => ({ ...SPEC, context_window: 200_000 }) };
  await life.send("and briefly?");
  expect(dropped(life)).toEqual([]);
  expect(life.call.messages.join("\n")).toContain(HUGE.slice(0, 100));
});

test("a retry of it is refused again, and what it refused a second time leaves as well", async () => {
  const life = await refused("balanced");
  await life.service.retry(CALLER, { idempotency: null });
  await settle();
  expect(life.runtime.state.last_turn).toMatchObject({ failure: { kind: "cannot_fit" } });
  await life.send("and briefly?");
  expect(dropped(life)).toHaveLength(1);
  expect(life.call.messages.join("\n")).toContain("question-1 ");
});
