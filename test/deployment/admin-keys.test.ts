import { describe, expect, it } from "vitest";
import type { AdminKeyOutcome, NewAdminKey } from "../../src/app/deployment-api";
import { IDEMPOTENCY_TTL_MS } from "../../src/app/idempotency";
import { MAX_ACTIVE_ADMIN_KEYS, MAX_ENDED_ADMIN_KEYS, USE_PRECISION_MS } from "../../src/deployment/admin-keys";
import type { AdminKeyId } from "../../src/domain/ids";
import { makeId } from "../tenant/support";
import { openForTest } from "./support";

const NOW = 1_000_000;
const HOUR = 3_600_000;
const id = (n: number) => makeId("adm", n);

const newKey = (n: number, changes: Partial<NewAdminKey> = {}): NewAdminKey => ({
  id: id(n),
  hash: `hash-${n}`,
  name: `key ${n}`,
  role: "own",
  expires_at: null,
  by: null,
  idempotency: null,
  ...changes,
});

/** `revoke` is asked by a deployment with ADMIN_KEY, or without. */
function givenKeys({ hasAdminKey = false }: { readonly hasAdminKey?: boolean } = {}) {
  const { adminKeys } = openForTest();
  const revoke = (id: AdminKeyId, by: AdminKeyId | null, at: number) => adminKeys.revoke({ id, by, hasAdminKey }, at);
  return { ...adminKeys, revoke };
}

const only = (hash: string) => ({ hash, beside: null });

const toCode = (outcome: AdminKeyOutcome): string => (outcome.ok ? "ok" : outcome.error.code);

describe("an admin key", () => {
  it("shows who made it, and when it ends, and holds what its hash opens", () => {
    const keys = givenKeys();
    keys.add(newKey(1), NOW);

    const added = keys.add(newKey(2, { role: "operate", by: id(1), expires_at: NOW + HOUR }), NOW);

    expect(added).toEqual({
      ok: true,
      value: {
        id: id(2),
        name: "key 2",
        role: "operate",
        created_at: NOW,
        expires_at: NOW + HOUR,
        revoked_at: null,
        created_by: id(1),
        revoked_by: null,
        rotated_from: null,
        rotated_to: null,
        last_used_at: null,
      },
    });
    expect(keys.authenticate(only("hash-2"), NOW)).toEqual({ key: id(2), role: "operate", expires_at: NOW + HOUR });
    expect(keys.list().map((key) => key.id)).toEqual([id(2), id(1)]);
  });

  it.each([
    ["has expired", HOUR, null],
    ["was revoked", 0, id(2)],
  ])("that %s opens nothing", (_, later, revoked) => {
    const keys = givenKeys();
    keys.add(newKey(1), NOW);
    keys.add(newKey(2, { expires_at: NOW + HOUR }), NOW);
    if (revoked) keys.revoke(revoked, id(1), NOW);

    expect(keys.authenticate(only("hash-2"), NOW + later)).toBeNull();
    expect(keys.authenticate(only("hash-1"), NOW + later)).not.toBeNull();
    expect(keys.authenticate(only("hash-3"), NOW + later)).toBeNull();
  });

  it("keeps the first time of its revocation", () => {
    const keys = givenKeys();
    keys.add(newKey(1), NOW);
    keys.add(newKey(2), NOW);
    keys.revoke(id(2), id(1), NOW + 1);

    expect(keys.revoke(id(2), null, NOW + 2)).toMatchObject({ value: { revoked_at: NOW + 1, revoked_by: id(1) } });
  });

  it("is made once for each idempotency key, for a day", () => {
    const keys = givenKeys();
    const idempotency = { key: "k", digest: "d" };
    keys.add(newKey(1, { idempotency }), NOW);

    expect(keys.add(newKey(2, { idempotency }), NOW + 1)).toMatchObject({ value: { id: id(1) } });
    expect(toCode(keys.add(newKey(3, { idempotency: { ...idempotency, digest: "other" } }), NOW + 1))).toBe("idempotency_conflict");
    expect(keys.add(newKey(4, { idempotency }), NOW + IDEMPOTENCY_TTL_MS)).toMatchObject({ value: { id: id(4) } });
    expect(keys.add(newKey(5, { idempotency }), NOW + IDEMPOTENCY_TTL_MS + 1)).toMatchObject({ value: { id: id(4) } });
  });

  it("is noted as used once a minute", () => {
    const keys = givenKeys();
    keys.add(newKey(1), NOW);
    const read = () => keys.list()[0]?.last_used_at;

    keys.noteUse(id(1), NOW);
    keys.noteUse(id(1), NOW + USE_PRECISION_MS - 1);
    expect(read()).toBe(NOW);
    keys.noteUse(id(1), NOW + USE_PRECISION_MS);
    expect(read()).toBe(NOW + USE_PRECISION_MS);
  });

  it("is refused beyond the bound of valid ones, and the oldest that ended are forgotten", () => {
    const keys = givenKeys({ hasAdminKey: true });
    for (let n = 1; n <= MAX_ACTIVE_ADMIN_KEYS; n++) keys.add(newKey(n), NOW);
    expect(toCode(keys.add(newKey(500), NOW))).toBe("key_limit");
    expect(toCode(keys.rotate({ old: id(1), next: { id: id(500), hash: "h" }, overlap: 0, by: null, idempotency: null }, NOW))).toBe(
      "key_limit",
    );
    expect(keys.list().find((key) => key.id === id(1))).toMatchObject({ expires_at: null, rotated_to: null });

    for (let n = 1_000; n < 1_000 + MAX_ENDED_ADMIN_KEYS + 5; n++) {
      keys.revoke(id(n === 1_000 ? 2 : n - 1), null, NOW);
      keys.add(newKey(n), NOW);
    }

    const ended = keys.list().filter((key) => key.revoked_at !== null);
    expect(ended).toHaveLength(MAX_ENDED_ADMIN_KEYS);
    expect(ended.some((key) => key.id === id(2))).toBe(false);
  });
});

