/** When the state is kept, so that a wake need not fold what lies before. */
import { expect, test } from "vitest";
import { RECEIPT } from "../read-model/builders";
import { id } from "../support/builders";
import { Life } from "./life";

const snapshots = (life: Life) => life.sql.all("SELECT DISTINCT seq FROM snapshots");

test("a snapshot follows an epoch change at once, and no other event of a short session", async () => {
  const life = new Life();
  await life.open();
  await life.send("hello");
  await life.answer("hi");
  expect(snapshots(life)).toEqual([]);

  const change = { base_epoch: 0, ops: [], receipt: RECEIPT };
  life.runtime.execute({ type: "ChangeEpoch", at: life.time.now(), compaction: id("cmp", 1), trigger: "guard", change });

  expect(life.runtime.state.view.epoch).toBe(1);
  expect(snapshots(life)).toEqual([{ seq: life.runtime.state.seq }]);
});
