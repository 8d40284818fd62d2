/** A session's look-up of models in its tenant's object, remembered so that chat goes on while that object is out of reach. */
import type { Clock, ModelDirectory, ModelSpec } from "../app/ports";
import type { TenantApi } from "../app/tenant-api";

/** How long an answer holds: a changed model takes effect within this time, in milliseconds. */
export const MODEL_CACHE_TTL_MS = 30_000;
/** How long the last known answer serves after a failed look-up before the tenant's object is asked again. */
const RETRY_AFTER_MS = 5_000;

export interface ModelDirectoryDeps {
  /** A stub is broken for good once its object was reset: pass an object that gets a fresh stub for each call. */
  readonly stub: Pick<TenantApi, "resolveModel">;
  readonly now: Clock;
  readonly ttlMs?: number;
}

/**
 * Answers from memory for `ttlMs`, then asks again; if that fails, the last known answer stands, however old. It throws
 * only for a model it never saw. An unknown model is not remembered: it may be added in the next moment.
 */
export function createModelDirectory({ stub, now, ttlMs = MODEL_CACHE_TTL_MS }: ModelDirectoryDeps): ModelDirectory {
  const known = new Map<string, { readonly spec: ModelSpec; readonly until: number }>();

  async function ask(model: string): Promise<ModelSpec | null> {
    const askedAt = now();
    const spec = await stub.resolveModel(model);
    if (spec) known.set(model, { spec, until: askedAt + ttlMs });
    else known.delete(model);
    return spec;
  }
  return {
    resolve: async (model) => {
      const last = known.get(model);
      if (last && last.until > now()) return last.spec;
      try {
        return await ask(model);
      } catch (cause) {
        if (!last) throw cause;
        known.set(model, { spec: last.spec, until: now() + RETRY_AFTER_MS });
        return last.spec;
      }
    },
  };
}
