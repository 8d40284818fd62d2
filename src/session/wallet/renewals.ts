/** A session's calls of its tenant's object about budgets: it asks for grants, reports, and gives back. The caller runs one after the other. */

import { type CounterRef, counterKey, type KnownBudgets } from "../../app/budget-counters";
import type { BudgetSource, RenewAnswer, RenewInput } from "../../app/budget-ports";
import { type CallNeed, toReserve } from "../../app/call-charge";
import type { SessionId, TenantId } from "../../domain/ids";
import { assertNever } from "../../lib/assert-never";
import type { Jobs } from "../log/jobs";
import type { RuntimeDeps } from "../runtime-deps";
import * as rows from "./wallet-rows";

/** What is granted and not used is returned this long after the last call. */
export const RETURN_AFTER_MS = 60_000;
/** A report is made anew where a later one was known: an object that was restored may not know its own. */
const MOST_REPORTS = 2;

export interface RenewingHost {
  readonly exists: boolean;
  readonly jobs: Jobs;
  readonly deps: Pick<RuntimeDeps, "sql" | "clock" | "budgets">;
  syncAlarm(): void;
}

export interface Owner {
  readonly tenant: TenantId;
  readonly session: SessionId;
  readonly source: BudgetSource;
}

interface Asking {
  readonly known: KnownBudgets;
  /** The counters that the call touches. */
  readonly refs: readonly CounterRef[];
  readonly need: CallNeed;
}

type Sent = Omit<Parameters<typeof rows.confirm>[1], "grants">;

/** Brings the alarm back to what is to be reported or returned. Call it in the transaction of what it is for. */
export const armReturn = ({ jobs, deps }: RenewingHost): void => jobs.armIfIdle("budget", deps.clock() + RETURN_AFTER_MS);

const withoutKey = ({ counter: _, ...row }: rows.ReportedCounter) => row;

export class Renewals {
  readonly host: RenewingHost;

  constructor(host: RenewingHost) {
    this.host = host;
  }

  /** Asks for what a call needs. An answer that comes too late counts for nothing: the next report mends what it granted. */
  async ask(owner: Owner, { known, refs, need }: Asking): Promise<RenewAnswer> {
    const { sql, clock } = this.host.deps;
    const begun = sql.transaction(() => {
      armReturn(this.host);
      return rows.beginReport(sql, refs, clock());
    });
    this.host.syncAlarm();
    const wanted = new Set(refs.map(counterKey));
    const input: RenewInput = {
      session: owner.session,
      seq: begun.seq,
      revision: known.revision,
      rows: begun.rows.map((row) => ({ ...withoutKey(row), need: wanted.has(row.counter) ? toReserve(need, row.ref.unit) : 0 })),
    };
    const answer = await owner.source.renew(input);
    this.#take(owner, { ...begun, revision: known.revision }, answer);
    return answer;
  }

  #take(owner: Owner, sent: Sent, answer: RenewAnswer): void {
    const { sql } = this.host.deps;
    if (!this.host.exists) return;
    switch (answer.kind) {
      case "granted":
        return void sql.transaction(() => rows.confirm(sql, { ...sent, grants: answer.grants }));
      case "changed":
        owner.source.learn(answer.known);
        return void sql.transaction(() => rows.confirm(sql, { ...sent, grants: [] }));
      case "refused":
        return void sql.transaction(() => rows.confirm(sql, { ...sent, grants: [] }));
      case "stale":
        return sql.transaction(() => rows.raiseSeq(sql, answer.seq));
      default:
        return assertNever(answer);
    }
  }

  /** Reports, and gives up what is not reserved. */
  async report(owner: Owner): Promise<void> {
    const { sql, clock } = this.host.deps;
    for (let tries = 0; tries < MOST_REPORTS; tries++) {
      const begun = sql.transaction(() => rows.beginReport(sql, [], clock()));
      const revision = rows.readWallet(sql)?.revision ?? -1;
      const input = { session: owner.session, seq: begun.seq, revision, rows: begun.rows.map((row) => ({ ...withoutKey(row), need: 0 })) };
      const answer = await owner.source.renew(input);
      this.#take(owner, { ...begun, revision }, answer);
      if (answer.kind !== "stale") return;
    }
    throw new Error("The tenant's object knows later reports of this session");
  }

  /**
   * Reports for the last time: calls that have not ended are charged with all that was reserved. It writes nothing, because the disk may be
   * full, and may be repeated.
   */
  async close({ tenant, session }: Pick<Owner, "tenant" | "session">): Promise<void> {
    const { sql, clock, budgets } = this.host.deps;
    const last = this.host.exists ? rows.readLastReport(sql, clock()) : null;
    if (!last) return;
    let { seq } = last;
    const reported = last.rows.map((row) => ({ ...withoutKey(row), need: 0 }));
    for (let tries = 0; tries < MOST_REPORTS; tries++) {
      const answer = await budgets(tenant).renew({ session, seq, revision: -1, rows: reported });
      if (answer.kind !== "stale") return;
      seq = answer.seq + 1;
    }
    throw new Error("The tenant's object knows later reports of this session");
  }
}
