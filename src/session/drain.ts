/** The outbox's drain: one at a time, from the checkpoint to the end of the log; the alarm comes back for what is left. */
import { type ProjectionLimit, type ProjectionSource, projectSession } from "../app/project";
import type { StoredEvent } from "../domain/events";
import type { BodyId } from "../domain/ids";
import { readBodies } from "./bodies";
import { readEvents } from "./event-log";
import { readMeta, writeMeta } from "./log-schema";
import type { SessionRuntime } from "./runtime";

const CHECKPOINT = "projected_seq";

export interface Drain {
  /** Projects what is new, unless that is going on. */
  start(): void;
}

export function createDrain(runtime: SessionRuntime): Drain {
  let running = false;
  const run = async (): Promise<void> => {
    const { tenant } = runtime.state;
    if (!tenant) return;
    const attempt = runtime.jobs.get("project")?.attempts ?? 0;
    const { clock, log } = runtime.deps;
    const outcome = await projectSession({ source: sourceOf(runtime), projection: runtime.deps.projection(tenant), log }, attempt);
    if (!runtime.exists || runtime.state.lifecycle !== "open") return;
    if (outcome.done) runtime.jobs.disarm("project");
    else runtime.jobs.arm("project", clock() + outcome.retryInMs, attempt + 1);
    runtime.syncAlarm();
  };
  return {
    start() {
      if (running || !isBehind(runtime)) return;
      running = true;
      const done = run().finally(() => {
        running = false;
      });
      runtime.deps.background(done);
    },
  };
}

const checkpointOf = (runtime: SessionRuntime): number => (runtime.exists ? Number(readMeta(runtime.deps.sql, CHECKPOINT) ?? 0) : 0);
const isBehind = (runtime: SessionRuntime): boolean => checkpointOf(runtime) < runtime.state.seq;

function sourceOf(runtime: SessionRuntime): ProjectionSource {
  const { sql } = runtime.deps;
  return {
    checkpoint: () => checkpointOf(runtime),
    setCheckpoint: (seq) => writeMeta(sql, CHECKPOINT, String(seq)),
    read(after, limit) {
      const { tenant, session } = runtime.state;
      if (!tenant || !session) throw new TypeError("a session without a name has nothing to project");
      return { tenant, session, ...readPage(runtime, after, limit) };
    },
  };
}

/** Events after `after` with their bodies, within the limit; the first event always, whatever it weighs. */
export function readPage(
  runtime: SessionRuntime,
  after: number,
  limit: ProjectionLimit,
): { events: StoredEvent[]; bodies: Map<BodyId, string> } {
  const { sql } = runtime.deps;
  const events: StoredEvent[] = [];
  const bodies = new Map<BodyId, string>();
  let bytes = 0;
  for (const event of readEvents(sql, after, limit.events)) {
    const found = readBodies(sql, bodiesOf(event));
    const weight = [...found.values()].reduce((sum, text) => sum + text.length, 0);
    if (events.length > 0 && bytes + weight > limit.bytes) break;
    bytes += weight;
    events.push(event);
    for (const [id, text] of found) bodies.set(id, text);
  }
  return { events, bodies };
}

/** The bodies that an event introduces. */
function bodiesOf(event: StoredEvent): BodyId[] {
  switch (event.type) {
    case "SessionOpened":
      return refs([event.settings.title, event.settings.system]);
    case "SettingsChanged":
      return refs([event.changes.title ?? null, event.changes.system ?? null]);
    case "MessagesAppended":
      return event.items.map((item) => item.id);
    case "TurnStarted":
      return event.item ? [event.item.id] : [];
    case "AssistantReplied":
    case "ToolCalled":
    case "ToolResultRecorded":
      return [event.item.id];
    case "EpochChanged":
      return event.ops.flatMap((op) => (op.op === "summarize" ? [op.overlay] : []));
    default:
      return [];
  }
}

const refs = (texts: readonly ({ readonly body: BodyId } | null)[]): BodyId[] => texts.flatMap((text) => (text ? [text.body] : []));
