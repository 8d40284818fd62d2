import { describe, expect, it } from "vitest";
import { IDEMPOTENCY_TTL_MS } from "../../src/app/idempotency";
import { hideKey } from "../../src/tenant/shared/digests";
import { createDirectory } from "../../src/tenant/shared/directory";
import { createMigratedSql } from "./memory-sql";
import { makeId } from "./support";

const first = { session: makeId("ses", 1), idempotency: { key: "k", digest: "d" }, at: 1_000 };

function ids(page: { readonly data: readonly { readonly id: string }[] }): readonly string[] {
  return page.data.map((session) => session.id);
}

describe("registering with an idempotency key", () => {
  it("the same request again gets the first session and makes no other", () => {
    const directory = createDirectory(createMigratedSql());
    directory.register(first);
    const again = directory.register({ ...first, session: makeId("ses", 2), at: 2_000 });
    expect(again).toEqual({ ok: true, value: { session: makeId("ses", 1), replayed: true } });
    expect(ids(directory.list({ after: null, limit: 10 }))).toEqual([makeId("ses", 1)]);
  });

  it("another request under the same key is a conflict and makes nothing", () => {
    const directory = createDirectory(createMigratedSql());
    directory.register(first);
    const other = directory.register({ session: makeId("ses", 2), idempotency: { key: "k", digest: "other" }, at: 2_000 });
    expect(other).toEqual({ ok: false, error: { code: "idempotency_conflict" } });
    expect(ids(directory.list({ after: null, limit: 10 }))).toEqual([makeId("ses", 1)]);
  });

  it("the key is free again after a day, also for another request", () => {
    const directory = createDirectory(createMigratedSql());
    directory.register(first);
    const request = { session: makeId("ses", 2), idempotency: { key: "k", digest: "other" } };
    expect(directory.register({ ...request, at: 1_000 + IDEMPOTENCY_TTL_MS - 1 }).ok).toBe(false);
    expect(directory.register({ ...request, at: 1_000 + IDEMPOTENCY_TTL_MS })).toMatchObject({ value: { replayed: false } });
    expect(directory.register({ ...request, at: 1_001 + IDEMPOTENCY_TTL_MS })).toMatchObject({ value: { replayed: true } });
  });

  it("a late repetition does not bring back a session that was forgotten", () => {
    const directory = createDirectory(createMigratedSql());
    directory.register(first);
    directory.forget(first.session);
    const again = directory.register({ ...first, session: makeId("ses", 2), at: 2_000 });
    expect(again).toEqual({ ok: true, value: { session: makeId("ses", 1), replayed: true } });
    expect(ids(directory.list({ after: null, limit: 10 }))).toEqual([]);
  });

  it("expired keys go, without anyone asking for them", () => {
    const sql = createMigratedSql();
    const directory = createDirectory(sql);
    for (let n = 1; n <= 120; n++) directory.register({ session: makeId("ses", n), idempotency: { key: `k${n}`, digest: "d" }, at: 1_000 });
    for (let n = 121; n <= 123; n++)
      directory.register({ session: makeId("ses", n), idempotency: { key: `k${n}`, digest: "d" }, at: 1_000 + IDEMPOTENCY_TTL_MS });
    expect(sql.rows("SELECT key FROM idempotency ORDER BY key").map((row) => row.key)).toEqual(
      ["k121", "k122", "k123"].map(hideKey).toSorted(),
    );
  });
});

