import { describe, expect, it } from "vitest";
import { IDEMPOTENCY_TTL_MS } from "../../src/app/idempotency";
import { SCOPES } from "../../src/domain/scopes";
import { createKeys, type Keys, MAX_ACTIVE_KEYS, MAX_ENDED_KEYS, type NewKey, type Rotation } from "../../src/tenant/keys/keys";
import { createMigratedSql } from "./memory-sql";
import { makeId } from "./support";

const tenant = makeId("ten", 1);

function newKey(changes: Partial<NewKey> = {}): NewKey {
  return {
    id: makeId("key", 1),
    hash: "hash-1",
    name: "ci",
    restriction: null,
    clients: null,
    scopes: ["sessions:read"],
    expires_at: null,
    by: null,
    at: 1_000,
    idempotency: null,
    ...changes,
  };
}

describe("a key", () => {
  it("speaks for its tenant with exactly the scopes that it was given", () => {
    const keys = createKeys(createMigratedSql());
    keys.add(newKey({ scopes: ["keys:write", "sessions:write"] }));
    const principal = keys.authenticate({ hash: "hash-1", tenant, at: 2_000 });
    expect(principal).toEqual({ tenant, key: makeId("key", 1), scopes: ["sessions:write", "keys:write"], expires_at: null });
  });

  it("without scopes is known and may do nothing", () => {
    const keys = createKeys(createMigratedSql());
    keys.add(newKey({ scopes: [] }));
    expect(keys.authenticate({ hash: "hash-1", tenant, at: 2_000 })?.scopes).toEqual([]);
  });

  it("is valid until the millisecond of its expiry", () => {
    const keys = createKeys(createMigratedSql());
    keys.add(newKey({ expires_at: 5_000 }));
    expect(keys.authenticate({ hash: "hash-1", tenant, at: 4_999 })?.expires_at).toBe(5_000);
    expect(keys.authenticate({ hash: "hash-1", tenant, at: 5_000 })).toBeNull();
  });

  it("is refused once revoked, and a second revocation keeps the first one's time", () => {
    const keys = createKeys(createMigratedSql());
    keys.add(newKey());
    keys.revoke(makeId("key", 1), { by: null, at: 3_000 });
    expect(keys.revoke(makeId("key", 1), { by: null, at: 4_000 })).toMatchObject({ ok: true, value: { revoked_at: 3_000 } });
    expect(keys.authenticate({ hash: "hash-1", tenant, at: 5_000 })).toBeNull();
  });

  it("revoking one leaves the others valid", () => {
    const keys = createKeys(createMigratedSql());
    keys.add(newKey());
    keys.add(newKey({ id: makeId("key", 2), hash: "hash-2" }));
    keys.revoke(makeId("key", 1), { by: null, at: 3_000 });
    expect(keys.authenticate({ hash: "hash-2", tenant, at: 5_000 })?.key).toBe(makeId("key", 2));
  });

  it("that does not exist cannot be revoked", () => {
    const keys = createKeys(createMigratedSql());
    expect(keys.revoke(makeId("key", 9), { by: null, at: 1 })).toEqual({
      ok: false,
      error: { code: "key_not_found", key: makeId("key", 9) },
    });
  });

  it("is listed newest first, revoked ones too, and never with its hash", () => {
    const keys = createKeys(createMigratedSql());
    keys.add(newKey());
    keys.add(newKey({ id: makeId("key", 2), hash: "hash-2" }));
    keys.revoke(makeId("key", 1), { by: null, at: 3_000 });
    expect(keys.list().map((key) => [key.id, key.revoked_at])).toEqual([
      [makeId("key", 2), null],
      [makeId("key", 1), 3_000],
    ]);
    expect(JSON.stringify(keys.list())).not.toContain("hash-");
  });
});

