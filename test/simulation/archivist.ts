/** People and the tenant's retention put the session away while others talk in it. An archived session is at rest, and what people do brings it back (I43). */
import { isDeepStrictEqual } from "node:util";
import { NO_RETENTION } from "../../src/app/retention";
import type { StoredEvent } from "../../src/domain/events";
import type { SessionState } from "../../src/domain/state";
import { attempt } from "./keeper";
import { CALLER, type World } from "./world";

/** None, or a quarter of an hour: a run of the simulation lasts no days. */
const IDLE_DAYS = [0, 0.01];
/** Longer than the rule, so that a session that is at rest comes due while all are away. */
const AWAY_MS = 60 * 60_000;
/** How often the tenant's alarm asks the session while all are away. */
const ALARM_MS = 10 * 60_000;

export async function putAway(world: World): Promise<void> {
  const { random, stats } = world;
  const act = random.weighted({ archive: 3, unarchive: 1, retain: 1, leave: 3 });
  if (act === "retain") return await retain(world, random.chance(0.2));
  if (act === "leave") return await leave(world);
  const done = await attempt(world, act, (service) => service[act](CALLER));
  stats.count(`${act}: ${done === null ? "unanswered" : done.ok ? "done" : done.error.code}`);
}

async function retain(world: World, isDryRun: boolean): Promise<void> {
  const setting = { ...NO_RETENTION, archive_sessions_after_days: world.random.pick(IDLE_DAYS) };
  const done = await attempt(world, "retention", (service) => service.retain(CALLER, { setting, isDryRun }));
  world.stats.count(`retention: ${done === null ? "unanswered" : done.ok ? `${done.value.due.length} due` : done.error.code}`);
}

/** All people stop for an hour, in which the clock moves and the tenant's alarm asks the session again and again. Then they go on. */
async function leave(world: World): Promise<void> {
  const { scheduler, clients } = world;
  world.awayUntil = scheduler.now + AWAY_MS;
  while (scheduler.now < world.awayUntil) {
    await scheduler.sleep(clients, ALARM_MS, "the tenant's alarm");
    await retain(world, false);
  }
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
    world.stats.count(event.cause === undefined ? "archived by hand" : "archived by a rule");
  }
  if (event.type === "SessionUnarchived") check(before.archived_at !== null, "the session was not archived");
}
