import { describe, expect, it } from "vitest";
import type { SealedCredential } from "../../src/app/tenant-api";
import type { MasterKey } from "../../src/lib/master-keys";
import { openCredential, resealCredential, sealCredential } from "../../src/tenant/credentials/credential-seal";

const SECRET = "sk-proj-0123456789";
const PLACE = { tenant: "ten_a", name: "openai" };
const key = (kid: string, fill: number): MasterKey => ({ kid, bytes: new Uint8Array(32).fill(fill) });
const OLD = key("2025", 1);
const NEW = key("2026", 2);

/** The text with its last byte changed. */
function flip(text: string): string {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  return btoa(String.fromCharCode(...bytes));
}

describe("a sealed credential", () => {
  it("opens where it was sealed, and names the key that sealed it", async () => {
    const sealed = await sealCredential(SECRET, NEW, PLACE);
    expect(sealed.kid).toBe("2026");
    expect(await openCredential(sealed, [NEW], PLACE)).toBe(SECRET);
  });

  it("opens with an older key while that is still known, and not after", async () => {
    const sealed = await sealCredential(SECRET, OLD, PLACE);
    expect(await openCredential(sealed, [NEW, OLD], PLACE)).toBe(SECRET);
    expect(await openCredential(sealed, [NEW], PLACE)).toBeNull();
  });

  it("shows nothing of the secret, and is another one each time", async () => {
    const [one, two] = await Promise.all([sealCredential(SECRET, NEW, PLACE), sealCredential(SECRET, NEW, PLACE)]);
    expect(atob(one.sealed)).not.toContain(SECRET);
    expect(new Set([one.sealed, two.sealed, one.wrapped_key, two.wrapped_key]).size).toBe(4);
    // The nonces of both layers.
    expect(new Set([one, two].flatMap(({ sealed, wrapped_key }) => [sealed.slice(0, 16), wrapped_key.slice(0, 16)])).size).toBe(4);
  });

  it.each([
    ["another tenant", { ...PLACE, tenant: "ten_b" }],
    ["another name", { ...PLACE, name: "anthropic" }],
  ])("opens nothing in the place of %s", async (_, place) => {
    const sealed = await sealCredential(SECRET, NEW, PLACE);
    expect(await openCredential(sealed, [NEW], place)).toBeNull();
    expect(await resealCredential(sealed, [OLD, NEW], place)).toBeNull();
  });

  it.each<[string, (sealed: SealedCredential, other: SealedCredential) => SealedCredential]>([
    ["its secret was changed", (sealed) => ({ ...sealed, sealed: flip(sealed.sealed) })],
    ["its data key was changed", (sealed) => ({ ...sealed, wrapped_key: flip(sealed.wrapped_key) })],
    ["its layers were swapped", (sealed) => ({ ...sealed, sealed: sealed.wrapped_key, wrapped_key: sealed.sealed })],
    ["its data key is another one's", (sealed, other) => ({ ...sealed, wrapped_key: other.wrapped_key })],
    ["it is cut", (sealed) => ({ ...sealed, sealed: sealed.sealed.slice(0, 12) })],
    ["it is empty", (sealed) => ({ ...sealed, sealed: "" })],
    ["it is not base64", (sealed) => ({ ...sealed, sealed: "*" })],
    ["it names another key", (sealed) => ({ ...sealed, kid: OLD.kid })],
  ])("opens nothing where %s", async (_, change) => {
    const sealed = await sealCredential(SECRET, NEW, PLACE);
    const changed = change(sealed, await sealCredential("sk-other", NEW, PLACE));
    expect(await openCredential(changed, [NEW, OLD], PLACE)).toBeNull();
  });

  it("is sealed anew under the current key without its secret being opened", async () => {
    const sealed = await sealCredential(SECRET, OLD, PLACE);
    const resealed = await resealCredential(sealed, [NEW, OLD], PLACE);
    expect(resealed).toMatchObject({ kid: "2026", sealed: sealed.sealed });
    expect(resealed && (await openCredential(resealed, [NEW], PLACE))).toBe(SECRET);
  });

  it("holds any text", async () => {
    for (const secret of ["", "ключ 🔑", "x".repeat(4_096)]) {
      expect(await openCredential(await sealCredential(secret, NEW, PLACE), [NEW], PLACE)).toBe(secret);
    }
  });
});
