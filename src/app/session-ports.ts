/** What the application layer needs from one session's object: the single writer, its content, and its live stream. */
import type { Generation } from "../context/generation";
import type { Quirks } from "../context/model-quirks";
import type { ViewInput } from "../context/view";
import type { Command, ModelCall } from "../domain/commands";
import type { StoredEvent, TurnFailureKind } from "../domain/events";
import type { BodyId, ItemId, TurnId } from "../domain/ids";
import type { ItemMeta, Part, ToolDefinition } from "../domain/message";
import type { Rejection } from "../domain/rejection";
import type { SessionState } from "../domain/state";
import type { Result } from "../lib/result";
import type { CallBudgets } from "./budget-ports";
import type { ChatModel, Clock, Ids, Log, ModelDirectory, ToolOutcome, ToolRunner } from "./ports";

/** A text that an event introduces. */
export interface BodyText {
  readonly id: BodyId;
  readonly text: string;
}

/** The single writer. All of it is synchronous: nothing else runs between two lines without an await. */
export interface SessionWriter {
  /** The current state. Read it again after every await. */
  readonly state: SessionState;
  /** `note`: called in the transaction of the events, if there are any. */
  execute(
    command: Command,
    bodies?: readonly BodyText[],
    note?: (events: readonly StoredEvent[]) => void,
  ): Result<readonly StoredEvent[], Rejection>;
}

export interface SessionContent {
  /** Everything that the view shows, with its content. `upTo`: the last position to include. */
  readView(upTo?: number): Omit<ViewInput, "model">;
  readParts(item: ItemMeta): readonly Part[];
  /** Tools of the running turn; between turns, those of the last one. */
  readTools(): readonly ToolDefinition[];
  /** The generation settings of the open turn over the session's; between turns, the session's. */
  readGeneration(): Generation;
  /** The summaries in the view, oldest first. */
  readSummaries(): readonly string[];
  /** The items `from..to` that a model reads, with their content, oldest first, page by page on demand. What a retry took back is left out. */
  readForwards(range: {
    readonly from: number;
    readonly to: number;
  }): Iterable<{ readonly meta: ItemMeta; readonly parts: readonly Part[] }>;
  /**
   * The items `from..to` that a model reads, newest first. `isWanted`: items for which it is false are skipped, and their content is not read.
   */
  readBackwards(
    range: { readonly from: number; readonly to: number },
    isWanted?: (meta: ItemMeta) => boolean,
  ): Iterable<{ readonly meta: ItemMeta; readonly parts: readonly Part[] }>;
  readText(id: BodyId): string | null;
  /** One value for all requests of this session and of no other session. Null when the session was never opened. */
  readCacheKey(): string | null;
}

/** A pause before a retry: the model is asked again after `wait_ms`. */
export interface Waiting {
  readonly model: string;
  readonly reason: TurnFailureKind;
  readonly wait_ms: number;
}

export interface Deadlines {
  /** From the call to the first sign of life from the provider. */
  readonly firstTokenMs: number;
  /** The longest silence after the first sign of life. */
  readonly idleMs: number;
  /** Replaces both of the above for a model that is known to think, except after a piece of text. */
  readonly thinkingMs: number;
  /** The longest duration of the whole call. */
  readonly totalMs: number;
}

/** Runs `work` after `ms`. The returned function cancels it. */
export type Schedule = (ms: number, work: () => void) => () => void;

/** The most tokens of a reply, by model id. */
export type ReplyCaps = Map<string, number>;

/** What refusals taught about models, for the rest of the object's life. `SessionPorts.models` resolves each with that. */
export interface Lessons {
  note(model: string, lesson: Quirks): void;
  find(model: string): Quirks | null;
}

/** A piece of the reply that a model is writing. `message`: the id that the reply gets when it is recorded. */
interface ReplyDelta {
  readonly turn: TurnId;
  readonly message: ItemId;
  readonly kind: "text" | "reasoning";
  readonly text: string;
}

export interface SessionPorts {
  /** Stores the running call durably, in case the object dies during it. Throws when it cannot. */
  readonly noteCall: (call: ModelCall) => void;
  /** Keeps an excerpt of the provider's message about the failure that ends the turn. It is content, so no event has it. */
  readonly noteExcerpt: (turn: TurnId, excerpt: string) => void;
  /** True when there is too little space to begin new work. No model is asked then, because its reply could not be recorded. */
  readonly storageIsFull: () => boolean;
  readonly writer: SessionWriter;
  readonly content: SessionContent;
  /** Shows a piece of the reply to the clients that read the live stream. */
  readonly showDelta: (delta: ReplyDelta) => void;
  readonly showWaiting: (turn: TurnId, waiting: Waiting) => void;
  readonly model: ChatModel;
  /** Pays for calls under the tenant's budgets. */
  readonly budgets: CallBudgets;
  readonly models: ModelDirectory;
  /** Tools that the tenant registered. */
  readonly tools: ToolRunner;
  /** Searches the session's record for the model (`memory_query`). The arguments match the tool's schema. */
  readonly recall: (query: Readonly<Record<string, unknown>>) => Promise<ToolOutcome>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly schedule: Schedule;
  readonly deadlines: Deadlines;
  /** A random number from 0 to below 1, for the wait before a retry. */
  readonly random: () => number;
  /** Reply lengths that models were found to accept. */
  readonly replyCaps: ReplyCaps;
  readonly lessons: Lessons;
  /** SHA-256, hexadecimal. */
  readonly digest: (text: string) => Promise<string>;
  readonly log: Log;
}
