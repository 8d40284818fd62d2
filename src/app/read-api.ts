/**
 * What `http` may ask of the read model: lists across the sessions of one tenant, from D1. The lists are eventually consistent: a row
 * follows its session by the projector's delay, and can be dropped and rebuilt. A single session is read from its object.
 */

import type { UsageSums } from "../contract/model-call";
import type { ExecutionId, SessionId, TenantId } from "../domain/ids";
import type { CallPurpose, UsageSource } from "../domain/model-call";
import type { Result } from "../lib/result";
import type { ExecutionDetail } from "./execution-views";
import type { Caller } from "./session-api";

export interface SessionSummary {
  readonly id: SessionId;
  readonly title: string | null;
  readonly model: string;
  readonly message_count: number;
  /** The beginning of the newest message's text. Null when there is no message yet. */
  readonly last_message_preview: string | null;
  /** Epoch milliseconds. */
  readonly created_at: number;
  /** Epoch milliseconds. */
  readonly updated_at: number;
  /** True when a summary or a trim replaces part of the conversation in the model's view. */
  readonly compacted: boolean;
}

export interface SessionListInput {
  readonly tenant: TenantId;
  /** Rows, 1 to 200. */
  readonly limit: number;
  /** `next_cursor` of the previous page. Null: start with the newest row. */
  readonly after: string | null;
}

export interface SessionListPage {
  /** The most recently updated first. */
  readonly data: readonly SessionSummary[];
  readonly has_more: boolean;
  /** Opaque, visible ASCII. Null on the last page. */
  readonly next_cursor: string | null;
}

/** `invalid_cursor`: a cursor that this list never issued. */
export type ReadError = { readonly code: "invalid_cursor" };

/** Every call names the tenant that the credential proved. Throws when D1 is unreachable. */
export interface SessionList {
  listSessions(input: SessionListInput): Promise<Result<SessionListPage, ReadError>>;
  /** Whether the session has a row. */
  isListed(session: Caller): Promise<boolean>;
}

/** The dimensions by which usage can be grouped. */
export const USAGE_GROUPS = ["day", "session", "model", "purpose"] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

export interface UsageInput {
  readonly tenant: TenantId;
  /** Empty: one row for all. Rows are sorted by these dimensions, in this order. */
  readonly groupBy: readonly UsageGroup[];
  /** Epoch milliseconds: calls that ended at or after `from` and before `to`. */
  readonly from: number;
  readonly to: number;
  /** Null: all sessions. */
  readonly session: SessionId | null;
  readonly model: string | null;
  readonly purpose: CallPurpose | null;
  /** Rows, 1 to 200. */
  readonly limit: number;
  /** `next_cursor` of the previous page. Null: start with the first row. */
  readonly after: string | null;
}

/** A dimension is null when rows are not grouped by it. */
export interface UsageRow extends UsageSums {
  /** UTC, for example 2026-11-22. */
  readonly day: string | null;
  readonly session_id: SessionId | null;
  readonly model: string | null;
  readonly purpose: CallPurpose | null;
  readonly source: UsageSource | null;
}

export interface UsagePage {
  readonly data: readonly UsageRow[];
  readonly has_more: boolean;
  /** Opaque, visible ASCII. Null on the last page. */
  readonly next_cursor: string | null;
}

/** Covers one tenant, reads D1, and throws when D1 is unreachable. */
export interface UsageList {
  sumUsage(input: UsageInput): Promise<Result<UsagePage, ReadError>>;
}

export interface ExecutionInput {
  readonly tenant: TenantId;
  readonly execution: ExecutionId;
}

/** Covers one tenant, reads D1, and throws when D1 is unreachable. */
export interface ExecutionReader {
  /** Null when the tenant has no such execution, or its row is not projected yet. */
  readExecution(input: ExecutionInput): Promise<ExecutionDetail | null>;
}
