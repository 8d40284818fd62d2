/** What `http` and tenants' objects may ask of the deployment's object, which owns the list of tenants and the admin keys. */
import type { AdminKeyView, ListedTenant } from "../contract/deployment";
import type { Budget, LimitSetInput, TenantAssignment, TenantPlan } from "../contract/limits";
import type { Page } from "../contract/page";
import type { AdminRole } from "../domain/admin-roles";
import type { AdminKeyId, TenantId } from "../domain/ids";
import type { TenantStatus } from "../domain/tenant-status";
import type { Result } from "../lib/result";
import type { DeploymentAuditApi } from "./audit-api";
import type { Act } from "./audit-chain";
import type { Condition, UnmetCondition } from "./conditions";
import type { Idempotency } from "./session-api";
import type { TenantError } from "./tenant-api";

export interface ListedTenantsQuery {
  /** The last tenant of the page before. Null: the first page. */
  readonly after: Pick<ListedTenant, "id" | "created_at"> | null;
  readonly limit: number;
  /** By the time of creation. */
  readonly order: "asc" | "desc";
  /** A part of the name, in either case. Null: all. */
  readonly name: string | null;
  /** Null: all. */
  readonly status: TenantStatus | null;
}

/** The identity and rights of an admin. */
export interface AdminPrincipal {
  /** Null: the caller has ADMIN_KEY. */
  readonly key: AdminKeyId | null;
  readonly role: AdminRole;
  /** Epoch milliseconds. Null: never. */
  readonly expires_at: number | null;
}

export type AdminKeyError =
  | Extract<TenantError, { readonly code: "key_not_found" | "beyond_own_key" | "own_key_ended" | "key_limit" | "idempotency_conflict" }>
  /** Without this key there would be no owner, now or when those that remain have expired. */
  | { readonly code: "last_owner" }
  /** The key is valid no more, or another key has come in its place already. */
  | { readonly code: "key_ended"; readonly became: "revoked" | "expired" | "rotated"; readonly rotated_to: AdminKeyId | null };

export type AdminKeyOutcome = Result<AdminKeyView, AdminKeyError>;

/** `hash`: the keyed hash of the whole key. The key itself is never stored. */
export interface NewSecret {
  readonly id: AdminKeyId;
  readonly hash: string;
}

/** Who asks for a change of admin keys. With a repeated idempotency key: the first request's key; its `id` then differs from the given one. */
interface AdminRequest {
  /** Null: the caller has ADMIN_KEY, and is not limited by a key's rights. */
  readonly by: AdminKeyId | null;
  readonly idempotency: Idempotency | null;
}

export interface NewAdminKey extends NewSecret, AdminRequest {
  readonly name: string;
  readonly role: AdminRole;
  readonly expires_at: number | null;
}

export interface AdminKeyRotation extends AdminRequest {
  readonly old: AdminKeyId;
  readonly next: NewSecret;
  /** How long both keys are valid, in milliseconds. */
  readonly overlap: number;
}

export interface AdminKeyRevocation {
  readonly id: AdminKeyId;
  readonly by: AdminKeyId | null;
  /** The deployment has ADMIN_KEY, an owner beside the stored keys. */
  readonly hasAdminKey: boolean;
}

export type PlanError =
  | { readonly code: "plan_not_found"; readonly plan: string }
  /** The deployment has as many tenant plans as it may have. */
  | { readonly code: "plan_limit"; readonly limit: number }
  | { readonly code: "plan_in_use"; readonly tenants: number }
  | UnmetCondition;

export type PlanOutcome<T> = Result<T, PlanError>;

export interface PlanChange extends Pick<TenantPlan, "name" | "limits" | "budgets"> {
  readonly condition?: Condition | undefined;
}

/** An absent field is unchanged, and null removes. */
export interface AssignmentChange {
  readonly tenant: TenantId;
  readonly plan?: string | null;
  readonly limits?: LimitSetInput | null;
  readonly budgets?: readonly Budget[] | null;
}

/** Calls with an `act` make an entry in the deployment's audit log, in the transaction of the change. */
export interface DeploymentApi extends DeploymentAuditApi {
  /** Enters tenants in the list. One that is there gets the name that is given. Repeating it changes nothing. */
  registerTenants(tenants: readonly ListedTenant[]): Promise<{ readonly added: number }>;
  /** As `registerTenants`, for the repair of the list. */
  rebuildTenantList(act: Act, tenants: readonly ListedTenant[]): Promise<{ readonly added: number }>;
  /** Notes that the tenant was deleted, and forgets its name. The entry stays, so that nothing brings it back. */
  closeTenant(tenant: TenantId, at: number): Promise<void>;
  listTenants(query: ListedTenantsQuery): Promise<Page<ListedTenant>>;

  addAdminKey(act: Act, key: NewAdminKey): Promise<AdminKeyOutcome>;
  /** All keys, newest first. They are bounded. */
  listAdminKeys(): Promise<readonly AdminKeyView[]>;
  getAdminKey(id: AdminKeyId): Promise<AdminKeyOutcome>;
  revokeAdminKey(act: Act, revocation: AdminKeyRevocation): Promise<AdminKeyOutcome>;
  /** Makes a key with the same name, role and expiry, and lets the old one end after the overlap. */
  rotateAdminKey(act: Act, rotation: AdminKeyRotation): Promise<AdminKeyOutcome>;
  /**
   * Null when there is no such key, or it has expired or was revoked. `beside`: the key's hash under the other pepper of a rotation. A key that
   * has that is stored under `hash` from then on.
   */
  authenticateAdmin(hash: string, beside: string | null): Promise<AdminPrincipal | null>;
  /** Notes that the key is in use. */
  noteAdminUse(id: AdminKeyId): Promise<void>;

  /** Replaces the plan of that name. A plan that says the same already keeps its version. */
  putPlan(act: Act, change: PlanChange): Promise<PlanOutcome<TenantPlan>>;
  getPlan(name: string): Promise<PlanOutcome<TenantPlan>>;
  /** All plans, in order of name. They are bounded. */
  listPlans(): Promise<readonly TenantPlan[]>;
  deletePlan(act: Act, name: string, condition?: Condition): Promise<PlanOutcome<null>>;
  /** Tells the tenant's object at once. Where that fails, the alarm tells it until it has confirmed. */
  assignPlan(act: Act, change: AssignmentChange): Promise<PlanOutcome<TenantAssignment>>;
}
