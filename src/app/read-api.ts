/**
 * What `http` may ask of the read model: lists across the sessions of one tenant, from D1. The lists are eventually consistent: a row
 * follows its session by the projector's delay, and can be dropped and rebuilt. A single session is read from its object.
 */

import type { EndUserSummary } from "../contract/end-user";
import type { ExecutionDetail } from "../contract/execution";
import type { List } from "../contract/page";
import type { SessionSummary } from "../contract/session";
import type { FoundSession } from "../contract/session-search";
import type { UsageRow } from "../contract/usage";
import type { ExecutionId, KeyId, SessionId, TenantId } from "../domain/ids";
import type { CallPurpose } from "../domain/model-call";
import type { Result } from "../lib/result";
import type { Caller } from "./session-api";

/** Selects sessions. A null field, and empty metadata, select all. Times are epoch milliseconds, and the bounds themselves are left out. */
export interface SessionFilter {
  readonly externalId: string | null;
  readonly endUser: string | null;
  /** Sessions that have all of these entries. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly createdAfter: number | null;
  readonly createdBefore: number | null;
  readonly updatedAfter: number | null;
  readonly updatedBefore: number | null;
  /** Only archived sessions, or only those that are not. */
  readonly archived: boolean | null;
}

export const SESSION_ORDERS = ["updated_at", "created_at"] as const;

export interface SessionListInput {
  readonly tenant: TenantId;
  readonly filter: SessionFilter;
  readonly orderBy: (typeof SESSION_ORDERS)[number];
  readonly order: "asc" | "desc";
  /** Rows, 1 to 200. */
  readonly limit: number;
  /** `next_cursor` of the previous page, in the same order. Null: start with the first row. */
  readonly after: string | null;
}

/** The cursor is visible ASCII. */
export type SessionListPage = List<SessionSummary>;

/** `invalid_cursor`: a cursor that this list never issued. */
export type ReadError = { readonly code: "invalid_cursor" };

/** Every call names the tenant of the caller's API key. Throws when D1 is unreachable. */
export interface SessionList {
  listSessions(input: SessionListInput): Promise<Result<SessionListPage, ReadError>>;
  /** Whether the session has a row. */
  isListed(session: Caller): Promise<boolean>;
}

export interface SessionSearchInput {
  readonly tenant: TenantId;
  /** Words, of which at least one is no punctuation. */
  readonly query: string;
  readonly filter: SessionFilter;
  /** Sessions, 1 to 50. */
  readonly limit: number;
  /** `next_cursor` of the previous page of the same search. Null: start with the best. */
  readonly after: string | null;
}

/** Best first. The cursor is visible ASCII. */
export type SessionSearchPage = List<FoundSession>;

/** Covers one tenant, reads D1, and throws when D1 is unreachable. */
export interface SessionSearch {
  searchSessions(input: SessionSearchInput): Promise<Result<SessionSearchPage, ReadError>>;
}

export interface EndUserListInput {
  readonly tenant: TenantId;
  /** By the name, in the order of its bytes. */
  readonly order: "asc" | "desc";
  readonly limit: number;
  /** `next_cursor` of the previous page. Null: start with the first. */
  readonly after: string | null;
}

/** The cursor is visible ASCII. */
export type EndUserListPage = List<EndUserSummary>;

/** Covers one tenant, reads D1, and throws when D1 is unreachable. */
export interface EndUserList {
  listEndUsers(input: EndUserListInput): Promise<Result<EndUserListPage, ReadError>>;
  /** Null: no session has this end user. */
  findEndUser(tenant: TenantId, endUser: string): Promise<EndUserSummary | null>;
}

/** The dimensions by which usage can be grouped. */
export const USAGE_GROUPS = ["day", "session", "model", "purpose", "key", "end_user"] as const;
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
  readonly key: KeyId | null;
  readonly endUser: string | null;
  /** The most rows. */
  readonly limit: number;
  /** `next_cursor` of the previous page. Null: start with the first row. */
  readonly after: string | null;
}

/** The cursor is visible ASCII. */
export type UsagePage = List<UsageRow> & {
  /** The tenant's retention has removed all that is older, so that the sums are of what is not. Null: nothing was removed. */
  readonly complete_from: number | null;
};

/** Covers one tenant, reads D1, and throws when D1 is unreachable. */
export interface UsageList {
  sumUsage(input: UsageInput): Promise<Result<UsagePage, ReadError>>;
  /** The rows from before a time by their months (UTC), the oldest month first. */
  countOldUsage(input: {
    readonly tenant: TenantId;
    readonly before: number;
  }): Promise<readonly { readonly month: string; readonly rows: number }[]>;
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
