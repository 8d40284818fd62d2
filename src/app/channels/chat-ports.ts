/** What a chat's story needs of the world. `src/channels/chat` passes it in; the simulation has its own. */
import type { ChannelType } from "../../contract/channel";
import type { SessionDescription } from "../../contract/session";
import type { SessionId, TenantId, TurnId } from "../../domain/ids";
import type { Part } from "../../domain/message";
import type { Result } from "../../lib/result";
import type { WholeSessionApi } from "../control-api";
import type { Background, Clock, Log } from "../ports";
import type { Caller } from "../session-api";
import type { Schedule } from "../session-ports";
import type { ChannelAdapter, ChatFile, PlatformRequest, PlatformResponse } from "./channel";
import type { ChatAddress, FindChannel, OpenChannel } from "./chat-api";
import type { ChatStore } from "./chat-store";

/** `no_answer`: it may have arrived. `not_sent`: it did not leave. */
export type PlatformAnswer =
  | { readonly kind: "answered"; readonly response: PlatformResponse }
  | { readonly kind: "no_answer" }
  | { readonly kind: "not_sent"; readonly reason: string };

/** What happened in a channel that its tenant should know. It never holds a text of a chat. */
export interface ChannelNote {
  /** A repeated note has the id of the first one. */
  readonly id: string;
  readonly kind: "reply_failed" | "attachment_failed";
  /** A few words of a closed list, or what the adapter says. */
  readonly reason: string;
  /** The platform's id of the delivery. Absent: it is about none. */
  readonly delivery?: string;
  readonly session: SessionId | null;
  readonly turn?: TurnId | null;
  /** The platform's id of the person that the line is about, by which an erasure finds the line. */
  readonly user?: string;
}

/** What a chat asks of the tenant's side. */
interface ChatTenant {
  /** Pairs the person with the channel, if the code is valid. A code pairs one person. */
  pairUser(input: { readonly channel: string; readonly user: string; readonly code: string }): Promise<boolean>;
  /** Adds a line to the channel's log. */
  note(channel: string, note: ChannelNote & { readonly at: number }): Promise<void>;
}

/** A session that a chat needs. */
export interface WantedSession {
  readonly channel: OpenChannel;
  /** By which an erasure finds the chat. */
  readonly chat: Pick<ChatAddress, "channel" | "conversation">;
  readonly external_id: string;
  readonly end_user: string | null;
  readonly metadata: Readonly<Record<string, string>>;
}

/**
 * Why there is no session or turn: `again`: it may succeed later; `gone`: the session's id is spent; `brief`: a limit that passes soon; `refused`:
 * it will not succeed by itself.
 */
export interface SessionRefusal {
  readonly kind: "again" | "gone" | "brief" | "refused";
  readonly code: string;
  /** When it passes, epoch milliseconds. Absent: not known. */
  readonly passes_at?: number;
  /** Whose limit it is. */
  readonly of?: "tenant" | "key" | "end_user";
}

export interface ChatDeps {
  readonly store: ChatStore;
  readonly now: Clock;
  readonly schedule: Schedule;
  /** SHA-256, hexadecimal. */
  readonly digest: (text: string) => Promise<string>;
  /** Rings `wake` at that time, also when the object has died. A later call replaces an earlier one. */
  readonly setAlarm: (at: number) => void;
  readonly background: Background;
  readonly findChannel: FindChannel;
  readonly findAdapter: (type: ChannelType) => ChannelAdapter<unknown>;
  /** A fresh stub at each call. */
  readonly sessions: (tenant: TenantId, session: SessionId) => WholeSessionApi;
  readonly tenant: (tenant: TenantId) => ChatTenant;
  /** Opens the session, or finds the one that has the external id. */
  readonly openSession: (tenant: TenantId, wanted: WantedSession) => Promise<Result<SessionDescription, SessionRefusal>>;
  /** Erases the session with all that is made of it. Throws while that cannot be begun. */
  readonly eraseSession: (tenant: TenantId, session: SessionId) => Promise<void>;
  readonly send: (request: PlatformRequest) => Promise<PlatformAnswer>;
  /** Counts a request a minute of the tenant and of the end user. Null: admitted. A request that is refused does not count. */
  readonly takeRequest: (tenant: TenantId, endUser: string) => Promise<Required<Pick<SessionRefusal, "passes_at" | "of">> | null>;
  /** Fetches a file of the platform and stores it as one of the tenant's. The same `key` stores it once. */
  readonly takeFile: (input: TakenFile) => Promise<Result<Part, { readonly reason: string }>>;
  /** Removes what deleted rows left. */
  readonly scrub: () => Promise<unknown>;
  readonly log: Log;
}

export interface TakenFile {
  readonly tenant: TenantId;
  readonly session: SessionId;
  readonly channel: OpenChannel;
  readonly file: ChatFile;
  readonly key: string;
}

/** A chat while one thing is done in it. */
export interface ChatRoom {
  readonly address: ChatAddress;
  readonly channel: OpenChannel;
  readonly adapter: ChannelAdapter<unknown>;
}

export const toCaller = ({ tenant }: ChatAddress, session: SessionId): Caller => ({ tenant, session });

/** A person's message within the channel. A user's session may hear of several chats. */
export const toMessageKey = (chat: string, message: string): string => JSON.stringify([chat, message]);

/** A chat's object, for those who work in it. */
export interface ChatHost {
  readonly deps: ChatDeps;
  /** Places of deliveries that wait and were counted as requests. A life that ends counts them again. */
  readonly counted: Set<number>;
  /** Null while the channel is not there, or cannot be opened. */
  openRoom(): Promise<ChatRoom | null>;
  /** Begins whatever there is to do. Call it after each change. */
  wake(): void;
}
