/** Forgets former end users whom model calls are counted for. The events stay as they are: only the text of a name is deleted. */
import type { OwnerApi } from "../../app/owner-api";
import type * as api from "../../app/session-api";
import type { BodyId } from "../../domain/ids";
import { ok } from "../../lib/result";
import { deleteBodies, readBodies } from "../log/bodies";
import { listNamelessCalls, listOwnerBodies } from "../log/event-log";
import { noteScrub, type ScrubHost, scrubDeleted } from "../scrub";
import type { Session } from "../session";

interface Projecting {
  readonly drain: { start(): void; isBehind(): boolean };
}

/** Names of former end users that calls are counted for. */
function readFormer({ state, deps: { sql } }: Session): ReadonlyMap<BodyId, string> {
  const present = state.settings.end_user?.body;
  return readBodies(
    sql,
    listOwnerBodies(sql).filter((id) => id !== present),
  );
}

export const listFormer = (session: Session): api.Outcome<readonly string[]> => ok([...new Set(readFormer(session).values())]);

export async function forgetFormer(
  session: Session & Projecting & ScrubHost,
  names: Parameters<OwnerApi["forgetEndUsers"]>[1],
): Promise<api.Outcome<boolean>> {
  const { deps, state, drain } = session;
  const named = [...readFormer(session)].flatMap(([id, name]) => (names.includes(name) ? [id] : []));
  deps.sql.transaction(() => {
    deleteBodies(deps.sql, named);
    if (named.length > 0) noteScrub(session);
  });
  await scrubDeleted(session);
  const { tenant, session: id } = state;
  if (!tenant || !id || state.settings.throwaway) return ok(true);
  // A batch on its way may have a name that was read before. The read model refuses it once it has all events.
  if (drain.isBehind()) {
    drain.start();
    return ok(false);
  }
  return ok(await deps.projection(tenant).forgetEndUsers({ tenant, session: id, calls: listNamelessCalls(deps.sql) }));
}
