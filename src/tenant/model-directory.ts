/** A session's look-up of models in its tenant's object. It caches answers, so that chat goes on while that object is out of reach. */
import type { Clock, ModelDirectory } from "../app/ports";
import type { TenantApi } from "../app/tenant-api";
import { createLookUpCache } from "./look-up-cache";

interface ModelDirectoryDeps {
  /** Must make a fresh stub for each call: a stub stays broken once its object was reset. */
  readonly stub: Pick<TenantApi, "resolveModel">;
  readonly now: Clock;
  readonly ttlMs?: number;
  readonly generation?: () => number;
}

export function createModelDirectory({ stub, ...cache }: ModelDirectoryDeps): ModelDirectory {
  return { resolve: createLookUpCache({ ask: (model) => stub.resolveModel(model), ...cache }) };
}
