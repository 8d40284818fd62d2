/** Makes a key of a tenant. The tenant's object gets its hash; the key itself is only in the answer. */
import type { Context } from "hono";
import type { Act } from "../app/audit-chain";
import type { KeyInput, RotationInput, TenantApi, TenantOutcome } from "../app/tenant-api";
import type { KeyView } from "../contract/tenant";
import type { KeyId, TenantId } from "../domain/ids";
import { ok } from "../lib/result";
import { callWithRetry } from "./calls";
import type { HttpDeps, HttpEnv } from "./deps";

interface KeyOrder extends Omit<KeyInput, keyof MadeKey> {
  readonly act: Act;
  readonly tenant: TenantId;
}

interface RotationOrder extends Omit<RotationInput, keyof MadeKey> {
  readonly act: Act;
  readonly tenant: TenantId;
}

interface IssuedKey {
  readonly view: KeyView;
  /** Null when an earlier request with the same idempotency key made the key. Only that answer contained the secret. */
  readonly key: string | null;
}

export const issueKey = (deps: HttpDeps, { tenant, act, ...order }: KeyOrder): Promise<TenantOutcome<IssuedKey>> =>
  issue(deps, { tenant, idempotency: order.idempotency }, (api, made) => api.addKey(act, { ...order, ...made }));

/** Makes a key in place of `from`, which stays valid for a while. */
export const rotateKey = (deps: HttpDeps, { tenant, act, ...order }: RotationOrder): Promise<TenantOutcome<IssuedKey>> =>
  issue(deps, { tenant, idempotency: order.idempotency }, (api, made) => api.rotateKey(act, { ...order, ...made }));

interface MadeKey {
  readonly id: KeyId;
  readonly hash: string;
}

async function issue(
  deps: HttpDeps,
  { tenant, idempotency }: Pick<KeyOrder, "tenant" | "idempotency">,
  store: (api: TenantApi, made: MadeKey) => Promise<TenantOutcome<KeyView>>,
): Promise<TenantOutcome<IssuedKey>> {
  const key = await deps.generateKey(tenant);
  const made = { id: deps.newId("key"), hash: await deps.hashKey(key) };
  const add = (api: TenantApi) => store(api, made);
  // Without an idempotency key, a repetition after a lost answer would make a second key.
  const added = idempotency ? await callWithRetry(() => deps.tenants(tenant), add) : await add(deps.tenants(tenant));
  return added.ok ? ok({ view: added.value, key: added.value.id === made.id ? key : null }) : added;
}

/** Marks an answer that repeats the outcome of an earlier request. */
export function markReplayed(c: Context<HttpEnv>, { key }: IssuedKey): void {
  if (key === null) c.header("idempotent-replayed", "true");
}

/** What is wrong with the time; null when nothing is. */
export function refuseExpiry(expiresAt: number | null, now: number): string | null {
  return expiresAt !== null && expiresAt <= now ? "must be in the future" : null;
}
