/**
 * What `http` may ask of the read model: lists across the sessions of one tenant, from D1. Eventually consistent: a row
 * follows its session by the projector's delay, and can be dropped and rebuilt. One session is read from its object.
 */
import type { SessionId, TenantId } from "../domain/ids";
import type { Result } from "../lib/result";

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
}
