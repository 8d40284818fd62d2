/**
 * Pays for a session's model calls from what the tenant's object grants (docs/budgets.md). Reserving and charging are steps of the session's
 * own database; only asking for more, and giving back, call the tenant's object. These calls run one after the other.
 */

import { type CounterRef, isBudgeted, type KnownBudgets, touchedCounters } from "../../app/budget-counters";
import type { BudgetRefusal, CallBudgets } from "../../app/budget-ports";
import type { CallNeed } from "../../app/call-charge";
import { digestEndUser } from "../../app/end-user-digest";
import type { StoredEvent } from "../../domain/events";
import type { TenantId } from "../../domain/ids";
import type { SessionState } from "../../domain/state";
import { backOff } from "../../lib/back-off";
import { toErrorName } from "../../lib/error-name";
import { err, ok, type Result } from "../../lib/result";
import { isStorageFull } from "../../lib/sync-sql";
import type { ContentReader } from "../content";
import type { RuntimeDeps } from "../runtime-deps";
import { armReturn, type Owner, RETURN_AFTER_MS, Renewals, type RenewingHost } from "./renewals";
import * as rows from "./wallet-rows";

/** Longer than any call may last, with its retries inside of the adapter and the time of its report. */
const RESERVED_MS = 30 * 60_000;
/** How often one call asks, where the answer was that the budgets have changed, or where another call took the grant. */
const MOST_ASKS = 4;
const FIRST_RETRY_MS = 30_000;
const LONGEST_RETRY_MS = 60 * 60 * 1_000;

interface WalletHost extends RenewingHost {
  readonly state: SessionState;
  readonly content: Pick<ContentReader, "readRefText">;
  readonly deps: RenewingHost["deps"] & Pick<RuntimeDeps, "incarnation" | "log" | "background">;
}

const UNAVAILABLE: BudgetRefusal = { code: "budgets_unavailable" };
const FREE = { kind: "held", reservation: null } as const;
const SHORT = { kind: "short" } as const;

export class Wallet implements CallBudgets {
  /** Ends when the calls of the tenant's object before it have ended. */
  #line: Promise<unknown> = Promise.resolve();
  #named: { readonly body: string; readonly digest: string } | null = null;

  readonly #renewals: Renewals;

  readonly host: WalletHost;

  constructor(host: WalletHost) {
    this.host = host;
    this.#renewals = new Renewals(host);
  }

