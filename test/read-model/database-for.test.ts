/** Which database a tenant's rows are in, as a build knows it that has not all of the deployment's databases. */
import { expect, test } from "vitest";
import { beginMove, FIRST_PLACEMENT, type Placement } from "../../src/app/placement";
import { databaseFor, findWrittenDatabases, notePlacement, type ReadModelEnv } from "../../src/read-model/database-for";
import { makeId } from "../tenant/support";

const TENANT = makeId("ten", 1);
const OTHER = makeId("ten", 2);
const DB = {} as D1Database;
const IN_SECOND: Placement = { ...FIRST_PLACEMENT, database: "DB_2" };
const moving = beginMove(FIRST_PLACEMENT, "DB_2", 0);
const neverAsked: ReadModelEnv["TENANTS"] = {
  getByName: () => {
    throw new Error("a build with one database asks nothing");
  },
};

test.each<[string, Placement]>([
  ["that is in another database", IN_SECOND],
  ["that moves to another database", moving.ok ? moving.value : FIRST_PLACEMENT],
])("a build with one database writes no row of a tenant %s, however long ago it heard of it", async (_, placement) => {
  let now = 0;
  const env = { DB, TENANTS: neverAsked, now: () => now };
  notePlacement(env, TENANT, { placement, askedAt: 0 });
  now = 7 * 24 * 60 * 60 * 1_000;

  await expect(findWrittenDatabases(env, TENANT)).rejects.toThrow("no database is bound as DB_2");
  expect(await findWrittenDatabases(env, OTHER)).toEqual({ written: [DB], left: [] });

  notePlacement(env, TENANT, { placement: FIRST_PLACEMENT, askedAt: now });
  expect(await databaseFor(env, TENANT)).toBe(DB);
});
