/**
 * Writes the tenant to the read model: at once after a change, and by alarm until it has succeeded. It stores only how
 * far the read model lags and writes the present state, so it can never send stale data.
 */
import type { Clock, Log } from "../../app/ports";
import type { TenantChange } from "../../app/tenant-api";
import type { TenantProjection } from "../../app/tenant-projection";
import type { SyncSql } from "../../lib/sync-sql";
import { type TenantAlarm, toRetryWait } from "../shared/tenant-alarm";

const FIRST_RETRY_MS = 30_000;

interface Alarm extends TenantAlarm {
  clear(): void;
}

interface ProjectionOutboxDeps {
  readonly sql: SyncSql;
  readonly projection: Pick<TenantProjection, "write">;
  readonly snapshot: () => TenantChange;
  readonly alarm: Alarm;
  readonly now: Clock;
  readonly log: Log;
}

export interface ProjectionOutbox {
  /** Notes a change. Call it inside the change's transaction: its alarm survives a crash before `drain`. */
  touch(): void;
  /** Notes a change if the deployment's models differ from those that were projected last. */
  touchIfDeploymentChanged(fingerprint: string): void;
  /** Called when the object starts. It arms an alarm if the read model lags, in case the platform dropped the last one. */
  resume(): Promise<void>;
  /** Sets the alarm for what is due in the object, or takes it away. Call it when the alarm's work is done. */
  rest(): void;
  /** Writes until the read model is up to date. Never rejects for a failed write: the alarm repeats it. Only one drain runs at a time. */
  drain(): Promise<void>;
}

type ProjectionRow = {
  readonly revision: number;
  readonly projected: number;
  readonly attempts: number;
  readonly deployment: string;
};

export function createProjectionOutbox(deps: ProjectionOutboxDeps): ProjectionOutbox {
  const { sql, projection, snapshot, alarm, now, log } = deps;
  let running: Promise<void> | null = null;

  function row(): ProjectionRow {
    const found = sql.rows<ProjectionRow>("SELECT revision, projected, attempts, deployment FROM projection")[0];
    if (!found) throw new Error("The projection's row is missing");
    return found;
  }
  function touch(): void {
    sql.rows("UPDATE projection SET revision = revision + 1");
    alarm.set(now() + FIRST_RETRY_MS);
  }
  /** Reads the revision before the write, so that a change during the write is written by the next round. */
  async function writeSnapshot(): Promise<void> {
    const { revision } = row();
    await projection.write(snapshot());
    sql.rows("UPDATE projection SET projected = ?, attempts = 0", revision);
  }
  function isBehind(): boolean {
    const { revision, projected } = row();
    return revision > projected;
  }
  function backOff(cause: unknown): void {
    const attempts = row().attempts + 1;
    const retryInMs = toRetryWait(FIRST_RETRY_MS, attempts - 1);
    sql.rows("UPDATE projection SET attempts = ?", attempts);
    alarm.set(now() + retryInMs);
    log.warn("tenant.projection_failed", { attempts, retry_in_ms: retryInMs, cause });
  }
  /** What lags has an alarm of its own. */
  function rest(): void {
    if (!isBehind()) alarm.clear();
  }
  async function run(): Promise<void> {
    try {
      while (isBehind()) await writeSnapshot();
      rest();
    } catch (cause) {
      backOff(cause);
    } finally {
      running = null;
    }
  }
  return {
    touch,
    touchIfDeploymentChanged: (fingerprint) => {
      if (row().deployment === fingerprint) return;
      sql.rows("UPDATE projection SET deployment = ?", fingerprint);
      touch();
    },
    resume: async () => {
      if (isBehind() && (await alarm.get()) === null && !running) alarm.set(now() + FIRST_RETRY_MS);
    },
    rest,
    // `run` starts a tick later, so that its `finally` never comes before this assignment.
    drain: () => {
      running ??= Promise.resolve().then(run);
      return running;
    },
  };
}
