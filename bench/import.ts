/**
 * The import of a long record, message by message and in batches: the cost of each message, and of waking afterwards, by the number of
 * messages. The code of the session's object over Node's SQLite, in this process.
 */
import { batchInput, toWritten } from "../src/http/schemas/message.ts";
import { loadState } from "../src/session/log/snapshots.ts";
import { CALLER, Life } from "../test/session/life.ts";
import { type BenchResult, type Figure, measured, ratio } from "./support/report.ts";
import { timed } from "./support/timed.ts";

const [FEW, MANY] = [5_000, 40_000];
/** The cost of a message in the longer import against the shorter one: linear is 1. */
const GOAL = 1.5;

const MESSAGE = { role: "user", run: false, onBusy: "queue", tools: null, idempotency: null } as const;

/** The messages of one request. */
const BATCH = 1_000;
/** CPU of a message of a batch, in µs: validation of the request included. */
const BATCH_GOAL = 300;

/** CPU of a message of an import in batches, in µs. Each request is parsed and validated as the API does it. */
async function importBatches(messages: number): Promise<number> {
  const life = new Life();
  await life.open("balanced");
  const bodies = Array.from({ length: messages / BATCH }, (_, batch) => JSON.stringify({ items: toItems(batch * BATCH) }));
  const before = process.cpuUsage();
  for (const body of bodies) {
    const { items } = batchInput.parse(JSON.parse(body));
    const done = await life.service.importMessages(CALLER, { messages: items.map((item) => toWritten(item)), idempotency: null });
    if (!done.ok) throw new Error(done.error.code);
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / messages;
}

const toItems = (from: number): object[] =>
  Array.from({ length: BATCH }, (_, n) => ({
    role: n % 2 ? "assistant" : "user",
    content: `message ${from + n} of a long record`,
    created_at: n,
  }));

/** Wall time of a message, in µs. */
async function importInto(life: Life, messages: number): Promise<number> {
  await life.open("balanced");
  const startedAt = performance.now();
  for (let n = 0; n < messages; n++)
    await life.service.submit(CALLER, { ...MESSAGE, parts: [{ type: "text", text: `message ${n} of a long record` }] });
  return ((performance.now() - startedAt) / messages) * 1_000;
}

const countUnits = ({ sql }: Life, table: string, column: string): number =>
  sql.all<{ units: number | null }>(`SELECT sum(length(${column})) AS units FROM ${table}`)[0]?.units ?? 0;

async function benchSize(messages: number): Promise<{ readonly each: Figure; readonly wake: Figure; readonly kept: Figure }> {
  const life = new Life();
  const took = await importInto(life, messages);
  const kept = (countUnits(life, "snapshots", "text") + countUnits(life, "checkpoints", "text")) / countUnits(life, "events", "data");
  return {
    each: measured(`a message of an import of ${messages}`, "µs", [took]),
    wake: timed(`read the state behind ${messages}, nothing compacted`, () => loadState(life.sql), { samples: 5, warmUp: 1 }),
    kept: measured(`states kept of ${messages}, a character of their log`, "", [kept]),
  };
}

export async function benchImport(): Promise<BenchResult> {
  await importInto(new Life(), FEW); // compiled once
  const [few, many] = [await benchSize(FEW), await benchSize(MANY)];
  const inBatches = measured(
    `a message of ${FEW} in batches of ${BATCH}, CPU`,
    "µs",
    [await importBatches(FEW), await importBatches(FEW)],
    BATCH_GOAL,
  );
  return {
    title: "Import of a long record",
    notes: ["Wall time in Node; no turn, nothing compacted: all of it is in the view. Linear is a ratio of 1 for a message."],
    figures: [
      few.each,
      inBatches,
      many.each,
      ratio(`a message of ${MANY} against one of ${FEW}`, [many.each, few.each], GOAL),
      few.wake,
      many.wake,
      ratio(`the state behind ${MANY} against ${FEW}`, [many.wake, few.wake]),
      few.kept,
      many.kept,
    ],
  };
}
