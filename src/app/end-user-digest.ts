/** What stands for an end user where no name may be stored. Who knows the name can compute it, as `docs/erasing-people.md` shows. */
import type { TenantId } from "../domain/ids";
import { sha256Sync } from "../lib/sha256-sync";

export const digestEndUser = (tenant: TenantId, endUser: string): string => sha256Sync(`${tenant}/${endUser}`);
