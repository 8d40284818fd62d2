/** What the stories of one session need of its object: the single writer, its content, and its live stream. */
import type { ViewInput } from "../context/view";
import type { Command, ModelCall } from "../domain/commands";
import type { StoredEvent, TurnFailureKind } from "../domain/events";
import type { BodyId, TurnId } from "../domain/ids";
import type { ItemMeta, Part, ToolDefinition } from "../domain/message";
import type { Rejection } from "../domain/rejection";
import type { SessionState } from "../domain/state";
import type { Result } from "../lib/result";
import type { ChatModel, Clock, Ids, Log, ModelDirectory, ToolOutcome, ToolRunner } from "./ports";

/** A text that an event introduces. */
export interface BodyText {
  readonly id: BodyId;
  readonly text: string;
}

/** The single writer. Everything is synchronous: between two lines without an await nothing else happens. */
export interface SessionWriter {
  /** As it is now. Read it again after every await. */
  readonly state: SessionState;
  execute(command: Command, bodies?: readonly BodyText[]): Result<readonly StoredEvent[], Rejection>;
}

export interface SessionContent {
  /** Everything that the view shows, with its content; with `upTo`, nothing after that position. */
  readView(upTo?: number): Omit<ViewInput, "model">;
  readParts(item: ItemMeta): readonly Part[];
  /** Tools of the running turn; between turns, those of the last one. */
  readTools(): readonly ToolDefinition[];
  /** The chain of summaries in the view, oldest first. */
  readSummaries(): readonly string[];
  /** Items `from..to` with their content, oldest first, read page by page as they are asked for. */
  readForwards(range: {
    readonly from: number;
    readonly to: number;
  }): Iterable<{ readonly meta: ItemMeta; readonly parts: readonly Part[] }>;
  /** The same, newest first. `isWanted`: the content of any other item is not read. */
  readBackwards(
    range: { readonly from: number; readonly to: number },
    isWanted?: (meta: ItemMeta) => boolean,
  ): Iterable<{ readonly meta: ItemMeta; readonly parts: readonly Part[] }>;
  readText(id: BodyId): string | null;
  /** The same for all requests of the session, and no other's; null: it was never opened. */
  readCacheKey(): string | null;
}

/** Why nothing comes for a while: the model is asked again after `wait_ms`. */
export interface Waiting {
  readonly model: string;
  readonly reason: TurnFailureKind;
  readonly wait_ms: number;
}

/** Text as it arrives, for whoever listens. */
interface LiveOutput {
  waiting(turn: TurnId, waiting: Waiting): void;
  delta(turn: TurnId, kind: "text" | "reasoning", text: string): void;
}

export interface Deadlines {
  /** From the call to the first that is heard of the provider. */
  readonly firstTokenMs: number;
  /** Without a byte after that. */
  readonly idleMs: number;
  /** In place of both where the model is known to think, but after a piece of text. */
  readonly thinkingMs: number;
  /** The whole call. */
  readonly totalMs: number;
}

/** Runs `work` after `ms`; the result cancels it. */
export type Schedule = (ms: number, work: () => void) => () => void;

/** Tokens of a reply by the model's id. */
export type ReplyCaps = Map<string, number>;

export interface SessionPorts {
  /** Keeps the call under way durably, should the object die in the middle of it. Throws where it cannot. */
  readonly noteCall: (call: ModelCall) => void;
  /** Whether there is too little room to begin anything: no model is asked for what could not be recorded. */
  readonly storageIsFull: () => boolean;
  readonly writer: SessionWriter;
  readonly content: SessionContent;
  readonly output: LiveOutput;
  readonly model: ChatModel;
  readonly models: ModelDirectory;
  /** Tools that the tenant registered. */
  readonly tools: ToolRunner;
  /** Looks up what the session's record holds, for its model (`memory_query`): arguments as its schema wants them. */
  readonly recall: (query: Readonly<Record<string, unknown>>) => Promise<ToolOutcome>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly schedule: Schedule;
  readonly deadlines: Deadlines;
  /** From 0 to below 1: how long a retry waits. */
  readonly random: () => number;
  /** What models were found to take as the length of a reply. */
  readonly replyCaps: ReplyCaps;
  /** SHA-256, hexadecimal. */
  readonly digest: (text: string) => Promise<string>;
  readonly log: Log;
}
