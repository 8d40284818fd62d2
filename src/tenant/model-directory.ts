/** A session's look-up of models in its tenant's object, remembered so that chat goes on while that object is out of reach. */
import type { Clock, ModelDirectory } from "../app/ports";
import type { TenantApi } from "../app/tenant-api";
import { createLookUpCache } from "./look-up-cache";

interface ModelDirectoryDeps {
  /** A stub is broken for good once its object was reset: pass an object that gets a fresh stub for each call. */
  readonly stub: Pick<TenantApi, "resolveModel">;
  readonly now: Clock;
  readonly ttlMs?: number;
  readonly generation?: () => number;
}

export function createModelDirectory({ stub, ...cache }: ModelDirectoryDeps): ModelDirectory {
  return { resolve: createLookUpCache({ ask: (model) => stub.resolveModel(model), ...cache }) };
}