describe("no key makes or revokes what exceeds it", () => {
  function givenTemporaryOwner() {
    const keys = givenKeys();
    keys.add(newKey(1), NOW);
    keys.add(newKey(2, { expires_at: NOW + HOUR }), NOW);
    return keys;
  }

  it.each([
    ["for ever", null, "beyond_own_key"],
    ["a moment longer", NOW + HOUR + 1, "beyond_own_key"],
    ["as long", NOW + HOUR, "ok"],
  ])("an owner with an end makes a key that is valid %s: %s %s", (_, expires_at, code) => {
    expect(toCode(givenTemporaryOwner().add(newKey(3, { by: id(2), expires_at }), NOW))).toBe(code);
  });

  it("an owner with an end revokes and rotates itself, and none that outlives it", () => {
    const keys = givenTemporaryOwner();
    const rotation = { next: { id: id(4), hash: "hash-4" }, overlap: 0, by: id(2), idempotency: null };

    expect(toCode(keys.revoke(id(1), id(2), NOW))).toBe("beyond_own_key");
    expect(toCode(keys.rotate({ ...rotation, old: id(1) }, NOW))).toBe("beyond_own_key");
    expect(toCode(keys.rotate({ ...rotation, old: id(2), overlap: HOUR }, NOW))).toBe("ok");
    expect(toCode(keys.revoke(id(2), id(2), NOW))).toBe("ok");
  });

  it("a key that has ended since it was looked up makes and revokes nothing", () => {
    const keys = givenTemporaryOwner();

    expect(toCode(keys.add(newKey(3, { by: id(2), expires_at: NOW + 2 * HOUR }), NOW + HOUR))).toBe("own_key_ended");
    expect(toCode(keys.revoke(id(1), id(2), NOW + HOUR))).toBe("own_key_ended");
    expect(toCode(keys.revoke(id(1), id(9), NOW))).toBe("own_key_ended");
  });
});

