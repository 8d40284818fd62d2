/** Tells end users apart where their names must not be stored. Who knows a name can compute it, as `docs/erasing-people.md` shows. */
import type { TenantId } from "../domain/ids";
import { sha256 } from "../lib/sha256";

export const digestEndUser = (tenant: TenantId, endUser: string): Promise<string> => sha256(`${tenant}/${endUser}`);
