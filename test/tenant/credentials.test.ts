import { describe, expect, it, vi } from "vitest";
import type { DeploymentKeys } from "../../src/app/key-source";
import type { ModelSpec } from "../../src/app/ports";
import type { SealedCredential } from "../../src/app/tenant-api";
import type { MasterKey, MasterKeys } from "../../src/lib/master-keys";
import { sealCredential } from "../../src/tenant/credentials/credential-seal";
import { createCredentials, createOpenCredential } from "../../src/tenant/credentials/credentials";
import { createLookUpCache, LOOK_UP_TTL_MS } from "../../src/tenant/look-ups/look-up-cache";
import { createTestClock } from "./support";

const MISSING = { missing: true };
const SECRET = "sk-the-tenants-own";
const key = (kid: string, fill: number): MasterKey => ({ kid, bytes: new Uint8Array(32).fill(fill) });
const KEY = key("k1", 1);
const NO_KEYS: DeploymentKeys = { openai: undefined, anthropic: undefined, google: undefined, "openai-compatible": undefined };

const spec = (changes: Partial<ModelSpec> = {}): ModelSpec => ({
  id: "m",
  provider: "openai",
  upstream_id: "m",
  base_url: null,
  context_window: null,
  max_output: 1,
  credential: "mine",
  source: "tenant",
  ...changes,
});

function given({ masterKeys = [KEY], tenant = "ten_a" }: { masterKeys?: MasterKeys; tenant?: string } = {}) {
  const clock = createTestClock();
  const lines: unknown[] = [];
  const write = (...line: unknown[]) => void lines.push(line);
  const log = { info: write, warn: write, error: write };
  const stored = sealCredential(SECRET, KEY, { tenant: "ten_a", name: "mine" });
  const sealedCredential = vi.fn<(name: string) => Promise<SealedCredential | null>>(async (name) =>
    name === "mine" ? await stored : null,
  );
  const deploymentKeys = { ...NO_KEYS, openai: "sk-the-deployments" };
  const open = createOpenCredential({
    tenant,
    find: createLookUpCache({ ask: sealedCredential, now: clock.now }),
    masterKeys: () => masterKeys,
    log,
  });
  const credentials = createCredentials({ open, deploymentKeys: () => deploymentKeys });
  return { clock, lines, sealedCredential, credentials };
}

describe("the key of a call", () => {
  it("is the tenant's own, opened", async () => {
    expect(await given().credentials(spec())).toBe(SECRET);
  });

  it("is the deployment's where the tenant names none, and the tenant is not asked", async () => {
    const { credentials, sealedCredential } = given();
    const { credential: _, ...model } = spec();
    expect(await credentials(model)).toBe("sk-the-deployments");
    expect(sealedCredential).not.toHaveBeenCalled();
  });

  it("is missing where the deployment has none for the provider's own address; elsewhere none may be needed", async () => {
    const { credential: _, ...model } = spec({ provider: "anthropic" });
    expect(await given().credentials(model)).toEqual(MISSING);
    expect(await given().credentials({ ...model, base_url: "https://llm.example.com", source: "deployment" })).toBeNull();
    expect(await given().credentials({ ...model, base_url: "https://llm.example.com" })).toBeNull();
    expect(await given().credentials({ ...model, provider: "embedded" })).toBeNull();
  });

  it("is missing where the credential is gone: never the deployment's in its place", async () => {
    expect(await given().credentials(spec({ credential: "gone" }))).toEqual(MISSING);
    expect(await given().credentials(spec({ credential: "gone", base_url: "https://llm.example.com" }))).toEqual(MISSING);
  });

  it.each<[string, Parameters<typeof given>[0]]>([
    ["under a master key that is not known here any more", { masterKeys: [key("k2", 1)] }],
    ["under another key of the same name", { masterKeys: [key("k1", 2)] }],
    ["of another tenant", { tenant: "ten_b" }],
  ])("is missing if it was encrypted %s, and that is reported without it", async (_, input) => {
    const { credentials, lines } = given(input);
    expect(await credentials(spec())).toEqual(MISSING);
    expect(lines).toHaveLength(1);
    expect(JSON.stringify(lines)).toContain("credential.unreadable");
    expect(JSON.stringify(lines)).not.toContain(SECRET);
  });
});

describe("looking a credential up", () => {
  it("asks the tenant once within the time that an answer holds", async () => {
    const { credentials, sealedCredential, clock } = given();
    await credentials(spec());
    clock.advance(LOOK_UP_TTL_MS - 1);
    await credentials(spec());
    expect(sealedCredential).toHaveBeenCalledTimes(1);
    clock.advance(1);
    sealedCredential.mockResolvedValue(null);
    expect(await credentials(spec())).toEqual(MISSING);
  });

  it("goes on with the last known one while the tenant is out of reach, and throws for one never seen", async () => {
    const { credentials, sealedCredential, clock } = given();
    await credentials(spec());
    clock.advance(LOOK_UP_TTL_MS);
    sealedCredential.mockRejectedValue(new Error("unreachable"));
    expect(await credentials(spec())).toBe(SECRET);
    await expect(credentials(spec({ credential: "another" }))).rejects.toThrow("unreachable");
  });
});
