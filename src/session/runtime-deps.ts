/** The ports of a session's runtime. The Durable Object brings them; tests bring their own. */
import type { AnnouncementPort } from "../app/announcement-ports";
import type { BudgetSource } from "../app/budget-ports";
import type { ChatAddress, ChatApi } from "../app/channels/chat-api";
import type { FileReferences } from "../app/file-api";
import type {
  ActRecorder,
  ChatModel,
  Clock,
  CompactionQueue,
  Ids,
  Log,
  ModelDirectory,
  Projection,
  ToolRunner,
  UsageArchive,
} from "../app/ports";
import type { Deadlines, Schedule } from "../app/session-ports";
import type { TenantId } from "../domain/ids";
import type { LimitPorts } from "./limits";
import type { Sql } from "./log/sql";

export interface RuntimeDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly ids: Ids;
  /** A new value in each life of the object in memory. */
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
  readonly acts: (tenant: TenantId) => ActRecorder;
  readonly files: (tenant: TenantId) => FileReferences;
  readonly budgets: (tenant: TenantId) => BudgetSource;
  /** Absent: nothing is announced. */
  readonly announcements?: (tenant: TenantId) => AnnouncementPort;
  /** The chats of channels. Absent: no session belongs to one. */
  readonly chats?: (address: ChatAddress) => Pick<ChatApi, "follow" | "scrub">;
  /** True while the tenant is suspended: no model is asked then. An answer may be some seconds old. */
  readonly isSuspended: (tenant: TenantId) => Promise<boolean>;
  /** Absent: no tenant has limits. */
  readonly limits?: LimitPorts;
  readonly random: () => number;
  readonly digest: (text: string) => Promise<string>;
  readonly deadlines: Deadlines;
  /** The number of packs of the live stream to keep. Absent: the production number. */
  readonly keptPacks?: number;
  readonly log: Log;
}