  /** Null before the session is opened, and after its end: no model is called then. */
  #findOwner(): Owner | null {
    const { tenant, session, lifecycle } = this.host.state;
    return tenant && session && lifecycle === "open" ? { tenant, session, source: this.host.deps.budgets(tenant) } : null;
  }

  #digestOwner(tenant: TenantId): string | null {
    const ref = this.host.state.settings.end_user ?? null;
    if (!ref) return null;
    if (this.#named?.body === ref.body) return this.#named.digest;
    const name = this.host.content.readRefText(ref);
    if (name === null) return null;
    this.#named = { body: ref.body, digest: digestEndUser(tenant, name) };
    return this.#named.digest;
  }

  #touched(known: KnownBudgets, { purpose }: Pick<CallNeed, "purpose">, { tenant, session }: Owner): readonly CounterRef[] {
    if (!isBudgeted(known, purpose)) return [];
    const payer = { session, end_user: this.#digestOwner(tenant) };
    return touchedCounters(known, { purpose, payer, at: this.host.deps.clock() });
  }

  applies(purpose: CallNeed["purpose"]): boolean {
    const known = this.#findOwner()?.source.peek() ?? null;
    return known === null || isBudgeted(known, purpose);
  }

  async learn(): Promise<void> {
    const owner = this.#findOwner();
    if (!owner || owner.source.peek()) return;
    await owner.source.lookUp().catch(() => null);
  }

  hold(need: CallNeed): ReturnType<CallBudgets["hold"]> {
    const owner = this.#findOwner();
    if (!owner) return FREE;
    const known = owner.source.peek();
    if (!known) return SHORT;
    const refs = this.#touched(known, need, owner);
    if (refs.length === 0) return FREE;
    const { sql, clock, incarnation } = this.host.deps;
    const now = clock();
    const reservation = sql.transaction(() => {
      const life = need.byWorker ? null : incarnation;
      const by = { refs, bounds: need, revision: known.revision, incarnation: life, expiresAt: now + RESERVED_MS, now };
      const id = rows.reserve(sql, by);
      if (id !== null) this.#armJob();
      return id;
    });
    this.host.syncAlarm();
    return reservation === null ? SHORT : { kind: "held", reservation };
  }

  async isPaid({ purpose, reservation }: Parameters<CallBudgets["isPaid"]>[0]): Promise<boolean> {
    if (reservation !== undefined) return true;
    await this.learn();
    const owner = this.#findOwner();
    const known = owner?.source.peek() ?? null;
    return owner !== null && known !== null && this.#touched(known, { purpose }, owner).length === 0;
  }

  release(reservation: number | null): void {
    const { sql } = this.host.deps;
    if (reservation !== null && this.#findOwner()) sql.transaction(() => rows.release(sql, reservation));
  }

  obtain(need: CallNeed): Promise<Result<null, BudgetRefusal>> {
    return this.#inLine(() => this.#obtain(need));
  }

  /** Charges the calls that these events record, in their transaction. */
  settle(events: readonly StoredEvent[]): void {
    const { sql, clock } = this.host.deps;
    for (const event of events) {
      if (event.type !== "ModelCallFinished" || !event.reservation) continue;
      rows.settle(sql, event, clock());
      this.#armJob();
    }
  }

  /** Runs after a commit: between turns, what is left of a tight budget is returned at once. */
  returnIfTight(events: readonly StoredEvent[]): void {
    if (!events.some((event) => event.type === "ModelCallFinished" && event.reservation)) return;
    if (!this.host.state.turn && rows.hasTightCounter(this.host.deps.sql)) this.host.deps.background(this.giveBack());
  }

  /** Charges the calls that earlier lives of the object have left, and that they did not record. It runs at the start of a new life. */
  recover(): void {
    const { sql, incarnation } = this.host.deps;
    if (!this.#findOwner() || rows.nextExpiry(sql) === null) return;
    sql.transaction(() => {
      if (rows.chargeDead(sql, incarnation) > 0) this.#armJob();
    });
    this.host.syncAlarm();
  }

  /** The alarm's work: charges what has expired, reports and returns. Never rejects. */
  giveBack(): Promise<void> {
    return this.#inLine(() => this.#giveBack());
  }

  /** Reports for the last time, before the session's database is emptied. Rejects when the tenant's object is out of reach. */
  close(session: Pick<Owner, "tenant" | "session">): Promise<void> {
    return this.#inLine(() => this.#renewals.close(session));
  }

  #inLine<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#line.then(work, work);
    this.#line = done.catch(() => undefined);
    return done;
  }

  async #obtain(need: CallNeed): Promise<Result<null, BudgetRefusal>> {
    try {
      for (let asked = 0; asked < MOST_ASKS; asked++) {
        const answer = await this.#askOnce(need);
        if (answer === "granted") return ok(null);
        if (answer !== "again") return err(answer);
      }
    } catch (error) {
      if (isStorageFull(error)) throw error;
      this.host.deps.log.warn("budgets_unreachable", { error: toErrorName(error) });
    }
    return err(UNAVAILABLE);
  }

  async #askOnce(need: CallNeed): Promise<"granted" | "again" | BudgetRefusal> {
    const owner = this.#findOwner();
    const known = owner && (await owner.source.lookUp());
    if (!known || !this.#findOwner()) return UNAVAILABLE;
    const refs = this.#touched(known, need, owner);
    const paying = { refs, bounds: need, revision: known.revision };
    if (refs.length === 0 || rows.covers(this.host.deps.sql, paying)) return "granted";
    const answer = await this.#renewals.ask(owner, { known, refs, need });
    if (answer.kind === "granted") return "granted";
    return answer.kind === "refused" ? answer.refusal : "again";
  }

  async #giveBack(): Promise<void> {
    const { sql, clock, log } = this.host.deps;
    try {
      const owner = this.#findOwner();
      if (!owner) return;
      sql.transaction(() => rows.chargeExpired(sql, clock()));
      const isRested = (rows.readWallet(sql)?.used_at ?? 0) + RETURN_AFTER_MS <= clock() || rows.hasTightCounter(sql);
      if (isRested && rows.isOwing(sql)) await this.#renewals.report(owner);
      if (!this.#findOwner()) return;
      if (isRested) sql.transaction(() => rows.rest(sql, clock()));
      this.#armNext();
    } catch (error) {
      log.warn("budget_not_returned", { error: toErrorName(error) });
      if (this.#findOwner()) this.#armAgain();
    }
  }

  /** Within the transaction of what the job is for. */
  #armJob(): void {
    armReturn(this.host);
  }

  /** The next time at which there is something to do. Without any the job ends. */
  #armNext(): void {
    const { sql } = this.host.deps;
    const wallet = rows.readWallet(sql);
    const expiry = rows.nextExpiry(sql) ?? Number.POSITIVE_INFINITY;
    const due = wallet && rows.isOwing(sql) ? Math.min(expiry, wallet.used_at + RETURN_AFTER_MS) : expiry;
    if (Number.isFinite(due)) this.host.jobs.arm("budget", due);
    else this.host.jobs.disarm("budget");
    this.host.syncAlarm();
  }

  #armAgain(): void {
    const { jobs, deps } = this.host;
    try {
      const attempts = jobs.get("budget")?.attempts ?? 0;
      const wait = backOff(attempts, { first: FIRST_RETRY_MS, longest: LONGEST_RETRY_MS });
      jobs.arm("budget", deps.clock() + wait, attempts + 1);
      this.host.syncAlarm();
    } catch (error) {
      // The alarm armed it before, so it comes back.
      deps.log.error("budget_job_not_armed", { error: toErrorName(error) });
    }
  }
}
