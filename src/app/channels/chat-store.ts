/** What a chat's object keeps. Its texts are there as long as they wait, and no longer. The SQL is in `src/channels/chat`. */
import type { ExecutionId, ItemId, SessionId, TurnId } from "../../domain/ids";
import type { ChatPlace, ChatUser, Delivery, ReplyButton } from "./channel";
import type { ChatAddress } from "./chat-api";

/** A delivery that was claimed and is not done. */
export interface WaitingDelivery {
  readonly seq: number;
  readonly delivery: Delivery;
  /** The current session when it was stored: an erasure of that session erases it. Null: there was none. */
  readonly session: SessionId | null;
  readonly stored_at: number;
  readonly attempts: number;
  readonly not_before: number;
}

/** The message of a reply that grows while its turn runs. */
export interface LiveMessage {
  readonly operation: string;
  /** `sending`: the platform was asked, and its answer is not known yet. `lost`: it never will be. `shown`: the message is there. */
  readonly state: "sending" | "lost" | "shown";
  /** The platform's id. Null: it is not known, or the platform gives none. */
  readonly message: string | null;
  /** UTF-16 units of the reply's text that the first message began with, and their SHA-256. */
  readonly units: number;
  readonly digest: string;
}

/** Where what the bot says goes, and to whom. */
export interface Audience {
  readonly place: ChatPlace;
  /** Null: no person asked. */
  readonly user: ChatUser | null;
}

/** A turn whose reply is to be sent. */
export interface ChatTurn extends Audience {
  readonly turn: TurnId;
  readonly session: SessionId;
  /** The offset of the session's stream from which the turn can be heard. Null: the turn's own beginning. */
  readonly cursor: number | null;
  readonly live: LiveMessage | null;
  /** Something was sent in answer to the message that asked for the turn, or no message asked for it. */
  readonly is_answered: boolean;
  /** A schedule of the session started it. */
  readonly is_scheduled: boolean;
  /** When the chat heard of it, epoch milliseconds. */
  readonly since: number;
  /** When the turn is looked at again, epoch milliseconds. */
  readonly not_before: number;
}

/** A message that waits to be sent, or to take the place of one that was sent. */
export interface OutboundPart {
  readonly operation: string;
  /** Null: the bot's own words, before there was a session. */
  readonly session: SessionId | null;
  readonly turn: TurnId | null;
  readonly place: ChatPlace;
  /** Null: there is no answer, and the sign that one comes is taken away. */
  readonly markdown: string | null;
  readonly buttons: readonly ReplyButton[];
  /** The platform's id of the message that it replaces. Null: it is a new message. */
  readonly edits: string | null;
  /** Nothing was sent before it in answer to the same delivery. */
  readonly is_first: boolean;
}

export interface WaitingPart extends OutboundPart {
  readonly seq: number;
  readonly is_plain: boolean;
  /** The platform was asked, and its answer is not known yet. */
  readonly is_sending: boolean;
  readonly attempts: number;
  readonly not_before: number;
  readonly created_at: number;
}

/** A message of a person, as the session has it. */
export interface KnownMessage {
  /** The chat and the platform's id of the message: see `toMessageKey`. */
  readonly key: string;
  readonly session: SessionId;
  readonly item: ItemId;
  readonly turn: TurnId | null;
  /** When the person last changed it, by the platform. Null: never. */
  readonly changed_at: number | null;
}

/** What a person did to a message that is not known here. */
export interface EarlyChange {
  /** As of a known message. */
  readonly key: string;
  /** Null: the message was deleted. */
  readonly text: string | null;
  /** By the platform. */
  readonly at: number;
}

/** What a button does. */
export type ButtonAct =
  | { readonly type: "approve"; readonly turn: TurnId; readonly execution: ExecutionId; readonly tool: string; readonly approved: boolean }
  | { readonly type: "forget"; readonly confirmed: boolean };

export interface KnownButton {
  /** What the button was sent with. */
  readonly data: string;
  /** Buttons of one question share it: one answer ends all. */
  readonly question: string;
  readonly session: SessionId | null;
  /** The token of the person who may press it. Null: no one in particular. */
  readonly user: string | null;
  readonly act: ButtonAct;
  readonly expires_at: number;
}

