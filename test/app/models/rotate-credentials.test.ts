import { describe, expect, it } from "vitest";
import type { Act } from "../../../src/app/audit-chain";
import { rotateCredentials } from "../../../src/app/models/rotate-credentials";
import type { MasterKeys } from "../../../src/lib/master-keys";
import { err, ok } from "../../../src/lib/result";
import { openCredential, sealCredential } from "../../../src/tenant/credentials/credential-seal";
import { createCredentialSealer } from "../../../src/tenant/credentials/credential-sealer";
import { createCredentialStore, MAX_CREDENTIALS } from "../../../src/tenant/credentials/credential-store";
import { ACT } from "../../support/act";
import { createMigratedSql } from "../../tenant/memory-sql";

const TENANT = "ten_a";
const key = (kid: string, fill: number) => ({ kid, bytes: new Uint8Array(32).fill(fill) });
const [OLD, NEW, LOST] = [key("2025", 1), key("2026", 2), key("2024", 3)];

async function given(keys: MasterKeys) {
  const store = createCredentialStore(createMigratedSql());
  const put = async (name: string, by: MasterKeys[number]) =>
    store.put(name, await sealCredential(`secret of ${name}`, by, { tenant: TENANT, name }), 5);
  const object = {
    sealedCredentials: async () => ok(store.allSealed()),
    replaceSealed: async (_: Act, all: Parameters<typeof store.replace>[0]) => ok({ replaced: store.replace(all) }),
  };
  const sealer = createCredentialSealer(keys);
  if (!sealer) throw new Error("No sealer without a key");
  return { store, put, object, rotate: () => rotateCredentials({ object: () => object, sealer, act: ACT }, TENANT) };
}

describe("sealing a tenant's credentials under the current key", () => {
  it("leaves all readable by it alone, and says how many there were", async () => {
    const { store, put, rotate } = await given([NEW, OLD]);
    await put("a", OLD);
    await put("b", OLD);
    await put("c", NEW);

    expect(await rotate()).toEqual({
      ok: true,
      value: { key_id: "2026", total: 3, current: 1, resealed: 2, changed: 0, unreadable: [] },
    });

    for (const { name, sealed } of store.allSealed()) {
      expect(await openCredential(sealed, [NEW], { tenant: TENANT, name })).toBe(`secret of ${name}`);
    }
    expect(store.list()).toMatchObject([{ updated_at: 5 }, { updated_at: 5 }, { updated_at: 5 }]);
    expect(await rotate()).toMatchObject({ value: { current: 3, resealed: 0 } });
  });

  it("names those that no known key opens, and leaves them as they are", async () => {
    const { store, put, rotate } = await given([NEW, OLD]);
    await put("a", LOST);
    await put("b", OLD);
    const before = store.sealed("a");

    expect(await rotate()).toMatchObject({ value: { total: 2, resealed: 1, unreadable: ["a"] } });
    expect(store.sealed("a")).toEqual(before);
  });

  it("does not take the place of one that was put meanwhile", async () => {
    const { store, put, object, rotate } = await given([NEW, OLD]);
    await put("a", OLD);
    const replace = object.replaceSealed;
    object.replaceSealed = async (act, all) => {
      await put("a", OLD);
      return replace(act, all);
    };

    expect(await rotate()).toMatchObject({ value: { resealed: 0, changed: 1 } });
    expect(store.sealed("a")?.kid).toBe("2025");
  });

  it("of a tenant that does not exist is refused as the tenant is", async () => {
    const sealer = createCredentialSealer([NEW]);
    const missing = async () => err({ code: "tenant_not_found" as const });
    const object = () => ({ sealedCredentials: missing, replaceSealed: missing });
    expect(sealer && (await rotateCredentials({ object, sealer, act: ACT }, TENANT))).toMatchObject({ ok: false });
  });

  it("needs a key", () => {
    expect(createCredentialSealer([])).toBeNull();
  });
});

describe("the number of a tenant's credentials", () => {
  it("is bounded; one that is there can still be replaced", async () => {
    const { store } = await given([NEW]);
    const sealed = await sealCredential("s", NEW, { tenant: TENANT, name: "n" });
    for (let n = 1; n <= MAX_CREDENTIALS; n++) expect(store.put(`c${n}`, sealed, n).ok).toBe(true);

    expect(store.put("one-more", sealed, 99)).toEqual({ ok: false, error: { code: "credential_limit", limit: MAX_CREDENTIALS } });
    expect(store.put("c1", sealed, 99).ok).toBe(true);
    expect(store.list()[0]).toMatchObject({ name: "c1", created_at: 1, updated_at: 99 });
    store.remove("c2");
    expect(store.put("one-more", sealed, 99).ok).toBe(true);
  });
});
