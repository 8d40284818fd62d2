/** Watches an isolate's calls to one tenant's object, and can hold them back. */
import { env } from "cloudflare:workers";
import { expect, vi } from "vitest";
import { tenantObjectName } from "../../src/app/object-name";
import { SERVE_FOR } from "../../src/lib/request-scope";
import type { Tenant } from "./support";

export interface WatchedTenant {
  /** How often each method was called. */
  readonly calls: Map<string, number>;
  /** From here on, no call reaches the object before the returned function is called, which resolves once all have ended. */
  hold(): () => Promise<void>;
}

/** Restored by `vi.restoreAllMocks`. */
export function watchTenant(tenant: Tenant): WatchedTenant {
  const calls = new Map<string, number>();
  let underWay = 0;
  let gate = Promise.resolve();
  const { getByName } = env.TENANTS;
  vi.spyOn(env.TENANTS, "getByName").mockImplementation((name) => {
    const stub = getByName.call(env.TENANTS, name);
    if (name !== tenantObjectName(tenant.id)) return stub;
    const get = (target: typeof stub, method: string | symbol): unknown => {
      const called: unknown = Reflect.get(target, method);
      if (typeof called !== "function" || typeof method !== "string") return called;
      return async (...input: unknown[]): Promise<unknown> => {
        // A call on behalf of a request names its method (`lib/request-scope`).
        const name = method === SERVE_FOR ? String(input[1]) : method;
        calls.set(name, (calls.get(name) ?? 0) + 1);
        underWay += 1;
        await gate;
        try {
          return await Reflect.apply(called, target, input);
        } finally {
          underWay -= 1;
        }
      };
    };
    return new Proxy(stub, { get });
  });
  return {
    calls,
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return () => {
        gate = Promise.resolve();
        resolve();
        return vi.waitFor(() => expect(underWay).toBe(0), { timeout: 30_000 });
      };
    },
  };
}
