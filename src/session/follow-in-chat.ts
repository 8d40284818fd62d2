/**
 * Asks the session's chat to follow the turns that schedules started, so that their replies appear there. A person's turn needs none of this: the
 * chat began it. The job is armed in the transaction of the run and outlives the object. A repetition is harmless: the chat knows it by its seq.
 */
import type { StoredEvent } from "../domain/events";
import type { SessionState } from "../domain/state";
import { backOff } from "../lib/back-off";
import { toErrorName } from "../lib/error-name";
import { readFollowed, readOwnChat, writeFollowed } from "./log/chat-mark";
import { findStartedRun } from "./log/event-log";
import type { Jobs } from "./log/jobs";
import type { RuntimeDeps } from "./runtime-deps";
import { RECOVER_AFTER_MS } from "./watch";

const WAIT = { first: 1_000, longest: 10 * 60_000 } as const;
/** A run that is older and was refused once more is given up. Each run is tried at least once, however long the object was away. */
const GIVE_UP_MS = 24 * 60 * 60 * 1_000;

interface FollowHost {
  readonly exists: boolean;
  readonly state: SessionState;
  readonly jobs: Jobs;
  readonly deps: Pick<RuntimeDeps, "sql" | "clock" | "log" | "chats">;
  syncAlarm(): void;
}

/** Runs in the transaction of the events. A session that belongs to no chat costs one read for each run, and no call. */
export function noteRuns({ jobs, deps }: Pick<FollowHost, "jobs" | "deps">, events: readonly StoredEvent[]): void {
  const run = events.find((event) => event.type === "ScheduleRan" && event.turn !== null);
  if (!run || !deps.chats || !readOwnChat(deps.sql)) return;
  if (!jobs.get("follow_in_chat")) writeFollowed(deps.sql, run.seq - 1);
  jobs.armIfIdle("follow_in_chat", deps.clock() + RECOVER_AFTER_MS);
}

/** Never rejects. What the chat could not take is left to the alarm. */
export async function followInChat(host: FollowHost): Promise<void> {
  try {
    while (isOpen(host)) if (!(await followNext(host))) return;
    if (host.exists) host.jobs.disarm("follow_in_chat");
  } catch (error) {
    // The disk may be full. The job is still armed for the time that the alarm or the commit gave it.
    host.deps.log.error("follow_threw", { error: toErrorName(error) });
  }
}

const isOpen = ({ exists, state }: FollowHost): boolean => exists && state.lifecycle === "open";

/** Returns false when there is nothing more to do for now. */
async function followNext(host: FollowHost): Promise<boolean> {
  const { deps, state, jobs } = host;
  const { tenant, session } = state;
  const chat = readOwnChat(deps.sql);
  const run = findStartedRun(deps.sql, readFollowed(deps.sql));
  if (!run?.turn || !chat || !tenant || !session || !deps.chats) {
    jobs.disarm("follow_in_chat");
    return false;
  }
  const { seq, at, turn } = run;
  const address = { tenant, ...chat };
  try {
    await deps.chats(address).follow(address, { session, turn, seq });
  } catch (error) {
    deps.log.warn("not_followed_in_chat", { turn, error: toErrorName(error) });
    if (!isOpen(host)) return false;
    if (deps.clock() - at < GIVE_UP_MS) return tryLater(host);
  }
  // The session may have been erased meanwhile, and another call may be further.
  if (isOpen(host) && readFollowed(deps.sql) < seq) writeFollowed(deps.sql, seq);
  return true;
}

function tryLater(host: FollowHost): false {
  const attempts = host.jobs.get("follow_in_chat")?.attempts ?? 0;
  host.jobs.arm("follow_in_chat", host.deps.clock() + backOff(attempts, WAIT), attempts + 1);
  host.syncAlarm();
  return false;
}
