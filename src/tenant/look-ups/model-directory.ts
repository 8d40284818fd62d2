/** Looks up the models of one tenant in its object, for all sessions in the isolate. It caches answers, so that chat goes on while that object is out of reach. */
import type { Background, Clock, ModelDirectory } from "../../app/ports";
import type { TenantApi } from "../../app/tenant-api";
import { createLookUpCache } from "./look-up-cache";

interface ModelDirectoryDeps {
  /** Must make a fresh stub for each call: a stub stays broken once its object was reset. */
  readonly stub: Pick<TenantApi, "resolveModel">;
  readonly now: Clock;
  readonly ttlMs?: number;
  readonly generation?: () => number;
  readonly background?: Background;
}

export function createModelDirectory({ stub, ...cache }: ModelDirectoryDeps): ModelDirectory {
  return { resolve: createLookUpCache({ ask: (model) => stub.resolveModel(model), ...cache }) };
}
