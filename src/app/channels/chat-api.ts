/** What the webhook route and the tenant's side ask of a chat's object. One object has all that happens in one conversation of a channel. */
import type { ChannelSettings } from "../../contract/channel";
import type { SessionId, TenantId, TurnId } from "../../domain/ids";
import type { ChatPlace, ChatUser, Delivery } from "./channel";

/** A channel with its opened secrets, as an isolate caches it. `credentials` matches the adapter's schema. */
export interface OpenChannel {
  readonly settings: ChannelSettings;
  readonly credentials: unknown;
}

/** Null: the tenant has no such channel, or it cannot be opened. May throw when the tenant's object is out of reach. */
export type FindChannel = (channel: { readonly tenant: TenantId; readonly name: string }) => Promise<OpenChannel | null>;

export interface ChatAddress {
  readonly tenant: TenantId;
  readonly channel: string;
  /** The conversation within the channel: see `toConversationKey`. The object's name has a digest of it. */
  readonly conversation: string;
}

/**
 * Which conversation a delivery belongs to. The key begins with what it is of, so that the kinds never share one: a user's has no chat, since a
 * user has one session in all chats.
 */
export function toConversationKey({ session_per }: Pick<ChannelSettings, "session_per">, place: ChatPlace, user: ChatUser): string {
  switch (session_per) {
    case "user":
      return `user:${user.id}`;
    case "chat":
      return `chat:${place.chat}`;
    case "thread":
      return place.thread === null ? `chat:${place.chat}` : `thread:${place.chat}:${place.thread}`;
  }
}

/** Such a conversation is of one person, who may write from several chats. */
export const isOfOneUser = ({ conversation }: Pick<ChatAddress, "conversation">): boolean => conversation.startsWith("user:");

/** The end user that a person of a platform is. Platforms number people independently of each other and of the tenant. */
export const toPersonName = (type: ChannelSettings["type"], user: string): string => `${type}:${user}`;

/** The other way round. Null: the end user is no person of a platform. */
export function readPersonName(endUser: string): { readonly type: string; readonly user: string } | null {
  const [, type, user] = /^([a-z]+):(.+)$/s.exec(endUser) ?? [];
  return type !== undefined && user !== undefined ? { type, user } : null;
}

export interface ReceivedDeliveries {
  /** Ids that were new, and are stored now. The others were delivered before. */
  readonly claimed: readonly string[];
}

/** `seq`: of the event in the session's log that the turn was started by. */
export interface ScheduledTurn {
  readonly session: SessionId;
  readonly turn: TurnId;
  readonly seq: number;
}

export interface ChatApi {
  /** Stores what is new, durably, before it returns. The turn comes afterwards. A repetition stores nothing. */
  receive(address: ChatAddress, deliveries: readonly Delivery[]): Promise<ReceivedDeliveries>;
  /** Erases what the object holds of the session: texts that wait, replies, ids. Called when the session is erased. It can be repeated. */
  forgetSession(address: ChatAddress, session: SessionId): Promise<void>;
  /**
   * Erases all that the object holds: its channel or its tenant was deleted at that time. The sessions stay as they are, and are no longer the
   * conversation's. What came later stays, because it is of a new channel with the same name. It can be repeated.
   */
  empty(address: ChatAddress, at: number): Promise<void>;
  /**
   * Sends the reply of a turn that no person in the chat began: a schedule's. It can be repeated, however late: a session's turns come in the
   * order of `seq`, and one that is not beyond the last is known. A session that the chat does not have, or has erased, is ignored.
   */
  follow(address: ChatAddress, turn: ScheduledTurn): Promise<void>;
  /** Removes what deleted texts left in the object's files: a message that came from the chat is redacted in its session. It can be repeated. */
  scrub(address: ChatAddress): Promise<void>;
}
