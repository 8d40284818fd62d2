/** A turn may end at any await on the way to its model. */
import { expect, test } from "vitest";
import { CALLER, Life, MESSAGE, settle } from "./life";

/** More microtasks than there are between a message and the call of its model. */
const MOMENTS = 60;

test("a turn that is stopped at any moment asks no model afterwards, and each call is in the ledger", async () => {
  const asked = new Set<number>();
  for (let moment = 0; moment < MOMENTS; moment++) {
    const life = new Life();
    await life.open();
    void life.service.submit(CALLER, MESSAGE);
    for (let tick = 0; tick < moment; tick++) await Promise.resolve();
    await life.service.stop(CALLER, { idempotency: null });
    await settle();
    const recorded = life.events().filter(({ type }) => type === "ModelCallFinished");
    if (life.events().some(({ type }) => type === "TurnStopped"))
      expect(recorded, `after ${moment} microtasks`).toHaveLength(life.calls.length);
    asked.add(life.calls.length);
  }
  expect([...asked].sort()).toEqual([0, 1]);
});
