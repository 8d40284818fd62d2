/** The world as a session's object brings it, and as the simulation does. */
import type { ChatModel, Clock, CompactionQueue, Ids, Log, ModelDirectory, Projection, ToolRunner, UsageArchive } from "../app/ports";
import type { Deadlines, Schedule } from "../app/session-ports";
import type { TenantId } from "../domain/ids";
import type { Sql } from "./log/sql";

export interface RuntimeDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly ids: Ids;
  /** New with every life of the object in memory. */
  readonly incarnation: string;
  readonly schedule: Schedule;
  readonly setAlarm: (at: number) => void;
  /** Keeps the object alive until the work is done. */
  readonly background: (work: Promise<void>) => void;
  readonly model: ChatModel;
  readonly tools: (tenant: TenantId) => ToolRunner;
  readonly models: (tenant: TenantId) => ModelDirectory;
  readonly queue: CompactionQueue;
  readonly projection: (tenant: TenantId) => Projection;
  readonly usageArchive: (tenant: TenantId) => UsageArchive;
  readonly random: () => number;
  readonly digest: (text: string) => Promise<string>;
  readonly deadlines: Deadlines;
  /** Packs of the live stream that are kept; absent: as many as in production. */
  readonly keptPacks?: number;
  readonly log: Log;
}
