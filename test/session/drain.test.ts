/** When a session's events are sent to the read model. */
import { expect, test } from "vitest";
import type { ToolOutcome } from "../../src/app/ports";
import { DRAIN_BUDGET, PAGE } from "../../src/app/projection/project";
import { BATCH_COST, d1CostOfBatch } from "../../src/app/projection/projection-cost";
import type { StoredEvent } from "../../src/domain/events";
import { ringAlarm } from "../../src/session/alarm";
import { DRAIN_EVERY_MS, DRAIN_IN_TURN_MS, readPage } from "../../src/session/drain";
import { CALLER, Life, MESSAGE, SPEC, settle } from "./life";

/** The seqs of each batch that was written. */
function recordBatches(life: Life): number[][] {
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
  const batches = recordBatches(life);

  await life.open();

  expect(batches).toEqual([[1]]);
});

test("events that follow one another share a batch", async () => {
  const life = new Life();
  const batches = recordBatches(life);
  await life.open();

  await append(life, 2);
  life.time.advance(DRAIN_EVERY_MS / 2);
  await append(life, 1);
  expect(batches).toEqual([[1]]);
  life.time.advance(DRAIN_EVERY_MS / 2);
  await settle();

  expect(batches).toEqual([[1], [2, 3, 4]]);
});

/** A turn in which a tool runs until the test provides its output. */
async function runningTool(life: Life): Promise<(output: string) => Promise<void>> {
  const run = Promise.withResolvers<ToolOutcome>();
  life.tools = { needsApproval: async () => false, run: () => run.promise };
  const tools = [{ name: "fetch", parameters: {}, runs: { by: "http", tool: "fetch" } }] as const;
  await life.service.open(CALLER, { model: SPEC.id, policy: "oneclaw", system: null, tools, title: null, metadata: {} });
  await settle();
  await life.send("go");
  const call = { type: "tool_call", call_id: "call_1", name: "fetch", arguments: "{}" } as const;
  await life.say({ type: "tool_call", call }, { type: "finish", finish: "tool_calls", usage: null });
  return (output) => {
    run.resolve({ output, failure: null });
    return settle();
  };
}

test("what tools are called and do is written while their turn goes on", async () => {
  const life = new Life();
  const batches = recordBatches(life);
  const give = await runningTool(life);
  expect(batches).toEqual([[1]]);

  await life.advance(DRAIN_IN_TURN_MS);
  expect(batches.flat()).toEqual(life.events().map(({ seq }) => seq));

  await give("found");
  await life.advance(DRAIN_IN_TURN_MS);
  expect(life.runtime.state.turn?.phase).toBe("generating");
  expect(batches.flat()).toEqual(life.events().map(({ seq }) => seq));
});

test("while the rows cannot be written, a running turn leaves it to the job to try again", async () => {
  const life = new Life();
  let tries = 0;
  life.projection.write = async () => {
    tries += 1;
    throw new Error("D1 is out of reach");
  };
  const give = await runningTool(life);
  await life.advance(DRAIN_IN_TURN_MS);
  const failed = tries;

  await give("found");
  await life.advance(DRAIN_IN_TURN_MS);

  expect(failed).toBeGreaterThan(0);
  expect(tries).toBe(failed);
});

test("a turn that is over within that time is one batch", async () => {
  const life = new Life();
  const batches = recordBatches(life);
  const give = await runningTool(life);

  await give("found");
  await life.answer("so it is");
  await life.advance(DRAIN_IN_TURN_MS);

  expect(batches).toHaveLength(2);
  expect(batches.flat()).toEqual(life.events().map(({ seq }) => seq));
});

test("an event that waits for its batch is written by the alarm when the object dies before", async () => {
  const first = new Life();
  await first.open();
  await append(first, 1);
  const { alarmAt } = first;

  const second = new Life(first.sql, "life-2");
  const batches = recordBatches(second);
  second.time.advance((alarmAt ?? 0) - second.time.now());
  ringAlarm(second.runtime);
  await settle();

  expect(batches).toEqual([[2]]);
});

test("the job of events that are all written ends with its alarm, when the object died before it could end it", async () => {
  const first = new Life();
  await first.open();
  await append(first, 100);
  const written = recordBatches(first);
  first.time.advance(DRAIN_EVERY_MS);
  await settle();
  expect(written.flat().at(-1)).toBe(first.runtime.state.seq);
  expect(first.runtime.jobs.get("project")).not.toBeNull();

  const second = new Life(first.sql, "life-2");
  const batches = recordBatches(second);
  second.time.advance((first.alarmAt ?? 0) - second.time.now());
  ringAlarm(second.runtime);
  await settle();

  expect(batches).toEqual([]);
  expect(second.runtime.jobs.nextDue()).toBeNull();
});

test("an erased session's waiting events are not written", async () => {
  const life = new Life();
  const batches = recordBatches(life);
  await life.open();
  await append(life, 1);

  await life.service.erase(CALLER);
  life.time.advance(DRAIN_EVERY_MS);
  await settle();

  expect(batches).toEqual([[1]]);
});

test("a log of imported replies is written in batches and drains of a bounded cost, to its end", async () => {
  const life = new Life();
  await life.open();
  life.projection.write = () => Promise.reject(new Error("away"));
  const calls = Array.from({ length: 12 }, (_, n) => ({ call_id: `c${n}`, name: "look", arguments: "{}" }));
  const reply = { role: "assistant", parts: [], calls, run: false, onBusy: "queue", tools: null, idempotency: null } as const;
  for (let left = 90; left > 0; left--) await life.service.submit(CALLER, reply);
  await settle();

  let cost = 0;
  const [batches, seqs]: [number[], number[]] = [[], []];
  life.projection.write = async ({ events }: { readonly events: readonly StoredEvent[] }) => {
    cost += d1CostOfBatch(events);
    batches.push(d1CostOfBatch(events));
    seqs.push(...events.map((event) => event.seq));
  };
  const drains: number[] = [];
  for (let alarm = 0; alarm < 10 && life.runtime.jobs.get("project"); alarm++) {
    life.time.advance(Math.max(0, (life.runtime.jobs.nextDue() ?? 0) - life.time.now()));
    cost = 0;
    ringAlarm(life.runtime);
    await settle();
    // Other work runs between two pages.
    for (let before = -1; before < cost; ) {
      before = cost;
      life.time.advance(0);
      await settle();
    }
    drains.push(cost);
  }

  expect(life.runtime.jobs.get("project")).toBeNull();
  expect(seqs).toEqual(
    life
      .events()
      .map((event) => event.seq)
      .slice(1),
  );
  expect(Math.max(...batches)).toBeLessThanOrEqual(PAGE.statements + BATCH_COST);
  expect(Math.max(...drains)).toBeLessThanOrEqual(DRAIN_BUDGET);
  expect(drains.length).toBeGreaterThan(2);
});

test("a page holds as many bytes as it may, whatever the script", async () => {
  const life = new Life();
  await life.open();
  await append(life, 3);
  const idle = readPage(life.sql, 0, { events: 10, statements: 1_000, bytes: 1_000 });
  const text = (length: number) => "長".repeat(length);
  for (const length of [100, 100, 100])
    await life.service.submit(CALLER, { ...MESSAGE, parts: [{ type: "text", text: text(length) }], run: false });

  const page = readPage(life.sql, idle.events.at(-1)?.seq ?? 0, { events: 10, statements: 1_000, bytes: 700 });

  // Each is 300 bytes and its frame in JSON.
  expect(page.events).toHaveLength(2);
});
