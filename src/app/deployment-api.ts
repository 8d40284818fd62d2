/** What `http` and tenants' objects may ask of the deployment's object, which owns the list of tenants. */
import type { Page } from "../contract/page";
import type { TenantId } from "../domain/ids";

/** A tenant as the deployment's list has it. */
export interface ListedTenant {
  readonly id: TenantId;
  readonly name: string;
  /** Epoch milliseconds. */
  readonly created_at: number;
}

export interface ListedTenantsQuery {
  /** The last tenant of the page before. Null: the first page. */
  readonly after: Pick<ListedTenant, "id" | "created_at"> | null;
  readonly limit: number;
  /** By the time of creation. */
  readonly order: "asc" | "desc";
  /** A part of the name, in either case. Null: all. */
  readonly name: string | null;
}

export interface DeploymentApi {
  /** Enters tenants in the list. One that is there gets the name that is given. Repeating it changes nothing. */
  registerTenants(tenants: readonly ListedTenant[]): Promise<{ readonly added: number }>;
  listTenants(query: ListedTenantsQuery): Promise<Page<ListedTenant>>;
}
