/** The digest that replaces an end user's name where no name may be stored. With the name, anyone can compute it (`docs/erasing-people.md`). */
import type { TenantId } from "../domain/ids";
import { sha256Sync } from "../lib/sha256-sync";

export const digestEndUser = (tenant: TenantId, endUser: string): string => sha256Sync(`${tenant}/${endUser}`);