describe("the number of keys", () => {
  const add = (keys: Keys, n: number, changes: Partial<NewKey> = {}) =>
    keys.add(newKey({ id: makeId("key", n), hash: `hash-${n}`, ...changes }));
  function full(): Keys {
    const keys = createKeys(createMigratedSql());
    for (let n = 1; n <= MAX_ACTIVE_KEYS; n++) expect(add(keys, n).ok).toBe(true);
    return keys;
  }

  it("is bounded: one more is refused, and not made", () => {
    const keys = full();

    expect(add(keys, 900)).toEqual({ ok: false, error: { code: "key_limit", limit: MAX_ACTIVE_KEYS } });
    expect(keys.list()).toHaveLength(MAX_ACTIVE_KEYS);
    expect(keys.authenticate({ hash: "hash-900", tenant, at: 2_000 })).toBeNull();
  });

  it("counts only those that open something: a revoked or expired one makes room", () => {
    const keys = full();
    keys.revoke(makeId("key", 1), { by: null, at: 2_000 });
    expect(add(keys, 900, { at: 2_000, expires_at: 3_000 }).ok).toBe(true);
    expect(add(keys, 901, { at: 2_999 }).ok).toBe(false);
    expect(add(keys, 901, { at: 3_000 }).ok).toBe(true);
  });

  it("that have ended is bounded too: the oldest are forgotten, and stay closed", () => {
    const keys = createKeys(createMigratedSql());
    for (let n = 1; n <= MAX_ENDED_KEYS + 5; n++) {
      add(keys, n);
      keys.revoke(makeId("key", n), { by: null, at: 2_000 });
    }
    add(keys, 900);

    const listed = keys.list().map((key) => key.id);
    expect(listed).toHaveLength(MAX_ENDED_KEYS + 1);
    expect(listed).not.toContain(makeId("key", 5));
    expect(listed).toContain(makeId("key", 6));
    expect(keys.authenticate({ hash: "hash-1", tenant, at: 3_000 })).toBeNull();
  });
});

describe("a key that makes and revokes others", () => {
  const all = ["sessions:read", "sessions:write", "keys:write"] as const;
  const maker = makeId("key", 1);
  /** A creator that may read, write keys, and expires; and another key that may write sessions. */
  function given() {
    const keys = createKeys(createMigratedSql());
    keys.add(newKey({ scopes: ["sessions:read", "keys:write"], expires_at: 9_000 }));
    keys.add(newKey({ id: makeId("key", 2), hash: "hash-2", scopes: all }));
    return keys;
  }
  const child = (changes: Partial<NewKey> = {}): NewKey =>
    newKey({ id: makeId("key", 3), hash: "hash-3", by: maker, expires_at: 9_000, at: 2_000, ...changes });

  it.each<[string, Partial<NewKey>, string]>([
    ["a scope that it lacks", { scopes: ["sessions:write"] }, "scopes"],
    ["no end", { expires_at: null }, "expires_at"],
    ["a later end", { expires_at: 9_001 }, "expires_at"],
  ])("makes none with %s", (_, changes, field) => {
    const keys = given();
    expect(keys.add(child(changes))).toMatchObject({ ok: false, error: { code: "beyond_own_key", field } });
    expect(keys.list()).toHaveLength(2);
  });

  it("makes one with no more than it has, and who made it is shown", () => {
    const keys = given();
    expect(keys.add(child())).toMatchObject({ ok: true, value: { created_by: maker } });
    expect(keys.list().map((key) => key.created_by)).toEqual([maker, null, null]);
  });

  it("revokes none with a scope that it lacks", () => {
    const keys = given();
    expect(keys.revoke(makeId("key", 2), { by: maker, at: 2_000 })).toMatchObject({ error: { code: "beyond_own_key", field: "key_id" } });
    expect(keys.authenticate({ hash: "hash-2", tenant, at: 3_000 })).not.toBeNull();
  });

  it("revokes what it made, and itself, and who did it is shown", () => {
    const keys = given();
    keys.add(child());
    expect(keys.revoke(makeId("key", 3), { by: maker, at: 2_000 })).toMatchObject({ value: { revoked_by: maker } });
    expect(keys.revoke(maker, { by: maker, at: 2_000 })).toMatchObject({ value: { revoked_by: maker, revoked_at: 2_000 } });
  });

  it("does neither once it has ended, whatever an isolate remembers of it", () => {
    const keys = given();
    expect(keys.add(child({ at: 9_000 }))).toMatchObject({ error: { code: "own_key_ended" } });
    keys.revoke(maker, { by: null, at: 3_000 });
    expect(keys.add(child({ at: 3_001 }))).toMatchObject({ error: { code: "own_key_ended" } });
    expect(keys.revoke(makeId("key", 2), { by: maker, at: 3_001 })).toMatchObject({ error: { code: "own_key_ended" } });
  });
});

