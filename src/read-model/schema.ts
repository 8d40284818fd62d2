/**
 * The D1 tables as drizzle knows them. `migrations/` creates them; a test compares the two column by column. Times are
 * epoch milliseconds, flags are 0 or 1, `last_seq` is the seq of the event that last changed the row.
 */
import { sql } from "drizzle-orm";
import { index, integer, primaryKey, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { ContentState } from "../contract/execution";
import type { ExecutionStatus, RunsAt } from "../domain/execution";
import type { SessionId } from "../domain/ids";
import type { ToolFailure } from "../domain/tool-run";

export { erasedUsage, usage, usageBounds, usageDaySums, usageDays } from "./usage-tables";

export const tenants = sqliteTable("tenants", {
  tenantId: text("tenant_id").primaryKey(),
  name: text("name").notNull(),
  defaultModel: text("default_model").notNull(),
  defaultPolicy: text("default_policy").notNull(),
});

/**
 * Rows with `tenantId` '' hold the presets that every deployment knows. `contextWindowSize` null: unknown. Prices are
 * US dollars per million tokens, `capabilities` and `quirks` are JSON, `credential` and `endpoint` are names.
 */
export const models = sqliteTable(
  "models",
  {
    tenantId: text("tenant_id").notNull(),
    providerId: text("provider_id").notNull(),
    id: text("id").notNull(),
    displayName: text("display_name"),
    isDefault: integer("is_default").notNull().default(0),
    source: text("source").notNull(),
    upstreamId: text("upstream_id").notNull(),
    baseUrl: text("base_url"),
    maxOutput: integer("max_output"),
    contextWindowSize: integer("context_window_size"),
    capabilities: text("capabilities"),
    ratio: real("ratio"),
    priceInput: real("price_input"),
    priceOutput: real("price_output"),
    priceCached: real("price_cached"),
    priceCacheWrite: real("price_cache_write"),
    credential: text("credential"),
    endpoint: text("endpoint"),
    quirks: text("quirks"),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.providerId, table.id] })],
);

export const sessions = sqliteTable(
  "sessions",
  {
    tenantId: text("tenant_id").notNull(),
    id: text("id").$type<SessionId>().notNull(),
    title: text("title"),
    model: text("model").notNull(),
    policy: text("policy").notNull(),
    messageCount: integer("message_count").notNull().default(0),
    lastMessagePreview: text("last_message_preview"),
    overlayCount: integer("overlay_count").notNull().default(0),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
    lastSeq: integer("last_seq").notNull(),
    compactedSummary: text("compacted_summary"),
    compactBoundaryTimestamp: integer("compact_boundary_timestamp"),
    externalId: text("external_id"),
    endUser: text("end_user"),
    metadata: text("metadata").notNull().default("{}"),
    archivedAt: integer("archived_at"),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.id] }),
    index("sessions_by_update").on(table.tenantId, table.updatedAt),
    index("sessions_by_creation").on(table.tenantId, table.createdAt),
    index("sessions_active_by_update").on(table.tenantId, table.updatedAt).where(sql`${table.archivedAt} IS NULL`),
    index("sessions_active_by_creation").on(table.tenantId, table.createdAt).where(sql`${table.archivedAt} IS NULL`),
    index("sessions_archived_by_update").on(table.tenantId, table.updatedAt).where(sql`${table.archivedAt} IS NOT NULL`),
    index("sessions_archived_by_creation").on(table.tenantId, table.createdAt).where(sql`${table.archivedAt} IS NOT NULL`),
    index("sessions_by_external_id").on(table.tenantId, table.externalId).where(sql`${table.externalId} IS NOT NULL`),
    index("sessions_of_user_by_update").on(table.tenantId, table.endUser, table.updatedAt).where(sql`${table.endUser} IS NOT NULL`),
    index("sessions_of_user_by_creation").on(table.tenantId, table.endUser, table.createdAt).where(sql`${table.endUser} IS NOT NULL`),
  ],
);

/** One row an entry of a session's metadata, for filters. `number` is the entry's place in the JSON object. */
export const sessionMetadata = sqliteTable(
  "session_metadata",
  {
    tenantId: text("tenant_id").notNull(),
    sessionId: text("session_id").notNull(),
    number: integer("number").notNull(),
    name: text("name").notNull(),
    value: text("value").notNull(),
    lastSeq: integer("last_seq").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.sessionId, table.number] }),
    index("session_metadata_by_value").on(table.tenantId, table.name, table.value),
  ],
);

