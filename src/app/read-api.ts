/**
 * What `http` may ask of the read model: lists across the sessions of one tenant, from D1. Eventually consistent: a row
 * follows its session by the projector's delay, and can be dropped and rebuilt. One session is read from its object.
 */
import type { ExecutionId, SessionId, TenantId } from "../domain/ids";
import type { CallPurpose, UsageSource } from "../domain/model-call";
import type { Result } from "../lib/result";
import type { ExecutionDetail } from "./execution-views";
import type { Caller } from "./session-api";
import type { UsageSums } from "./session-views";

export interface SessionSummary {
  readonly id: SessionId;
  readonly title: string | null;
  readonly model: string;
  readonly message_count: number;
  /** The beginning of the newest message's text; null: there is none yet. */
  readonly last_message_preview: string | null;
  /** Epoch milliseconds. */
  readonly created_at: number;
  /** Epoch milliseconds. */
  readonly updated_at: number;
  /** A summary or a trim stands in for part of the conversation in the model's view. */
  readonly compacted: boolean;
}

export interface SessionListInput {
  readonly tenant: TenantId;
  /** Rows, 1 to 200. */
  readonly limit: number;
  /** `next_cursor` of the page before, as the client gave it back; null: from the newest. */
  readonly after: string | null;
}

export interface SessionListPage {
  /** The most recently updated first. */
  readonly data: readonly SessionSummary[];
  readonly has_more: boolean;
  /** Opaque, visible ASCII; null with the last page. */
  readonly next_cursor: string | null;
}

/** `invalid_cursor`: not one that this list ever gave out. */
export type ReadError = { readonly code: "invalid_cursor" };

/** Every call names the tenant that the credential proved. Throws when D1 is out of reach. */
export interface SessionList {
  listSessions(input: SessionListInput): Promise<Result<SessionListPage, ReadError>>;
  /** Whether there is a row of it. */
  isListed(session: Caller): Promise<boolean>;
}

/** What usage can be told apart by. */
export const USAGE_GROUPS = ["day", "session", "model", "purpose"] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

export interface UsageInput {
  readonly tenant: TenantId;
  /** Empty: one row for all. Rows are in order of these, in this order. */
  readonly groupBy: readonly UsageGroup[];
  /** Epoch milliseconds: calls that ended from `from` on and before `to`. */
  readonly from: number;
  readonly to: number;
  /** Null: of all. */
  readonly session: SessionId | null;
  readonly model: string | null;
  readonly purpose: CallPurpose | null;
  /** Rows, 1 to 200. */
  readonly limit: number;
  /** `next_cursor` of the page before, as the client gave it back; null: from the first. */
  readonly after: string | null;
}

/** Null where rows are not grouped by it. */
export interface UsageRow extends UsageSums {
  /** UTC, as 2026-11-22. */
  readonly day: string | null;
  readonly session_id: SessionId | null;
  readonly model: string | null;
  readonly purpose: CallPurpose | null;
  readonly source: UsageSource | null;
}

export interface UsagePage {
  readonly data: readonly UsageRow[];
  readonly has_more: boolean;
  /** Opaque, visible ASCII; null with the last page. */
  readonly next_cursor: string | null;
}

/** As with `SessionList`: of one tenant, and from D1. */
export interface UsageList {
  sumUsage(input: UsageInput): Promise<Result<UsagePage, ReadError>>;
}

export interface ExecutionInput {
  readonly tenant: TenantId;
  readonly execution: ExecutionId;
}

/** As with `SessionList`: of one tenant, and from D1. */
export interface ExecutionReader {
  /** Null: the tenant has no such execution, or its row is not there yet. */
  readExecution(input: ExecutionInput): Promise<ExecutionDetail | null>;
}
