/** The pending work of the tenant's object: its rows in the read model, and erasures under way. One alarm serves both. */
import { withNames } from "../app/named-log";
import type { Log } from "../app/ports";
import type { Caller, SessionApi } from "../app/session-api";
import type { TenantChange, TenantProjection } from "../app/tenant-api";
import type { SessionId, TenantId } from "../domain/ids";
import { createErasures, type Erasures } from "./erasures";
import { createProjectionOutbox, type ProjectionOutbox } from "./projection-outbox";
import type { TenantSql } from "./tenant-sql";

export interface UpkeepDeps {
  readonly sql: TenantSql;
  readonly storage: Pick<DurableObjectStorage, "getAlarm" | "setAlarm" | "deleteAlarm">;
  readonly projection: TenantProjection;
  readonly snapshot: () => TenantChange;
  readonly tenant: () => TenantId;
  readonly sessions: (caller: Caller) => Pick<SessionApi, "erase">;
  readonly log: Log;
}

export interface Upkeep {
  readonly outbox: ProjectionOutbox;
  readonly erasures: Erasures;
  /** Called when the object starts. It arms an alarm for pending work, in case the platform dropped the last one. */
  resume(): Promise<void>;
  ring(): Promise<void>;
}

export function createUpkeep({ sql, storage, projection, snapshot, tenant, sessions, log: unnamed }: UpkeepDeps): Upkeep {
  const log = withNames(unnamed, () => ({ tenant: tenant() }));
  const erase = async (session: SessionId): Promise<boolean> => {
    const caller = { tenant: tenant(), session };
    const erased = await sessions(caller).erase(caller, true);
    return erased.ok && erased.value.stores.every(({ status }) => status === "erased");
  };
  const get = () => storage.getAlarm();
  const set = (at: number): void => void storage.setAlarm(at);
  const erasures = createErasures({ sql, alarm: { get, set }, erase, now: Date.now, log });
  /** The outbox's alarm. It never delays an erasure that is due earlier. */
  const alarm = {
    get,
    set: (at: number): void => set(Math.min(at, erasures.nextDue() ?? at)),
    clear: (): void => {
      const due = erasures.nextDue();
      if (due === null) void storage.deleteAlarm();
      else set(due);
    },
  };
  const outbox = createProjectionOutbox({ sql, projection, snapshot, alarm, now: Date.now, log });
  return {
    outbox,
    erasures,
    resume: async () => {
      await outbox.resume();
      await erasures.resume();
    },
    ring: async () => {
      await erasures.run();
      await outbox.drain();
    },
  };
}
