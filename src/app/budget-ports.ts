/** What sessions, `http` and a tenant's object say to each other about budgets. */
import type { SessionId } from "../domain/ids";
import type { Result } from "../lib/result";
import type { CounterRef, KnownBudgets } from "./budget-counters";
import type { CallNeed } from "./call-charge";

/** One counter in a session's report. All in counted units. */
export interface RenewRow {
  readonly ref: CounterRef;
  /** By this session, since it first touched the counter. */
  readonly spent: number;
  /** Reserved for calls under way. Whatever else the session held it gives up with this report. */
  readonly held: number;
  /** 0: the session reports and asks for nothing. */
  readonly need: number;
  /** Calls beside the next one that it would be granted. */
  readonly ahead: number;
}

/** Reports what was spent, gives up what is not reserved, and asks for what the next call needs: in one step. */
export interface RenewInput {
  readonly session: SessionId;
  /** Grows with each report. A report that comes after a newer one changes nothing. */
  readonly seq: number;
  /** The revision of the budgets that the session knows. */
  readonly revision: number;
  readonly rows: readonly RenewRow[];
  /** The session is being erased: it reports for the last time. */
  readonly closes?: true;
}

/** Why a call may not be made: the counter that has no room. In dollars or tokens. `reserved`: by all sessions. */
export interface ExhaustedBudget {
  readonly code: "budget_exhausted";
  readonly budget: string;
  readonly of: CounterRef["of"];
  readonly unit: CounterRef["unit"];
  readonly amount: number;
  readonly spent: number;
  readonly reserved: number;
  /** Epoch milliseconds. */
  readonly resets_at: number;
}

/** Nothing is known to be left, and the tenant's object cannot be asked. */
interface UnknownBudgets {
  readonly code: "budgets_unavailable";
}

export type BudgetRefusal = ExhaustedBudget | UnknownBudgets;

interface Grant {
  readonly counter: string;
  /** Counted units. */
  readonly granted: number;
  readonly tight: boolean;
}

export type RenewAnswer =
  | { readonly kind: "granted"; readonly grants: readonly Grant[] }
  /** The report is taken, and nothing is granted. */
  | { readonly kind: "refused"; readonly refusal: ExhaustedBudget }
  /** The report is taken, and nothing is granted: the budgets are others than the session knows. */
  | { readonly kind: "changed"; readonly known: KnownBudgets }
  /** Nothing is taken: a report of this seq or a later one came before. `seq`: the newest. */
  | { readonly kind: "stale"; readonly seq: number };

/** A tenant's budgets as its sessions reach them. */
export interface BudgetSource {
  /** What this isolate knows and need not look up again. Null: it must. */
  peek(): KnownBudgets | null;
  /** Throws when nothing is known and the tenant's object is out of reach. */
  lookUp(): Promise<KnownBudgets>;
  /** Takes over what a renewal said. */
  learn(known: KnownBudgets): void;
  /** Throws when the tenant's object is out of reach. */
  renew(input: RenewInput): Promise<RenewAnswer>;
}

type Held = { readonly kind: "held"; readonly reservation: number | null } | { readonly kind: "short" };

/** Pays for the calls of one session. Reserving is synchronous, so that nothing comes between it, the request and the call. */
export interface CallBudgets {
  /** Whether a budget counts calls of that purpose, which then must name the most tokens of their reply. True while that is not known. */
  applies(purpose: CallNeed["purpose"]): boolean;
  /** Looks up whether a budget counts calls, so that `applies` knows. Never rejects. */
  learn(): Promise<void>;
  /** Reserves from what the session was granted. `reservation` null: no budget counts the call. `short`: call `obtain` first. */
  hold(need: CallNeed): Held;
  /** Asks the tenant's object for what the call needs. Afterwards `hold` may still be short, if another call took it. */
  obtain(need: CallNeed): Promise<Result<null, BudgetRefusal>>;
  /** Whether a call that a provider refused may be made again: it has a reservation, or no budget counts it by now. Never rejects. */
  isPaid(call: Pick<CallNeed, "purpose"> & { readonly reservation?: number | undefined }): Promise<boolean>;
  /** Ends a reservation whose call was not made. Null: none. */
  release(reservation: number | null): void;
}
