/** People and the tenant's retention put the session away while others talk in it. An archived session is at rest, and what people do brings it back (I43). */
import { isDeepStrictEqual } from "node:util";
import { NO_RETENTION } from "../../src/app/retention";
import type { StoredEvent } from "../../src/domain/events";
import type { SessionState } from "../../src/domain/state";
import { attempt } from "./keeper";
import { CALLER, type World } from "./world";

/** None, or a quarter of an hour: a run of the simulation lasts no days. */
const IDLE_DAYS = [0, 0.01];

export async function putAway(world: World): Promise<void> {
  const { random, stats } = world;
  const act = random.weighted({ archive: 3, unarchive: 1, retain: 3 });
  if (act === "retain") {
    const setting = { ...NO_RETENTION, archive_sessions_after_days: random.pick(IDLE_DAYS) };
    const isDryRun = random.chance(0.2);
    const done = await attempt(world, "retention", (service) => service.retain(CALLER, { setting, isDryRun }));
    stats.count(`retention: ${done === null ? "unanswered" : done.ok ? `${done.value.due.length} due` : done.error.code}`);
    if (done?.ok && done.value.due.length > 0 && !isDryRun) stats.count("archived by retention");
    return;
  }
  const done = await attempt(world, act, (service) => service[act](CALLER));
  stats.count(`${act}: ${done === null ? "unanswered" : done.ok ? "done" : done.error.code}`);
}

/** What only people do. Nothing of it is ever in an archived session. */
const USES: ReadonlySet<StoredEvent["type"]> = new Set([
  "MessagesAppended",
  "MessageQueued",
  "TurnStarted",
  "HistoryRewound",
  "BranchSwitched",
  "DraftEdited",
]);

export function checkArchive(
  world: World,
  event: StoredEvent,
  states: { readonly before: SessionState; readonly after: SessionState },
): void {
  const { before, after } = states;
  const check = (holds: boolean, what: string) => world.violations.check(holds, "I45", () => `${event.type} at seq ${event.seq}: ${what}`);
  const isChange = event.type === "SessionArchived" || event.type === "SessionUnarchived";
  check(isChange || before.archived_at === after.archived_at, "it changed whether the session is archived");
  check(before.archived_at === null || !USES.has(event.type), "the session was used and stayed archived");
  check(after.archived_at === null || (after.turn === null && after.queue.length === 0), "the session was archived while it was in use");
  if (event.type === "SessionArchived") {
    const { seq, archived_at } = after;
    check(before.archived_at === null && isDeepStrictEqual(after, { ...before, seq, archived_at }), "it changed more than it should");
    if (event.cause === undefined) world.stats.count("archived by hand");
  }
  if (event.type === "SessionUnarchived") check(before.archived_at !== null, "the session was not archived");
}
