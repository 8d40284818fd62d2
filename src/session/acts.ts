/**
 * Acts in a session for the tenant's audit log. Each is a row in the transaction of its events, so that it is there if and only if something
 * was changed. The rows wait until the tenant's object has them; there a second delivery adds nothing.
 */
import type { ActRecorder } from "../app/ports";
import type { Caller } from "../app/session-api";
import type { AuditSubject } from "../contract/audit";
import type { StoredEvent } from "../domain/events";
import { backOff } from "../lib/back-off";
import { toErrorName } from "../lib/error-name";
import { addAct, forgetActs, readActs } from "./log/act-rows";
import type { Jobs } from "./log/jobs";
import type { SessionRuntime } from "./runtime";
import type { RuntimeDeps } from "./runtime-deps";
import type { Session } from "./session";
import { RECOVER_AFTER_MS } from "./watch";

type ActCaller = Caller & { readonly act: NonNullable<Caller["act"]> };

interface ActHost {
  readonly exists: boolean;
  readonly jobs: Jobs;
  readonly deps: Pick<RuntimeDeps, "sql" | "clock" | "log"> & { readonly acts: (tenant: Caller["tenant"]) => ActRecorder };
}

const LONGEST_RETRY_MS = 60 * 60 * 1_000;
/** Acts that are delivered in one call. */
const DELIVERED = 100;

/** Ids and names of fields, never content. */
function describeEvents(events: readonly StoredEvent[]): AuditSubject["details"] {
  const [compaction] = events.flatMap((event) => ("compaction" in event ? [event.compaction] : []));
  const [message] = events.flatMap((event) => (event.type === "MessageRedacted" ? [event.item] : []));
  const fields = events.flatMap((event) => (event.type === "SettingsChanged" ? Object.keys(event.changes).sort() : []));
  const event_seq = events.at(-1)?.seq;
  return { ...(fields.length > 0 && { fields }), ...(message && { message }), ...(compaction && { compaction }), event_seq };
}

/** What to do in the transaction of an act's events. */
export const noteAct =
  ({ deps, jobs }: ActHost, { act, session }: ActCaller, action: AuditSubject["action"]) =>
  (events: readonly StoredEvent[]): void => {
    const seq = events.at(-1)?.seq;
    if (seq === undefined) return;
    const at = deps.clock();
    const subject = { action, target: { type: "session", id: session } as const, details: describeEvents(events) };
    addAct(deps.sql, { seq, at, actor: act.actor, request_id: act.request_id, subject });
    jobs.armIfIdle("record_acts", at + RECOVER_AFTER_MS);
  };

/** The session as an act's call sees it: what it changes is noted. */
export function actAs(runtime: SessionRuntime, note: ReturnType<typeof noteAct>) {
  const { deps, content, buffer, knownModel, limits, jobs } = runtime;
  const acting: Session & { readonly jobs: Jobs; readonly exists: boolean } = {
    deps,
    content,
    buffer,
    knownModel,
    limits,
    jobs,
    get state() {
      return runtime.state;
    },
    get exists() {
      return runtime.exists;
    },
    execute: (command, bodies) => runtime.execute(command, bodies, note),
    transact: (work) => runtime.transact(work, note),
    ports: () => ({ ...runtime.ports(), writer: acting }),
  };
  return acting;
}

/** Delivers what waits, oldest first. Rejects when the tenant's object is out of reach. */
export async function deliverActs(host: ActHost, { tenant, session }: Caller): Promise<void> {
  while (host.exists) {
    const acts = readActs(host.deps.sql, DELIVERED);
    const last = acts.at(-1);
    if (!last) return host.jobs.disarm("record_acts");
    await host.deps.acts(tenant).record(session, acts);
    if (host.exists) forgetActs(host.deps.sql, last.seq);
  }
}

/** Never rejects. What could not be delivered is left to the alarm. */
export async function deliverActsSoon(host: ActHost & { syncAlarm(): void }, caller: Caller): Promise<void> {
  try {
    await deliverActs(host, caller);
  } catch (error) {
    host.deps.log.warn("acts_not_recorded", { error: toErrorName(error) });
    if (!host.exists) return;
    const attempts = host.jobs.get("record_acts")?.attempts ?? 0;
    const wait = backOff(attempts, { first: RECOVER_AFTER_MS, longest: LONGEST_RETRY_MS });
    host.jobs.arm("record_acts", host.deps.clock() + wait, attempts + 1);
    host.syncAlarm();
  }
}
