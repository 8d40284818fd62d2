/** What `http` and the sessions may ask of a tenant's object about its status. */
import type { Standing } from "../domain/tenant-status";
import type { Act } from "./audit-chain";
import type { TenantOutcome } from "./tenant-api";

export interface TenantStandingApi {
  /** For the deployment's admin. Repeating it changes nothing: the first time and reason stay. */
  suspend(act: Act, reason: string | null): Promise<TenantOutcome<Standing>>;
  /** For the deployment's admin. */
  resume(act: Act): Promise<TenantOutcome<Standing>>;
}
