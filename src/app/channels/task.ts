/** One delivery while it is worked on, and what it leads to. */
import { sha256Sync } from "../../lib/sha256-sync";
import type { Idempotency } from "../session-api";
import type { ChatUser, Delivery } from "./channel";
import type { ChatHost, ChatRoom } from "./chat-ports";
import type { WaitingDelivery } from "./chat-store";

/** What a delivery leads to: rows, written in the transaction that ends it. Null: nothing. `again`: it is tried later; `at` null: ever less often. */
export type Worked =
  | { readonly kind: "done"; readonly apply: (() => void) | null }
  | { readonly kind: "again"; readonly reason: string; readonly at: number | null };

export const done = (apply: (() => void) | null = null): Worked => ({ kind: "done", apply });
export const again = (reason: string, at: number | null = null): Worked => ({ kind: "again", reason, at });

/** One delivery while it is worked on. */
export interface Task {
  readonly chat: ChatHost;
  readonly room: ChatRoom;
  readonly row: WaitingDelivery;
}

/** An id that the same delivery always makes, which names no person. */
export const toDeliveryToken = ({ id }: Pick<Delivery, "id">): string => sha256Sync(id).slice(0, 24);

/** Knows the person again, and does not name them: what is kept of it may outlast an erasure of theirs. */
export const toPersonToken = ({ id }: Pick<ChatUser, "id">): string => sha256Sync(`person ${id}`).slice(0, 24);

/** The session claims the delivery too, so that one that comes again, whichever way, begins no second turn. */
export function toIdempotency(delivery: Pick<Delivery, "id">, step = "message"): Idempotency {
  const token = toDeliveryToken(delivery);
  return { key: `chat ${step} ${token}`, digest: token };
}
