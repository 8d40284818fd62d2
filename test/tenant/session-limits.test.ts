import { describe, expect, it } from "vitest";
import { createDirectory } from "../../src/tenant/shared/directory";
import { makeId } from "../http/support";
import { createMigratedSql } from "./memory-sql";

const LIMIT = { end_user: 2 };
const FULL = { ok: false, error: { code: "session_limit", of: "end_user", limit: 2 } };

function setUp() {
  const sql = createMigratedSql();
  const directory = createDirectory(sql);
  const make = (n: number, end_user: string | null, source: number | null = null) =>
    directory.register({
      session: makeId("ses", n),
      idempotency: null,
      end_user,
      ...(source !== null && { source: makeId("ses", source) }),
      at: 1,
      most: LIMIT,
    });
  const give = (n: number, end_user: string | null) => directory.give({ session: makeId("ses", n), end_user, most: LIMIT });
  return { sql, directory, make, give };
}

describe("the sessions of an end user", () => {
  it("are refused beyond the limit, also as copies, and others are not", () => {
    const { make } = setUp();
    make(1, "ada");
    make(2, "ada");

    expect([make(3, "ada"), make(4, null, 1)]).toEqual([FULL, FULL]);
    expect([make(5, "bob").ok, make(6, null).ok, make(1, "ada").ok]).toEqual([true, true, true]);
  });

  it("count for whom they were last given to, and their copies for whom they did", () => {
    const { directory, make, give } = setUp();
    make(1, "ada");
    make(2, null, 1);
    give(1, "bob");

    expect([directory.countForUser("ada"), directory.countForUser("bob")]).toEqual([1, 1]);
    give(1, null);
    expect(directory.countForUser("bob")).toBe(0);
  });

  it("count where they were restored, are refused beyond the limit, and their objects are still asked whose they are", () => {
    const { sql, directory, make } = setUp();
    const restore = (n: number) =>
      directory.restore({ session: makeId("ses", n), external_id: null, end_user: "ada", created_at: 1, most: LIMIT });
    make(1, "ada");

    expect([restore(2).ok, restore(3), restore(2).ok, make(4, "ada")]).toEqual([true, FULL, true, FULL]);
    expect(directory.countForUser("ada")).toBe(2);
    expect(sql.rows("SELECT labelled FROM sessions WHERE id = ?", makeId("ses", 2))).toEqual([{ labelled: 0 }]);
  });

  it("cannot be given to one who has as many as allowed, unless it is the same", () => {
    const { make, give } = setUp();
    make(1, "ada");
    make(2, "ada");
    make(3, "bob");

    expect(give(3, "ada")).toEqual(FULL);
    expect(give(1, "ada").ok).toBe(true);
    expect(give(99, "ada").ok).toBe(true);
  });
});
