/**
 * Erases a session. The tenant's object notes the erasure first and keeps the note until every store has reported, so that an interrupted
 * erasure is found and finished: by the next request for it, or by the tenant's alarm. A repeated request continues it.
 *
 * A note cannot be taken back, so an erasure under a condition begins in the session's object, which compares. That object has the erasure
 * noted before it empties itself, when it hands over what the session used.
 */

import type { ErasureReceipt, SessionErasure } from "../contract/session";
import type { SessionId } from "../domain/ids";
import { ok, type Result } from "../lib/result";
import type { Condition } from "./conditions";
import type { ErasureNote, TenantErasureApi } from "./erasure-api";
import { listPending, toBucketStores } from "./erasure-view";
import type { TenantFilesApi } from "./file-api";
import type { Outcome, SessionError } from "./session-api";
import type { TenantError } from "./tenant-api";

interface ErasurePorts<E> {
  readonly tenant: Pick<TenantErasureApi, "noteErasure" | "endErasure"> &
    Pick<TenantFilesApi, "releaseFiles"> & { beginErasure(note: ErasureNote): ReturnType<TenantErasureApi["beginErasure"]> };
  /** `isNoted`: the session is known to have existed, whatever its object still holds. */
  readonly erase: (isNoted: boolean, condition?: Condition) => Promise<Outcome<ErasureReceipt>>;
  /** Whether the read model still has a row of the session. */
  readonly isListed: () => Promise<Result<boolean, E>>;
}

interface ErasureRequest {
  readonly session: SessionId;
  /** With its forks, and forks of these. Absent: it alone. */
  readonly forks?: boolean | undefined;
  readonly condition?: Condition | undefined;
}

type Erased<E> = Result<SessionErasure, SessionError | TenantError | E>;

export async function eraseSession<E>({ session, forks = false, condition }: ErasureRequest, ports: ErasurePorts<E>): Promise<Erased<E>> {
  const { tenant, erase, isListed } = ports;
  if (condition) {
    const compared = await erase(false, condition);
    if (!compared.ok) return compared;
    if (forks) await tenant.beginErasure({ session, isKnown: false, forks });
    return report(compared.value, tenant);
  }
  const begun = await tenant.beginErasure({ session, isKnown: false, forks });
  if (!begun.ok) return begun;
  const erased = await erase(begun.value.noted);
  if (erased.ok) return report(erased.value, tenant);
  if (begun.value.noted || erased.error.code !== "session_not_found") return erased;
  // An object without data may be what an erasure left that was never noted.
  const listed = await isListed();
  if (!listed.ok) return listed;
  if (!listed.value) return erased;
  await tenant.beginErasure({ session, isKnown: true, forks });
  const cleared = await erase(true);
  return cleared.ok ? report(cleared.value, tenant) : cleared;
}

async function report(receipt: ErasureReceipt, tenant: ErasurePorts<never>["tenant"]): Promise<Result<SessionErasure, TenantError>> {
  // After the session: until its end it could refer to another file.
  const released = await tenant.releaseFiles(receipt.id);
  if (!released.ok) return released;
  const stores = [...receipt.stores, ...toBucketStores(released.value)];
  const isDone = stores.every(({ status }) => status === "erased");
  const noted = await (isDone ? tenant.endErasure(receipt.id) : tenant.noteErasure(receipt.id, listPending(stores)));
  if (!noted.ok) return noted;
  const directory = { store: "directory", status: isDone ? "erased" : "pending", rows: null } as const;
  return ok({ ...receipt, erasure_id: noted.value, stores: [...stores, directory] });
}