describe("without ADMIN_KEY", () => {
  it("the last owner is not revoked, and neither is the one that lasts longest", () => {
    const keys = givenKeys();
    keys.add(newKey(1), NOW);
    keys.add(newKey(2, { expires_at: NOW + HOUR }), NOW);
    keys.add(newKey(3, { role: "operate" }), NOW);

    expect(toCode(keys.revoke(id(1), id(1), NOW))).toBe("last_owner");
    expect(keys.authenticate(only("hash-1"), NOW)).not.toBeNull();
    expect(toCode(keys.revoke(id(2), id(1), NOW))).toBe("ok");
    expect(toCode(keys.revoke(id(3), id(1), NOW))).toBe("ok");
  });

  it("one of two owners that last alike is revoked", () => {
    const keys = givenKeys();
    keys.add(newKey(1), NOW);
    keys.add(newKey(2), NOW);

    expect(toCode(keys.revoke(id(1), id(1), NOW))).toBe("ok");
    expect(toCode(keys.revoke(id(2), id(2), NOW))).toBe("last_owner");
    expect(toCode(keys.revoke(id(1), id(2), NOW))).toBe("ok");
  });

  it("any owner is revoked where ADMIN_KEY is set", () => {
    const keys = givenKeys({ hasAdminKey: true });
    keys.add(newKey(1), NOW);

    expect(toCode(keys.revoke(id(1), id(1), NOW))).toBe("ok");
  });

  it("a rotation leaves an owner that lasts as long", () => {
    const keys = givenKeys();
    keys.add(newKey(1), NOW);

    keys.rotate({ old: id(1), next: { id: id(2), hash: "hash-2" }, overlap: 0, by: id(1), idempotency: null }, NOW);

    expect(keys.authenticate(only("hash-1"), NOW)).toBeNull();
    expect(keys.authenticate(only("hash-2"), NOW)).toMatchObject({ role: "own", expires_at: null });
    expect(toCode(keys.revoke(id(2), id(2), NOW))).toBe("last_owner");
  });
});

describe("a rotation", () => {
  const rotation = { old: id(1), next: { id: id(2), hash: "hash-2" }, overlap: HOUR, by: null, idempotency: { key: "k", digest: "d" } };

  function givenRotated(expires_at: number | null = null) {
    const keys = givenKeys();
    keys.add(newKey(1, { role: "operate", expires_at }), NOW);
    return { keys, rotated: keys.rotate(rotation, NOW) };
  }

  it("makes a key of the same name, role and expiry, and both show each other", () => {
    const { keys, rotated } = givenRotated(NOW + 5 * HOUR);

    expect(rotated).toMatchObject({
      value: { id: id(2), name: "key 1", role: "operate", expires_at: NOW + 5 * HOUR, rotated_from: id(1), rotated_to: null },
    });
    expect(keys.find(id(1))).toMatchObject({ value: { expires_at: NOW + HOUR, rotated_to: id(2) } });
  });

  it("lets both keys in for the overlap, and then the new one alone", () => {
    const { keys } = givenRotated();
    const opened = (at: number) => ["hash-1", "hash-2"].map((hash) => keys.authenticate(only(hash), at) !== null);

    expect([opened(NOW), opened(NOW + HOUR - 1), opened(NOW + HOUR)]).toEqual([
      [true, true],
      [true, true],
      [false, true],
    ]);
  });

  it("opens under the other pepper of a rotation until it was used, and then under the new one", () => {
    const { keys } = givenRotated();

    expect(keys.authenticate({ hash: "new hash", beside: "hash-2" }, NOW)).toMatchObject({ key: id(2) });
    expect([keys.authenticate(only("hash-2"), NOW), keys.authenticate(only("new hash"), NOW)]).toMatchObject([null, { key: id(2) }]);
  });

  it("never makes the old key last longer than it would have", () => {
    const { keys } = givenRotated(NOW + 5);

    expect(keys.find(id(1))).toMatchObject({ value: { expires_at: NOW + 5 } });
  });

  it("is made once for each idempotency key, and a key is rotated once", () => {
    const { keys } = givenRotated();

    expect(keys.rotate({ ...rotation, next: { id: id(3), hash: "hash-3" } }, NOW + 1)).toMatchObject({ value: { id: id(2) } });
    const again = keys.rotate({ ...rotation, next: { id: id(3), hash: "hash-3" }, idempotency: null }, NOW + 1);
    expect(again).toEqual({ ok: false, error: { code: "key_ended", became: "rotated", rotated_to: id(2) } });
    expect(keys.authenticate(only("hash-3"), NOW + 1)).toBeNull();
  });

  it("of a key that ended, or that there is not, is refused", () => {
    const { keys } = givenRotated();
    const next = { id: id(3), hash: "hash-3" };

    keys.add(newKey(4, { expires_at: NOW + 1 }), NOW);

    const expired = keys.rotate({ ...rotation, next, old: id(4), idempotency: null }, NOW + 1);
    expect(expired).toMatchObject({ error: { code: "key_ended", became: "expired", rotated_to: null } });
    expect(toCode(keys.rotate({ ...rotation, next, old: id(7), idempotency: null }, NOW))).toBe("key_not_found");
  });
});