export const messages = sqliteTable(
  "messages",
  {
    tenantId: text("tenant_id").notNull(),
    sessionId: text("session_id").notNull(),
    position: integer("position").notNull(),
    id: text("id").notNull(),
    kind: text("kind").notNull(),
    role: text("role").notNull(),
    content: text("content").notNull(),
    contentState: text("content_state").notNull(),
    preview: text("preview"),
    turnId: text("turn_id"),
    executionId: text("execution_id"),
    incomplete: integer("incomplete").notNull().default(0),
    superseded: integer("superseded").notNull().default(0),
    tokens: integer("tokens").notNull(),
    createdAt: integer("created_at").notNull(),
    lastSeq: integer("last_seq").notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.sessionId, table.position] })],
);

/**
 * `runs` is client or server. `success` is null while the call is open, and when its outcome is unknown.
 * `resultPosition` is the position of the message that holds the output.
 */
export const executions = sqliteTable(
  "executions",
  {
    tenantId: text("tenant_id").notNull(),
    sessionId: text("session_id").notNull(),
    id: text("id").notNull(),
    turnId: text("turn_id"),
    position: integer("position").notNull(),
    resultPosition: integer("result_position"),
    toolName: text("tool_name").notNull(),
    callId: text("call_id").notNull(),
    runs: text("runs").$type<RunsAt>().notNull(),
    status: text("status").$type<ExecutionStatus>().notNull(),
    success: integer("success"),
    exitCode: integer("exit_code"),
    durationMs: integer("duration_ms"),
    failure: text("failure").$type<ToolFailure>(),
    errorMessage: text("error_message"),
    argumentsJson: text("arguments_json").notNull(),
    argumentsState: text("arguments_state").$type<ContentState>().notNull(),
    timestamp: integer("timestamp").notNull(),
    startedAt: integer("started_at"),
    finishedAt: integer("finished_at"),
    lastSeq: integer("last_seq").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.sessionId, table.id] }),
    uniqueIndex("executions_by_id").on(table.tenantId, table.id),
    index("executions_open").on(table.tenantId, table.sessionId, table.turnId).where(sql`${table.finishedAt} IS NULL`),
  ],
);

/** `id` is the execution's id with the artifact's number, and unique within its session. */
export const executionArtifacts = sqliteTable(
  "execution_artifacts",
  {
    tenantId: text("tenant_id").notNull(),
    sessionId: text("session_id").notNull(),
    id: text("id").notNull(),
    executionId: text("execution_id").notNull(),
    number: integer("number").notNull(),
    artifactType: text("artifact_type").notNull(),
    contentJson: text("content_json").notNull(),
    contentState: text("content_state").$type<ContentState>().notNull(),
    bytes: integer("bytes").notNull(),
    lastSeq: integer("last_seq").notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.sessionId, table.id] })],
);

export const overlays = sqliteTable(
  "overlays",
  {
    tenantId: text("tenant_id").notNull(),
    sessionId: text("session_id").notNull(),
    id: text("id").notNull(),
    kind: text("kind").notNull(),
    positionFrom: integer("position_from").notNull(),
    positionTo: integer("position_to").notNull(),
    items: integer("items").notNull(),
    content: text("content"),
    boundaryTimestamp: integer("boundary_timestamp"),
    active: integer("active").notNull(),
    lastSeq: integer("last_seq").notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.sessionId, table.id] })],
);

export const compactions = sqliteTable(
  "compactions",
  {
    tenantId: text("tenant_id").notNull(),
    sessionId: text("session_id").notNull(),
    id: text("id").notNull(),
    trigger: text("trigger").notNull(),
    status: text("status").notNull(),
    didCompact: integer("did_compact").notNull().default(0),
    attempts: integer("attempts").notNull().default(0),
    failure: text("failure"),
    epoch: integer("epoch"),
    ops: text("ops").notNull().default("[]"),
    receipt: text("receipt"),
    summary: text("summary"),
    requestedAt: integer("requested_at").notNull(),
    finishedAt: integer("finished_at"),
    lastSeq: integer("last_seq").notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.sessionId, table.id] })],
);

/**
 * `terms`: those of a message, or of the title at position 0, without the tenant. The view `search_texts` adds it, and the
 * FTS5 table `search_index` has the view's terms by `id`; drizzle knows neither. `id` says nothing of the session.
 */
export const searchRows = sqliteTable(
  "search_rows",
  {
    id: integer("id").primaryKey(),
    tenantId: text("tenant_id").notNull(),
    sessionId: text("session_id").notNull(),
    position: integer("position").notNull(),
    terms: text("terms").notNull(),
    lastSeq: integer("last_seq").notNull(),
  },
  (table) => [uniqueIndex("search_rows_by_place").on(table.tenantId, table.sessionId, table.position)],
);

export const sessionTombstones = sqliteTable(
  "session_tombstones",
  {
    tenantId: text("tenant_id").notNull(),
    sessionId: text("session_id").notNull(),
    erasedAt: integer("erased_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.sessionId] })],
);
