/** What a tenant's object answers of the tenant's limits. */
import type { LimitUse } from "../contract/limit-use";
import type { Budget, LimitSet } from "../contract/limits";
import type { KeyId } from "../domain/ids";
import type { PastAct } from "./audit-chain";
import type { RateAsk, RateGrant } from "./rate-grants";
import type { SlotCall, SlotGrant } from "./slot-grants";

/** `end_user`: of the caller's access token. Null: none. */
export interface LimitedCaller {
  readonly key: KeyId;
  readonly end_user: string | null;
}

/** What the deployment's object tells a tenant's: the limits in effect, and what they come from. */
export interface AssignedLimits {
  /** Counts all changes of plans and assignments. The tenant's object keeps the newest. */
  readonly revision: number;
  readonly limits: LimitSet;
  /** Null or absent: none. */
  readonly plan?: string | null;
  /** The budgets of the plan and the tenant's own. */
  readonly budgets?: readonly Budget[];
  /** Who made the newest change, for the tenant's audit log. Null or absent: a build that did not keep it. */
  readonly act?: PastAct | null;
}

export interface TenantLimitsApi {
  /** Replaces the limits of the tenant, unless a newer revision of the deployment's changes replaced them already. Returns the newest. Null: no such tenant. */
  setLimits(assigned: AssignedLimits): Promise<{ readonly revision: number } | null>;
  /** Every limit that applies to the caller, and what is used of it. Null: no such tenant. */
  limitUse(caller: LimitedCaller): Promise<readonly LimitUse[] | null>;
  /** What the deployment told last. Null: no such tenant, or nothing. */
  assigned(): Promise<AssignedLimits | null>;
  /** Leases slots of turns and streams. A repeated or late call changes nothing. Null: no such tenant. */
  takeSlots(call: SlotCall): Promise<readonly SlotGrant[] | null>;
  /** Grants blocks of the present minute's rates. A repeated call grants again: what its first answer granted is then not used. Null: no such tenant. */
  takeRates(asks: readonly RateAsk[]): Promise<readonly RateGrant[] | null>;
}
