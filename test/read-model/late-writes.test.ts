/** What a write does that hangs until its database was emptied of the tenant by a move (docs/databases.md). */
import { describe, expect, it } from "vitest";
import { ProjectionGapError } from "../../src/app/projection/projection-gap";
import { createMoveDatabase } from "../../src/read-model/move-database";
import { createProjection } from "../../src/read-model/writer";
import { SimD1 } from "../simulation/sim-d1";
import { LogBuilder, makeId, modelCall, TENANT } from "./builders";
import { readRows } from "./rows";

const session = makeId("ses", 1);

/** A session whose rows a move has removed, and what its writer had under way. */
async function setUp() {
  const db = new SimD1().direct;
  const log = new LogBuilder(session, TENANT).open();
  const first = log.batch();
  log.event(modelCall({ model: "m", cost: 1 }));
  const later = log.batch((first.events.at(-1)?.seq ?? 0) + 1);
  await createProjection(db).write(log.batch());
  const { clearTenant } = createMoveDatabase(db);
  const empty = async () => {
    while (!(await clearTenant(TENANT)));
  };
  await empty();
  const count = async () =>
    Object.values(await readRows(db, { tenant: TENANT, session })).reduce((sum, rows) => sum + Object.keys(rows).length, 0);
  return { db, first, later, empty, count };
}

describe("a write that comes after its database was emptied", () => {
  it("leaves nothing where it goes on from rows that are gone", async () => {
    const { db, later, count } = await setUp();

    await expect(createProjection(db).write(later)).rejects.toThrow(ProjectionGapError);
    expect(await count()).toBe(0);
  });

  it("leaves rows where it is the first of its session, and the next move there removes them", async () => {
    const { db, first, empty, count } = await setUp();

    await createProjection(db).write(first);
    expect(await count()).toBeGreaterThan(0);
    await empty();
    expect(await count()).toBe(0);
  });
});

it("a mover's step that takes too long sends nothing more: its move may have ended, and the tenant be back", async () => {
  const { db, first, count } = await setUp();
  await createProjection(db).write(first);
  const time = { now: 0 };
  const begun = createMoveDatabase(db, { now: () => time.now });
  time.now = 30_001;

  await expect(begun.clearTenant(TENANT)).rejects.toThrow("took too long");
  await expect(begun.rows.live.write(first)).rejects.toThrow("took too long");
  expect(await count()).toBeGreaterThan(0);
});
