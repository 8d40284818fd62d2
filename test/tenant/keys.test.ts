import { describe, expect, it } from "vitest";
import { createKeys, type NewKey } from "../../src/tenant/keys";
import { createMigratedSql } from "./memory-sql";
import { idOf } from "./support";

const tenant = idOf("ten", 1);

function newKey(changes: Partial<NewKey> = {}): NewKey {
  return { id: idOf("key", 1), hash: "hash-1", name: "ci", scopes: ["sessions:read"], expires_at: null, at: 1_000, ...changes };
}

describe("a key", () => {
  it("speaks for its tenant with exactly the scopes that it was given", () => {
    const keys = createKeys(createMigratedSql());
    keys.add(newKey({ scopes: ["keys:write", "sessions:write"] }));
    const principal = keys.authenticate({ hash: "hash-1", tenant, at: 2_000 });
    expect(principal).toEqual({ tenant, key: idOf("key", 1), scopes: ["sessions:write", "keys:write"], expires_at: null });
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
    keys.revoke(idOf("key", 1), 3_000);
    expect(keys.revoke(idOf("key", 1), 4_000)).toMatchObject({ ok: true, value: { revoked_at: 3_000 } });
    expect(keys.authenticate({ hash: "hash-1", tenant, at: 5_000 })).toBeNull();
  });

  it("revoking one leaves the others valid", () => {
    const keys = createKeys(createMigratedSql());
    keys.add(newKey());
    keys.add(newKey({ id: idOf("key", 2), hash: "hash-2" }));
    keys.revoke(idOf("key", 1), 3_000);
    expect(keys.authenticate({ hash: "hash-2", tenant, at: 5_000 })?.key).toBe(idOf("key", 2));
  });

  it("that does not exist cannot be revoked", () => {
    const keys = createKeys(createMigratedSql());
    expect(keys.revoke(idOf("key", 9), 1)).toEqual({ ok: false, error: { code: "key_not_found", key: idOf("key", 9) } });
  });

  it("is listed newest first, revoked ones too, and never with its hash", () => {
    const keys = createKeys(createMigratedSql());
    keys.add(newKey());
    keys.add(newKey({ id: idOf("key", 2), hash: "hash-2" }));
    keys.revoke(idOf("key", 1), 3_000);
    expect(keys.list().map((key) => [key.id, key.revoked_at])).toEqual([
      [idOf("key", 2), null],
      [idOf("key", 1), 3_000],
    ]);
    expect(JSON.stringify(keys.list())).not.toContain("hash-");
  });
});
