/** I49: usage that a rule removes by whole months, while its tenant moves between databases, compared with the ledgers of all sessions. */
import type { SessionId } from "../../src/domain/ids";
import type { ReadModelEnv } from "../../src/read-model/database-for";
import { createUsageList } from "../../src/read-model/usage-query";
import { readEvents } from "../../src/session/log/event-log";
import { hasSchema } from "../../src/session/log/log-schema";
import { TENANT } from "../support/builders";
import { type MoveWorld, NAMES } from "./move-world";
import { Scope } from "./scheduler";

interface Call {
  readonly seq: number;
  readonly at: number;
}

const ALL = { groupBy: [], session: null, model: null, purpose: null, key: null, endUser: null, limit: 1, after: null } as const;
const countFrom = (calls: readonly Call[], from: number): number => calls.filter(({ at }) => at >= from).length;

export class UsageWatch {
  /** Every call that was ever recorded, kept beyond the erasure of its session. */
  readonly #ledgers = new Map<SessionId, Call[]>();
  readonly #read = new Map<SessionId, number>();
  /** The last event that each session has ever ticked off as written. */
  readonly #ticked = new Map<SessionId, number>();
  readonly world: MoveWorld;

  constructor(world: MoveWorld) {
    this.world = world;
  }

  /** Each step. An erasure empties the log, but not before the tenant's object has its sums. */
  look(): void {
    for (const [id, { sql }] of this.world.sessions) {
      if (!hasSchema(sql)) continue;
      const calls = this.#ledgers.get(id) ?? [];
      this.#ledgers.set(id, calls);
      for (const { type, seq, at } of readEvents(sql, this.#read.get(id) ?? 0, 1_000)) {
        this.#read.set(id, seq);
        if (type === "ModelCallFinished") calls.push({ seq, at });
      }
      this.#ticked.set(id, Math.max(this.#ticked.get(id) ?? 0, this.world.readTicked(id)));
    }
  }

  /** The alarm of the tenant's object. */
  async ring(isClosing: () => boolean): Promise<void> {
    const { scheduler, random, tenant, usageBound, stats } = this.world;
    const isUnfinished = (): boolean => usageBound.read().wanted !== usageBound.read().applied;
    for (let n = 0; !isClosing() || isUnfinished(); n++) {
      const scope = new Scope(`alarm ${n}`);
      const before = usageBound.read().applied;
      await tenant.call(scope, "alarm", ({ usageRetention }) => usageRetention.run()).catch(() => stats.count("alarms lost"));
      if (usageBound.read().applied !== before) stats.count("months removed");
      else if (isUnfinished()) stats.count("removals cut off");
      await scheduler.sleep(this.world.platform, random.int(1_000, 90_000), "the tenant's alarm");
    }
  }

  /** A Worker that sums the usage up. Sums have what was written before, and no call that is in no ledger, from the beginning of a month on. */
  async read(isolate: ReadModelEnv): Promise<void> {
    const { violations, stats, scheduler } = this.world;
    const due = [...this.#ledgers].flatMap(([id, calls]) => calls.filter(({ seq }) => seq <= (this.#ticked.get(id) ?? 0)));
    const shown = await readSums(isolate, scheduler.now);
    const known = [...this.#ledgers.values()].flat();
    const [least, most] = [countFrom(due, shown.from), countFrom(known, shown.from)];
    const isComplete = least <= shown.calls && shown.calls <= most;
    violations.check(
      isComplete,
      "I49",
      () => `sums have ${shown.calls} calls: ${least} were written, and ${most} made, since ${shown.from}`,
    );
    if (shown.from > 0) stats.count("sums of what is left");
  }

  /** What remains is the ledgers' months that were not removed, and no database has a row of another. */
  async checkAtRest(isolate: ReadModelEnv): Promise<void> {
    const { world } = this;
    const applied = world.usageBound.read().applied ?? 0;
    const shown = await readSums(isolate, world.scheduler.now);
    const left = countFrom([...this.#ledgers.values()].flat(), applied);
    const isLeft = shown.from === applied && shown.calls === left;
    world.violations.check(
      isLeft,
      "I49",
      () => `${shown.calls} calls remain since ${shown.from}, and the ledgers have ${left} since ${applied}`,
    );
    for (const name of NAMES)
      for (const table of ["usage", "erased_usage"]) {
        const counted = world.databases[name].direct.prepare(`SELECT count(*) AS n FROM ${table} WHERE at < ?`).bind(applied);
        const rows = await counted.first<number>("n");
        world.violations.check(rows === 0, "I49", () => `${name} has ${rows} rows in ${table} from before ${applied}`);
      }
  }
}

async function readSums(isolate: ReadModelEnv, now: number): Promise<{ readonly from: number; readonly calls: number }> {
  const read = await createUsageList(isolate).sumUsage({ tenant: TENANT, from: 0, to: now + 3_600_000, ...ALL });
  if (!read.ok) throw new Error(read.error.code);
  return { from: read.value.complete_from ?? 0, calls: read.value.data[0]?.calls ?? 0 };
}
