/** When a session's events go to the read model. */
import { expect, test } from "vitest";
import type { StoredEvent } from "../../src/domain/events";
import { ringAlarm } from "../../src/session/alarm";
import { DRAIN_EVERY_MS } from "../../src/session/drain";
import { CALLER, Life, settle } from "./life";

/** The seqs of each batch that was written. */
function batchesOf(life: Life): number[][] {
  const batches: number[][] = [];
  life.projection.write = async ({ events }: { readonly events: readonly StoredEvent[] }) => {
    batches.push(events.map((event) => event.seq));
  };
  return batches;
}

async function append(life: Life, count: number): Promise<void> {
  const message = {
    role: "user",
    parts: [{ type: "text", text: "kept" }],
    run: false,
    onBusy: "queue",
    tools: null,
    idempotency: null,
  } as const;
  for (let left = count; left > 0; left--) await life.service.submit(CALLER, message);
  await settle();
}

test("an event that comes alone is written at once", async () => {
  const life = new Life();
  const batches = batchesOf(life);

  await life.open();

  expect(batches).toEqual([[1]]);
});

test("events that follow one another share a batch", async () => {
  const life = new Life();
  const batches = batchesOf(life);
  await life.open();

  await append(life, 2);
  life.time.advance(DRAIN_EVERY_MS / 2);
  await append(life, 1);
  expect(batches).toEqual([[1]]);
  life.time.advance(DRAIN_EVERY_MS / 2);
  await settle();

  expect(batches).toEqual([[1], [2, 3, 4]]);
});

test("an event that waits for its batch is written by the alarm when the object dies before", async () => {
  const first = new Life();
  await first.open();
  await append(first, 1);
  const { alarmAt } = first;

  const second = new Life(first.sql, "life-2");
  const batches = batchesOf(second);
  second.time.advance((alarmAt ?? 0) - second.time.now());
  ringAlarm(second.runtime);
  await settle();

  expect(batches).toEqual([[2]]);
});

test("an erased session's waiting events are not written", async () => {
  const life = new Life();
  const batches = batchesOf(life);
  await life.open();
  await append(life, 1);

  await life.service.erase(CALLER);
  life.time.advance(DRAIN_EVERY_MS);
  await settle();

  expect(batches).toEqual([[1]]);
});
