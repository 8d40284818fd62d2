/** What a simulated session runs on: its database, and the ports of one that has nothing beside it. A world replaces what it is about. */
import { NO_BUDGETS } from "../../scripts/support/no-budgets";
import { createNodeSql } from "../../scripts/support/node-sql";
import type { ChatModel } from "../../src/app/ports";
import type { Sql } from "../../src/session/log/sql";
import type { RuntimeDeps } from "../../src/session/runtime-deps";
import { MODELS } from "./profile";
import type { Random } from "./random";
import type { Scheduler, Scope } from "./scheduler";
import type { Violations } from "./violation";

const SILENT = { info: () => {}, warn: () => {}, error: () => {} };
const DEADLINES = { firstTokenMs: 60_000, idleMs: 60_000, thinkingMs: 5 * 60_000, totalMs: 15 * 60_000 } as const;

interface QuietWorld {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly violations: Violations;
  readonly newId: RuntimeDeps["ids"]["newId"];
}

/** A new database. The platform removes the alarm together with the data. */
export function createSessionSql(clearAlarm: () => void): Sql {
  const base = createNodeSql();
  return {
    ...base,
    wipe: () => {
      clearAlarm();
      return base.wipe();
    },
  };
}

/** Drawn for each call, or each word, when it is needed. */
interface SlowModel {
  /** The most milliseconds that a word takes. */
  readonly longest: () => number;
  /** How many words there are. Absent: one. */
  readonly words?: () => number;
  /** Whether a tool is called. Absent: never. */
  readonly calls?: () => boolean;
}

/** A model that says words slowly. */
export function createSlowModel(
  { scheduler, random }: Pick<QuietWorld, "scheduler" | "random">,
  scope: Scope,
  { longest, words = () => 1, calls = () => false }: SlowModel,
): ChatModel {
  return {
    render: async () => ({ url: "", body: "" }),
    stream: async function* (_, { signal }) {
      for (let left = words(); left > 0; left--) {
        await scheduler.sleep(scope, random.int(0, longest()), "the model writes");
        if (signal.aborted) return yield { type: "failure", failure: { kind: "aborted", status: null } };
        yield { type: "text", text: "word " };
      }
      const asks = calls();
      if (asks) yield { type: "tool_call", call: { type: "tool_call", call_id: "c", name: "look", arguments: "{}" } };
      yield { type: "finish", finish: asks ? "tool_calls" : "stop", usage: { input: 10, output: 5, cached: 0, reasoning: 0 } };
    },
  };
}

type QuietPorts = Omit<RuntimeDeps, "sql" | "model" | "setAlarm">;

/** No read model, queue, tools, budgets or files. */
export function createQuietPorts({ scheduler, random, violations, newId }: QuietWorld, scope: Scope): QuietPorts {
  return {
    clock: () => scheduler.now,
    ids: { newId },
    incarnation: scope.name,
    random: () => random.next(),
    schedule: (ms, work) => scheduler.timer(scope, { ms, label: `${ms} ms` }, work),
    background: (work) => void work.catch((error: unknown) => violations.report("I15", `background work threw ${String(error)}`)),
    tools: () => ({ needsApproval: async () => false, run: async () => ({ output: "", failure: null }) }),
    budgets: () => NO_BUDGETS,
    models: () => ({ resolve: async () => MODELS.big ?? null }),
    queue: { send: async () => {} },
    projection: () => ({ write: async () => {}, erase: async () => ({ rows: 0 }), forgetEndUsers: async () => true }),
    isSuspended: async () => false,
    acts: () => ({ record: async () => {} }),
    usageArchive: () => ({ keep: async (_, usage) => usage, endThrowaway: async () => {} }),
    files: () => ({ keep: async () => {} }),
    digest: async (text) => text,
    deadlines: DEADLINES,
    log: SILENT,
  };
}
