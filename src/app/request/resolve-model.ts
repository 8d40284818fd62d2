/** Looks up the session's model within a time limit: a registry that does not answer must not block a turn for ever. */

import { toErrorName } from "../../lib/error-name";
import { err, ok, type Result } from "../../lib/result";
import { within } from "../../lib/timer";
import type { Log, ModelDirectory, ModelSpec } from "../ports";
import type { Schedule } from "../session-ports";

const LOOK_UP_MS = 10_000;

export interface ResolvePorts {
  readonly models: ModelDirectory;
  readonly schedule: Schedule;
  readonly log: Log;
}

/** `unknown_model`: the tenant has no model of that id. `unavailable`: the registry failed or did not answer in time. Never throws. */
export async function resolveModel(
  id: string,
  { models, schedule, log }: ResolvePorts,
): Promise<Result<ModelSpec, "unknown_model" | "unavailable">> {
  try {
    const found = await within(LOOK_UP_MS, schedule, models.resolve(id));
    return found ? ok(found) : err("unknown_model");
  } catch (error) {
    log.warn("models_unreachable", { error: toErrorName(error) });
    return err("unavailable");
  }
}