describe("a key made with an idempotency key", () => {
  const first = newKey({ idempotency: { key: "k", digest: "d" } });
  const again = { ...first, id: makeId("key", 2), hash: "hash-2", at: 2_000 };

  it("is created once: a repeated request returns the first key, and its own secret is not valid", () => {
    const keys = createKeys(createMigratedSql());
    keys.add(first);

    expect(keys.add(again)).toMatchObject({ ok: true, value: { id: first.id, created_at: 1_000 } });
    expect(keys.list()).toHaveLength(1);
    expect(keys.authenticate({ hash: "hash-2", tenant, at: 3_000 })).toBeNull();
    expect(keys.authenticate({ hash: "hash-1", tenant, at: 3_000 })).not.toBeNull();
  });

  it("is shown as it is now, also where the tenant has as many as it can have", () => {
    const keys = createKeys(createMigratedSql());
    keys.add(first);
    keys.revoke(first.id, { by: null, at: 1_500 });
    for (let n = 10; n < 10 + MAX_ACTIVE_KEYS; n++) keys.add(newKey({ id: makeId("key", n), hash: `hash-${n}` }));

    expect(keys.add(again)).toMatchObject({ value: { id: first.id, revoked_at: 1_500 } });
  });

  it("is another request's under another body, and free again after a day", () => {
    const keys = createKeys(createMigratedSql());
    keys.add(first);

    expect(keys.add({ ...again, idempotency: { key: "k", digest: "other" } })).toMatchObject({ error: { code: "idempotency_conflict" } });
    expect(keys.add({ ...again, at: 1_000 + IDEMPOTENCY_TTL_MS })).toMatchObject({ value: { id: again.id } });
  });
});

describe("a key that is rotated", () => {
  const HOUR = 3_600_000;
  const ADMIN = makeId("key", 1);
  /** A key that may do all of this, and one without an end that may read and write keys. */
  function given(changes: Partial<NewKey> = {}) {
    const keys = createKeys(createMigratedSql());
    keys.add(newKey({ scopes: SCOPES }));
    keys.add(newKey({ id: makeId("key", 2), hash: "hash-2", name: "backend", scopes: ["sessions:read", "keys:write"], ...changes }));
    return keys;
  }
  const rotation = (changes: Partial<Rotation> = {}): Rotation => ({
    from: makeId("key", 2),
    id: makeId("key", 3),
    hash: "hash-3",
    overlap_ms: HOUR,
    by: ADMIN,
    at: 2_000,
    idempotency: null,
    ...changes,
  });
  const opens = (keys: Keys, hash: string, at: number) => keys.authenticate({ hash, tenant, at }) !== null;

  it("has a successor with its name, scopes and expiry; both are valid until the overlap ends", () => {
    const keys = given({ expires_at: 9 * HOUR });

    expect(keys.rotate(rotation())).toMatchObject({
      ok: true,
      value: { id: makeId("key", 3), name: "backend", scopes: ["sessions:read", "keys:write"], expires_at: 9 * HOUR, created_by: ADMIN },
    });
    expect([opens(keys, "hash-2", 2_000 + HOUR - 1), opens(keys, "hash-2", 2_000 + HOUR)]).toEqual([true, false]);
    expect([opens(keys, "hash-3", 2_000), opens(keys, "hash-3", 9 * HOUR)]).toEqual([true, false]);
  });

  it("and its successor name each other", () => {
    const keys = given();
    keys.rotate(rotation());

    expect(keys.list().map(({ id, rotated_from, rotated_to }) => [id, rotated_from, rotated_to])).toEqual([
      [makeId("key", 3), makeId("key", 2), null],
      [makeId("key", 2), null, makeId("key", 3)],
      [makeId("key", 1), null, null],
    ]);
  });

  it("ends no later than it would have without, and at once without an overlap", () => {
    const soon = given({ expires_at: 3_000 });
    soon.rotate(rotation());
    expect(soon.list().map(({ expires_at }) => expires_at)).toEqual([3_000, 3_000, null]);

    const keys = given();
    keys.rotate(rotation({ overlap_ms: 0 }));
    expect(opens(keys, "hash-2", 2_000)).toBe(false);
  });

  it("may be rotated by itself, whatever it may do", () => {
    const keys = given();

    expect(keys.rotate(rotation({ by: makeId("key", 2) }))).toMatchObject({ ok: true, value: { created_by: makeId("key", 2) } });
  });

  it.each<[string, Partial<NewKey>]>([
    ["with a scope that the calling key lacks", { scopes: ["sessions:read", "keys:write"] }],
    ["with a later end", { scopes: SCOPES, expires_at: HOUR }],
  ])("%s is not rotated by it", (_, changes) => {
    const keys = given(changes);

    const refused = keys.rotate(rotation({ from: ADMIN, by: makeId("key", 2) }));

    expect(refused).toMatchObject({ ok: false, error: { code: "beyond_own_key", field: "key_id" } });
    expect(keys.list()).toHaveLength(2);
    expect(opens(keys, "hash-1", 2 * HOUR)).toBe(true);
  });

  it("once is not rotated again: its successor is", () => {
    const keys = given();
    keys.rotate(rotation());

    expect(keys.rotate(rotation({ id: makeId("key", 4), hash: "hash-4" }))).toEqual({
      ok: false,
      error: { code: "key_ended", became: "rotated", rotated_to: makeId("key", 3) },
    });
    expect(keys.rotate(rotation({ from: makeId("key", 3), id: makeId("key", 4), hash: "hash-4" })).ok).toBe(true);
  });

  it("after its end is refused, and so is an unknown one", () => {
    const keys = given({ expires_at: 1_500 });
    expect(keys.rotate(rotation())).toMatchObject({ error: { code: "key_ended", became: "expired" } });
    const revoked = given();
    revoked.revoke(makeId("key", 2), { by: null, at: 1_500 });
    expect(revoked.rotate(rotation())).toMatchObject({ error: { code: "key_ended", became: "revoked" } });
    expect(keys.rotate(rotation({ from: makeId("key", 9) }))).toMatchObject({ error: { code: "key_not_found" } });
    expect(keys.rotate(rotation({ by: makeId("key", 2) }))).toMatchObject({ error: { code: "own_key_ended" } });
  });

  it("counts with its successor among the valid keys of its tenant", () => {
    const keys = given();
    for (let n = 10; n < 8 + MAX_ACTIVE_KEYS; n++) keys.add(newKey({ id: makeId("key", n), hash: `hash-${n}` }));

    expect(keys.rotate(rotation())).toEqual({ ok: false, error: { code: "key_limit", limit: MAX_ACTIVE_KEYS } });
    expect(opens(keys, "hash-2", 2 * HOUR)).toBe(true);
  });

  it("with an idempotency key is rotated once: a repeated request returns the successor, as it is now", () => {
    const keys = given();
    const idempotency = { key: "k", digest: "d" };
    keys.rotate(rotation({ idempotency }));

    const again = rotation({ idempotency, id: makeId("key", 4), hash: "hash-4", at: 3_000 });
    expect(keys.rotate(again)).toMatchObject({ ok: true, value: { id: makeId("key", 3), rotated_from: makeId("key", 2) } });
    expect(keys.list()).toHaveLength(3);
    expect([opens(keys, "hash-4", 4_000), opens(keys, "hash-2", 2_000 + HOUR)]).toEqual([false, false]);
    expect(keys.rotate({ ...again, idempotency: { key: "k", digest: "other" } })).toMatchObject({
      error: { code: "idempotency_conflict" },
    });
  });
});

