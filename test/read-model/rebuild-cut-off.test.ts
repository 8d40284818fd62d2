/** A rebuild whose worker dies leaves rows for the comparison. After a redaction they contain nothing of the message. */
import { expect, test } from "vitest";
import { rebuildStep } from "../../src/app/projection/rebuild";
import type { RebuildPorts } from "../../src/app/projection/rebuild-ports";
import { ok } from "../../src/lib/result";
import { createRebuildRows } from "../../src/read-model/rebuild";
import { createProjection } from "../../src/read-model/writer";
import { SimD1 } from "../simulation/sim-d1";
import { LogBuilder, makeId, SESSION, TENANT } from "./builders";
import { rebuildSession } from "./rows";

const AT = { tenant: TENANT, session: SESSION } as const;
const PAGE = 3;

/** Enough statements to write a page of rows, and not to compare it. */
const CUT_OFF = 8;

function toPorts(db: D1Database, log: LogBuilder): RebuildPorts {
  const readLog: RebuildPorts["readLog"] = async (after) => {
    const { events, bodies } = log.batch(after + 1, after + PAGE);
    return ok({ events, bodies: [...bodies].map(([id, text]) => ({ id, text })), has_more: after + PAGE < log.events.length });
  };
  return { readLog, rows: createRebuildRows(db), now: () => 999 };
}

test("what a rebuild that was cut off has left goes with a redaction, and the next one finds no difference", async () => {
  const db = new SimD1().direct;
  const log = new LogBuilder().open().says("user", "a secret").says("assistant", "noted");
  const projection = createProjection(db);
  await projection.write(log.batch());
  const found = () => db.prepare("SELECT count(*) AS n FROM messages WHERE content LIKE '%secret%'").first<number>("n");
  await rebuildStep({ ...toPorts(db, log), budget: CUT_OFF }, AT, null);
  expect(await found()).toBe(2);

  const written = log.batch(1, PAGE);
  const before = { ...written, bodies: new Map(written.bodies) };
  log.event({ type: "MessageRedacted", item: makeId("msg", 1), position: 1, texts: [], tokens: 0 });
  // A session deletes the body in the same transaction.
  log.bodies.delete(makeId("msg", 1));
  await projection.write(log.batch(log.events.length));

  expect(await found()).toBe(0);
  // A rebuild that read the log before the redaction writes after it.
  await expect(toPorts(db, log).rows.scratch.write(before)).rejects.toThrow("another writer");
  expect(await found()).toBe(0);
  expect(await rebuildSession(toPorts(db, log), AT)).toMatchObject({ ok: true, value: { differences: [], repaired: true } });
});

test("a rebuild whose rows another one clears takes nothing away from those that are shown", async () => {
  const db = new SimD1().direct;
  const log = new LogBuilder().open().says("user", "one").says("assistant", "two");
  await createProjection(db).write(log.batch());
  const ports = toPorts(db, log);
  const { rows } = ports;
  let clears = 2;
  const write: typeof rows.scratch.write = async (batch) => {
    await rows.scratch.write(batch);
    if (clears-- > 0) await rows.clearScratch(AT);
  };

  const rebuilt = await rebuildSession({ ...ports, rows: { ...rows, scratch: { ...rows.scratch, write } } }, AT);

  expect(rebuilt).toMatchObject({ ok: true, value: { differences: [], repaired: true } });
  expect(await db.prepare("SELECT count(*) AS n FROM messages").first<number>("n")).toBe(2);
});

test("rows that a session writes for the first time meanwhile are no difference", async () => {
  const db = new SimD1().direct;
  const log = new LogBuilder().open().says("user", "one").says("assistant", "two");
  const ports = toPorts(db, log);
  const { rows } = ports;
  let isFirst = true;
  const write: typeof rows.scratch.write = async (batch) => {
    await rows.scratch.write(batch);
    // The scratch rows are at the log's end. A late write brings the first event alone.
    if (isFirst && log.events.length <= (batch.events.at(-1)?.seq ?? 0)) await createProjection(db).write(log.batch(1, 1));
    isFirst = !(await rows.stand(AT)).live;
  };

  const rebuilt = await rebuildSession({ ...ports, rows: { ...rows, scratch: { ...rows.scratch, write } } }, AT);

  expect(rebuilt).toMatchObject({ ok: true, value: { differences: [], repaired: true } });
});
