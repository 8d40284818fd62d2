/** What the contract of channels needs of a platform: people who write there, and what they see. Each platform has one driver beside this file. */
import type { ChannelType, ChatCommand } from "../../../src/contract/channel";

export interface SeenReply {
  /** The platform's id of the message. */
  readonly id: string;
  readonly text: string;
  readonly buttons: readonly string[];
  readonly edits: number;
}

/** The person whom the bot answers, and another of the same group. */
export type Speaker = "asker" | "other";

export interface SaidInChat {
  readonly text: string;
  readonly by?: Speaker;
  readonly file?: { readonly name: string; readonly type: string; readonly bytes: Uint8Array };
  /** Said in a group, and not to the bot. */
  readonly isAside?: boolean;
}

/** One conversation of the bot with people. Each act resolves once the platform has had an answer, or gives up. */
export interface ContractChat {
  /** The platform's id of the message. */
  say(said: SaidInChat): Promise<string>;
  /** In the platform's own way: a slash command, or a text. */
  command(name: ChatCommand): Promise<unknown>;
  /** What people see of the bot. */
  replies(): readonly SeenReply[];
  press(reply: SeenReply, label: string, by: Speaker): Promise<unknown>;
  edit(message: string, text: string): Promise<unknown>;
  delete(message: string): Promise<unknown>;
}

/** What becomes of the bot's next message: it must wait, it is not taken now, never, or its answer is lost. */
export type SendTrouble = "limit" | "broken" | "refuse" | "lose_answer";

export interface ContractPlatform {
  /** The channel's credentials, with the addresses of the stand-in. */
  readonly credentials: object;
  receiveAt(url: string): Promise<void> | void;
  open(kind: "private" | "group"): ContractChat;
  /** True: the platform accepts the address. */
  verifyAddress(): Promise<boolean>;
  trouble(trouble: SendTrouble): void;
  /** The platform signs with a clock that is ahead by so much. */
  setClock(aheadMs: number): void;
  close(): Promise<void>;
}

export interface ChannelDriver {
  readonly type: ChannelType;
  readonly can: {
    readonly groups: boolean;
    /** Messages of a group that are not for the bot reach it. */
    readonly overhear: boolean;
    /** Edits and deletions by people reach the bot. */
    readonly reportEdits: boolean;
    readonly reportDeletions: boolean;
    /** The bot's own messages can be edited, so that a reply grows. */
    readonly growReplies: boolean;
    /** The platform recognises a repetition of the bot's message. */
    readonly recogniseRepetitions: boolean;
    /** A webhook whose answer was lost is delivered again. */
    readonly redeliver: boolean;
    readonly checkAddress: boolean;
  };
  /** The header with the signature, and a wrong one of the right form. `isTimed`: the signature covers a time. */
  readonly signature: { readonly header: string; readonly wrong: string; readonly isTimed: boolean };
  readonly deadlineMs: number;
  /** The longest message, in UTF-16 units. */
  readonly longest: number;
  /** The least time until a message that the platform limited is sent again. */
  readonly limitMs: number;
  /** What people see of `**bold** & 1 < 2`. */
  readonly shown: string;
  start(): Promise<ContractPlatform>;
}
