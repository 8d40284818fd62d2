/**
 * The tenant's list of erasures, with its alarm: the real one, over the tenant's database, which outlives every life of
 * the session's object.
 */
import type { Condition } from "../../src/app/conditions";
import { eraseSession } from "../../src/app/erase-session";
import { ok } from "../../src/lib/result";
import type { SyncSql } from "../../src/lib/sync-sql";
import { createErasures, type Erasures } from "../../src/tenant/erasure/erasures";
import { createDirectory } from "../../src/tenant/shared/directory";
import { readRows } from "../read-model/rows";
import { makeId, NOTHING_TO_FORGET } from "../tenant/support";
import { Scope } from "./scheduler";
import { CALLER, type World } from "./world";

const SILENT = { info: () => {}, warn: () => {}, error: () => {} };
const { session } = CALLER;

export class SimErasures {
  readonly #erasures: Erasures;
  readonly #scope = new Scope("tenant");
  #alarmAt: number | null = null;
  #cancel: () => void = () => {};
  #ids = 1;

  readonly world: World;
  readonly sql: SyncSql;

  constructor(world: World, sql: SyncSql) {
    this.world = world;
    this.sql = sql;
    const { scheduler } = world;
    sql.transaction(() => createDirectory(sql).register({ session, idempotency: null, at: scheduler.now }));
    this.#erasures = createErasures({
      sql,
      alarm: { get: async () => this.#alarmAt, set: (at) => this.#setAlarm(at) },
      erase: async () => {
        const erased = await this.#ask(this.#scope, true);
        return erased.ok && erased.value.stores.every(({ status }) => status === "erased");
      },
      readLabels: async () => ({ end_user: null, source: null }),
      hide: async () => {},
      ...NOTHING_TO_FORGET,
      sweep: async () => true,
      newErasureId: () => makeId("era", this.#ids++),
      now: () => scheduler.now,
      log: SILENT,
    });
    world.archive.noteBegun = (begun) => this.#erasures.noteBegun(begun);
  }

  /** Runs as a client's request under a condition does. A request that is lost may have done nothing, so the client sends it again. */
  async eraseUnder(from: Scope, condition: Condition): Promise<void> {
    for (;;) {
      try {
        return await this.#request(from, condition);
      } catch {
        this.world.stats.count("erasures under a condition sent again");
      }
    }
  }

  /** Runs once, as a client's request does. If it is interrupted, the alarm finishes it. */
  erase(from: Scope): Promise<void> {
    return this.#request(from);
  }

  async #request(from: Scope, condition?: Condition): Promise<void> {
    const { scheduler, d1 } = this.world;
    const reach = async <T>(work: () => T): Promise<T> => {
      await scheduler.gate(from, "tenant's object");
      return work();
    };
    const ports: Parameters<typeof eraseSession<never>>[1] = {
      tenant: {
        beginErasure: (input) => reach(() => ok(this.#erasures.begin(input))),
        releaseFiles: () => reach(() => ok({ erased: 0, pending: 0, exports: 0, chats: 0 })),
        noteErasure: (ended, pending) => reach(() => ok(this.#erasures.report(ended, pending))),
        endErasure: (ended) => reach(() => ok(this.#erasures.end(ended))),
      },
      erase: (isNoted, compared) => this.#ask(from, isNoted, compared),
      isListed: async () => ok(Object.keys((await readRows(d1.direct, CALLER)).sessions ?? {}).length > 0),
    };
    await eraseSession({ session, condition }, ports);
  }

  /** The directory, and the running erasures. */
  get left(): number {
    return this.sql.rows("SELECT id FROM sessions UNION ALL SELECT session FROM erasures").length;
  }

  #ask(from: Scope, isNoted: boolean, condition?: Condition) {
    return this.world.call(from, "erase", (service) => service.erase(CALLER, isNoted, condition));
  }

  #setAlarm(at: number): void {
    this.#cancel();
    this.#alarmAt = at;
    this.#cancel = this.world.scheduler.timer(this.#scope, { ms: at - this.world.scheduler.now, label: "tenant's alarm" }, () => {
      this.#alarmAt = null;
      void this.#erasures.run();
    });
  }
}