describe("the directory", () => {
  it("notes a session without a key once, however often it is registered", () => {
    const directory = createDirectory(createMigratedSql());
    directory.register({ session: makeId("ses", 1), idempotency: null, at: 1_000 });
    directory.register({ session: makeId("ses", 1), idempotency: null, at: 2_000 });
    expect(directory.list({ after: null, limit: 10 }).data).toEqual([{ id: makeId("ses", 1), created_at: 1_000 }]);
  });

  it("lists newest first, page by page, without gap or repetition", () => {
    const directory = createDirectory(createMigratedSql());
    for (const n of [3, 1, 5, 2, 4]) directory.register({ session: makeId("ses", n), idempotency: null, at: n });
    const one = directory.list({ after: null, limit: 2 });
    const two = directory.list({ after: makeId("ses", 4), limit: 2 });
    const three = directory.list({ after: makeId("ses", 2), limit: 2 });
    expect([one, two, three].map(ids)).toEqual([
      [makeId("ses", 5), makeId("ses", 4)],
      [makeId("ses", 3), makeId("ses", 2)],
      [makeId("ses", 1)],
    ]);
    expect([one, two, three].map((page) => page.has_more)).toEqual([true, true, false]);
  });

  it("a full last page has no more", () => {
    const directory = createDirectory(createMigratedSql());
    for (const n of [1, 2]) directory.register({ session: makeId("ses", n), idempotency: null, at: n });
    expect(directory.list({ after: null, limit: 2 }).has_more).toBe(false);
  });

  it("a page after a session that is gone goes on where it stood", () => {
    const directory = createDirectory(createMigratedSql());
    for (const n of [1, 2, 3]) directory.register({ session: makeId("ses", n), idempotency: null, at: n });
    directory.forget(makeId("ses", 2));
    expect(ids(directory.list({ after: makeId("ses", 2), limit: 2 }))).toEqual([makeId("ses", 1)]);
  });
});

describe("an external id", () => {
  const named = { session: makeId("ses", 1), idempotency: null, external_id: "订单 1", at: 1 };
  const other = { ...named, session: makeId("ses", 2), at: 2 };

  it("names one session, and a second one with it is refused by the first one's id", () => {
    const directory = createDirectory(createMigratedSql());
    directory.register(named);

    expect(directory.findExternalId("订单 1")).toBe(named.session);
    expect(directory.register(other)).toEqual({ ok: false, error: { code: "external_id_taken", session: named.session } });
    expect(ids(directory.list({ after: null, limit: 10 }))).toEqual([named.session]);
  });

  it("is one id in exactly this spelling", () => {
    const directory = createDirectory(createMigratedSql());
    for (const [n, external_id] of ["A", "a", "a ", "ａ"].entries()) {
      expect(directory.register({ ...named, session: makeId("ses", n + 1), external_id }).ok).toBe(true);
    }
    expect(directory.findExternalId("á")).toBeNull();
  });

  it("refused under an idempotency key stores no key: the same request may come again once the id is free", () => {
    const directory = createDirectory(createMigratedSql());
    directory.register(named);
    const keyed = { ...other, idempotency: { key: "k", digest: "d" } };

    expect(directory.register(keyed).ok).toBe(false);
    directory.forget(named.session);
    expect(directory.register(keyed)).toEqual({ ok: true, value: { session: other.session, replayed: false } });
  });

  it("registered again by the same request, whose answer was lost, is that request's", () => {
    const directory = createDirectory(createMigratedSql());
    directory.register(named);
    expect(directory.register(named)).toEqual({ ok: true, value: { session: named.session, replayed: false } });
    directory.forget(named.session);
    expect(directory.findExternalId("订单 1")).toBeNull();
  });

  it("that two requests are opening stays when one of them is refused, and is free when both are", () => {
    const directory = createDirectory(createMigratedSql());
    directory.register(named);
    expect(directory.register({ ...other, adopt: true })).toEqual({ ok: true, value: { session: named.session, replayed: false } });

    directory.forget(named.session);
    expect(directory.findExternalId("订单 1")).toBe(named.session);
    directory.forget(named.session);
    expect(directory.findExternalId("订单 1")).toBeNull();
  });

  it("adopted under an idempotency key is what that key made", () => {
    const directory = createDirectory(createMigratedSql());
    directory.register(named);
    const keyed = { ...other, idempotency: { key: "k", digest: "d" } };
    directory.register({ ...keyed, adopt: true });

    expect(directory.register(keyed)).toEqual({ ok: true, value: { session: named.session, replayed: true } });
  });
});