interface DeliveryRows {
  /** False: the id was claimed before. */
  claim(id: string, at: number): boolean;
  forgetClaims(before: number): void;
  /** When the newest was claimed. Null: none is known. */
  lastClaim(): number | null;
  add(delivery: Delivery, input: { readonly session: SessionId | null; readonly at: number }): void;
  first(): WaitingDelivery | null;
  postpone(seq: number, not_before: number): void;
  remove(seq: number): void;
  isWaiting(seq: number): boolean;
  /** From this delivery on, what waits is of no session. */
  release(seq: number): void;
}

interface TurnRows {
  /** Changes nothing if the turn is known. */
  add(turn: ChatTurn): void;
  find(turn: TurnId): ChatTurn | null;
  /** The first that is due. */
  due(now: number): ChatTurn | null;
  next(): number | null;
  postpone(turn: TurnId, not_before: number): void;
  /** Null: the platform refused the message, so that it is not there. */
  show(turn: TurnId, live: LiveMessage | null): void;
  noteAnswered(turn: TurnId): void;
  remove(turn: TurnId): void;
  /** In the order in which they were asked for. */
  list(session: SessionId): readonly ChatTurn[];
}

interface PartRows {
  /** Changes nothing if the operation is known. */
  add(part: OutboundPart, at: number): void;
  first(): WaitingPart | null;
  /** Notes that the platform is asked. */
  begin(operation: string): void;
  /** `is_sending`: the earlier doubt stays. Absent: there is none. */
  postpone(operation: string, input: { readonly not_before: number; readonly is_plain?: boolean; readonly is_sending?: boolean }): void;
  remove(operation: string): void;
  /** Removes the parts of the turn that were not sent, and returns how many. */
  removeTurn(turn: TurnId): number;
  /** All that would go to the first place goes to the other, now and later. */
  move(from: ChatPlace, to: ChatPlace): void;
}

interface MessageRows {
  put(message: KnownMessage, at: number): void;
  find(key: string): KnownMessage | null;
  /** The newest of the session. */
  newest(session: SessionId): KnownMessage | null;
  remove(key: string): void;
  forget(before: number): void;
}

interface ButtonRows {
  add(button: KnownButton): void;
  find(data: string): KnownButton | null;
  /** The open question of this kind that the person was asked. */
  findQuestion(user: string, type: ButtonAct["type"], now: number): KnownButton | null;
  removeQuestion(question: string): void;
  forget(before: number): void;
}

interface EarlyChangeRows {
  /** Takes the place of an earlier one. */
  put(change: EarlyChange, input: { readonly session: SessionId | null; readonly expires_at: number }): void;
  find(key: string): EarlyChange | null;
  remove(key: string): void;
  /** When the first of them is to be forgotten. Null: there is none. */
  next(): number | null;
  forget(until: number): void;
  /** Forgets all edits. Deletions stay: they have no text, and a platform may still bring what was deleted. */
  forgetEdits(): void;
}

/** Methods that change several rows are called inside a transaction. */
export interface ChatStore {
  transaction<T>(body: () => T): T;
  /** Null: nothing was ever received. */
  readAddress(): ChatAddress | null;
  keepAddress(address: ChatAddress): void;
  /** Where a reply goes that no person asked for, and to whom. The person's name is not kept. Null: no turn was begun here. */
  readAudience(): Audience | null;
  keepAudience(audience: Audience): void;
  readonly deliveries: DeliveryRows;
  readonly turns: TurnRows;
  readonly parts: PartRows;
  readonly messages: MessageRows;
  readonly buttons: ButtonRows;
  readonly early: EarlyChangeRows;
  /** The conversation's sessions. The newest is the current one, unless it was left. */
  readonly sessions: {
    current(): SessionId | null;
    list(): readonly SessionId[];
    /** How many were begun or left: part of the next one's external id. */
    generation(): number;
    add(session: SessionId): void;
    /** False: the session is not of this conversation, or its turns up to `seq` are known. */
    noteFollowed(session: SessionId, seq: number): boolean;
    /** From here on there is no current session. The next one has another generation. */
    leave(): void;
  };
  /** When something was last said or sent, by name. */
  readonly times: {
    read(name: string): number | null;
    note(name: string, at: number): void;
    /** The times of the newest messages that were sent. */
    readSent(): readonly number[];
    noteSent(at: readonly number[]): void;
    forget(before: number): void;
  };
  /** Erases all rows of the session, and the deliveries that wait for it. */
  forgetSession(session: SessionId): void;
  /** Erases all rows but digests of ids, and what came after that time. */
  empty(until: number): void;
  /** Nothing waits, and the conversation has no session. */
  isBare(): boolean;
  /** Erases who talks here. Call it when nothing is left to be done for them. */
  forgetPeople(): void;
}