describe("a key that is stored under another pepper's hash", () => {
  it("is found by it, and from then on stored under the present one", () => {
    const keys = createKeys(createMigratedSql());
    keys.add(newKey({ hash: "old" }));
    const ask = (hash: string, beside: string | null) => keys.authenticate({ hash, beside, tenant, at: 2_000 })?.key ?? null;

    expect([ask("new", null), ask("new", "other")]).toEqual([null, null]);
    expect(ask("new", "old")).toBe(makeId("key", 1));
    expect([ask("new", null), ask("old", null)]).toEqual([makeId("key", 1), null]);
    // An isolate that has not heard of the rotation finds it all the same, as long as it accepts both.
    expect(ask("old", "new")).toBe(makeId("key", 1));
  });

  it("opens nothing once it has ended, and is not stored anew", () => {
    const sql = createMigratedSql();
    const keys = createKeys(sql);
    keys.add(newKey({ hash: "old", expires_at: 2_000 }));

    expect(keys.authenticate({ hash: "new", beside: "old", tenant, at: 2_000 })).toBeNull();
    expect(sql.rows("SELECT hash FROM keys")).toEqual([{ hash: "old" }]);
  });
});

describe("the last use of a key", () => {
  const uses = (keys: Keys) => keys.list().map(({ last_used_at }) => last_used_at);

  it("is recorded once a minute, and for that key alone", () => {
    const keys = createKeys(createMigratedSql());
    keys.add(newKey());
    keys.add(newKey({ id: makeId("key", 2), hash: "hash-2" }));
    expect(uses(keys)).toEqual([null, null]);

    const recorded = [5_000, 64_999, 65_000, 70_000, 300_000].map((at) => {
      keys.noteUse(makeId("key", 1), at);
      return uses(keys);
    });

    expect(recorded).toEqual([
      [null, 5_000],
      [null, 5_000],
      [null, 65_000],
      [null, 65_000],
      [null, 300_000],
    ]);
  });

  it("is not that of its predecessor", () => {
    const keys = createKeys(createMigratedSql());
    keys.add(newKey());
    keys.noteUse(makeId("key", 1), 5_000);
    const from = makeId("key", 1);
    keys.rotate({ from, by: from, id: makeId("key", 2), hash: "hash-2", overlap_ms: 0, at: 6_000, idempotency: null });

    expect(uses(keys)).toEqual([null, 5_000]);
  });
});
