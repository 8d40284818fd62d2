/**
 * The frames of a turn as the chunks of the AI SDK's UI message stream, protocol v1. One turn is one assistant message, whose id
 * is the turn's: a client that answers a call, or comes back, continues the same message.
 */
import { COMPACTING_STATUS } from "../../app/compaction/compacting-status";
import type { ExecutionView } from "../../contract/execution";
import type { StreamFrame } from "../../contract/frame";
import type { DisplayItem } from "../../contract/item";
import type { CompactionId, TurnId } from "../../domain/ids";
import type { FinishReason } from "../../domain/model-call";
import type { Translator } from "../surface/translate-stream";
import { tellCompacting, tellUsage, toSideChunks } from "./data-parts";
import { StepWriter } from "./step-writer";
import { ToolWriter } from "./tool-writer";
import type { Chunk } from "./ui-message";

export const STREAM_HEADER = "x-vercel-ai-ui-message-stream";
const DONE = "data: [DONE]\n\n";

const toEvent = (chunk: Chunk): string => `data: ${JSON.stringify(chunk)}\n\n`;

const FINISHES: Readonly<Record<FinishReason, string>> = {
  stop: "stop",
  length: "length",
  tool_calls: "tool-calls",
  content_filter: "content-filter",
  other: "other",
};

/** The newest calls that the client has, by their executions. What comes before the last of these is left out. */
export interface Had {
  /** Calls with their results. */
  readonly results: ReadonlySet<string>;
  /** Calls whose approval was answered, without a result. */
  readonly approvals: ReadonlySet<string>;
}

export interface RecordedTurn {
  readonly items: readonly DisplayItem[];
  readonly executions: readonly Pick<ExecutionView, "id" | "runs" | "status">[];
}

interface Place {
  readonly turn: TurnId;
  /** How many steps the client has of this message. */
  readonly steps?: number;
  /** What the client has of the turn. Absent: as much as comes before the first frame. */
  readonly had?: Had;
  /** What the record had of the turn. It stands for frames that are not kept any more. */
  readonly recorded?: RecordedTurn | null;
  /** The compaction that ran when the stream was opened. */
  readonly compacting?: CompactionId | null;
}

/** The chunks that a frame leads to. */
class UiStream {
  readonly #place: Place;
  readonly #step: StepWriter;
  readonly #tools: ToolWriter;
  readonly #unseen: Set<string>;
  /** Frames follow of what the record has told. */
  #isBehind = false;
  #chunks: Chunk[] = [];
  #hasBegun = false;
  /** A frame of the turn was read. What concerns the whole conversation may be much older than the turn. */
  #isWithin = false;
  /** The turn has ended, or the stream cannot go on. */
  #hasEnded = false;
  #awaits = false;

  constructor(place: Place) {
    this.#place = place;
    this.#unseen = new Set([...(place.had?.results ?? []), ...(place.had?.approvals ?? [])]);
    const write = (chunk: Chunk): void => {
      this.#chunks.push(chunk);
    };
    this.#step = new StepWriter(write, place.steps ?? 0);
    this.#tools = new ToolWriter(write);
  }

  note(frame: StreamFrame): readonly Chunk[] {
    const skips = this.#unseen.size > 0;
    this.#read(frame);
    const chunks = this.#take();
    return [...this.#start(), ...(skips ? chunks.filter((chunk) => this.#isLacking(chunk)) : chunks)];
  }

  /** After the last frame. */
  finish(): readonly Chunk[] {
    if (this.#hasEnded) return this.#start();
    this.#end({ type: "finish", finishReason: this.#awaits ? "tool-calls" : "other" });
    return [...this.#start(), ...this.#take()];
  }

  fail(errorText: string): readonly Chunk[] {
    this.#hasEnded = true;
    return [...this.#start(), { type: "error", errorText }];
  }

  /** The result of a call that the client has approved or refused. */
  #isLacking({ type, toolCallId }: Chunk): boolean {
    return type.startsWith("tool-output-") && typeof toolCallId === "string" && this.#place.had?.approvals.has(toolCallId) === true;
  }

  #start(): Chunk[] {
    if (this.#hasBegun) return [];
    this.#hasBegun = true;
    const { turn, compacting } = this.#place;
    return [{ type: "start", messageId: turn }, ...(compacting ? [tellCompacting(compacting, COMPACTING_STATUS)] : [])];
  }

  #take(): Chunk[] {
    const chunks = this.#chunks;
    this.#chunks = [];
    return chunks;
  }

  #end(...last: readonly Chunk[]): void {
    this.#hasEnded = true;
    this.#step.end();
    this.#chunks.push(...last);
  }

  #read(frame: StreamFrame): void {
    const isOwn = "turn_id" in frame && frame.turn_id === this.#place.turn;
    const { recorded } = this.#place;
    if (recorded && isOwn && !this.#isWithin && !BEGINNINGS.has(frame.type)) {
      this.#isBehind = true;
      this.#recover(recorded);
    }
    this.#isWithin ||= isOwn;
    if (("turn_id" in frame && !isOwn) || this.#isRecovered(frame)) return;
    switch (frame.type) {
      case "turn.started":
      case "turn.resumed":
      case "stream.rewind":
        this.#awaits = false;
        return this.#step.restart();
      case "stream.gap":
        return this.#step.lose();
      case "text.delta":
        return this.#step.append("text", frame.text);
      case "reasoning.delta":
        return this.#step.append("reasoning", frame.text);
      case "item.completed":
        return this.#readItem(frame.item, frame.content_omitted === true);
      case "tool.started":
        return this.#tools.learn([{ id: frame.execution_id, runs: "server" }]);
      case "approval.requested":
        return this.#tools.ask(frame.tool_call.id);
      case "approval.resolved":
        this.#unseen.delete(frame.execution_id);
        return this.#tools.resolve(frame.execution_id, frame.approved);
      case "turn.awaiting_tools":
        this.#awaits = true;
        return this.#tools.learn(frame.tool_calls);
      case "turn.completed":
        return this.#end(tellUsage(frame), { type: "finish", finishReason: FINISHES[frame.finish] });
      case "turn.failed":
        return this.#end(tellUsage(frame), { type: "error", errorText: frame.failure.detail });
      case "turn.stopped":
      case "turn.interrupted":
        return this.#end(tellUsage(frame), { type: "abort", reason: frame.type === "turn.stopped" ? frame.reason : "interrupted" });
      case "message.cancelled":
        return this.#end({ type: "abort", reason: "cancelled" });
      case "session.erased":
        return this.#end({ type: "error", errorText: "The conversation was erased." });
      case "stream.halted":
        return this.#end({ type: "error", errorText: "The conversation's storage is full. Its turn goes on when there is room." });
      default:
        if (this.#isWithin) this.#chunks.push(...toSideChunks(frame));
    }
  }

  /** The turn's first frames are gone. Its replies and results are in the record; a reply that is being made is told when it is complete. */
  #recover({ items, executions }: RecordedTurn): void {
    for (const { id, status } of executions) if (status === "denied") this.#tools.deny(id);
    for (const item of items) {
      this.#readItem(item, false);
      this.#tools.learn(executions);
    }
    for (const { id, status } of executions) if (status === "awaiting_approval") this.#tools.ask(id);
    this.#step.lose();
  }

  /** Whether the record has told already what this frame tells. */
  #isRecovered(frame: StreamFrame): boolean {
    if (!this.#isBehind || !("turn_id" in frame) || ENDS.has(frame.type)) return false;
    if (frame.type !== "item.completed") return true;
    const items = this.#place.recorded?.items ?? [];
    const isKnown = items.some(({ id }) => id === frame.item.id);
    const isLast = items.at(-1)?.id === frame.item.id;
    this.#isBehind = isKnown && !isLast;
    if (isLast) this.#step.restart();
    return isKnown;
  }

  #readItem(item: DisplayItem, isOmitted: boolean): void {
    if (item.role === "tool") {
      this.#tools.answer(item);
      if (item.execution_id) this.#unseen.delete(item.execution_id);
      return;
    }
    if (item.role !== "assistant") return;
    const { content, tool_calls = [] } = item;
    this.#step.complete(isOmitted ? null : content, tool_calls.length > 0);
    this.#tools.call(tool_calls);
  }
}

/** The frames that a turn begins with. */
const BEGINNINGS: ReadonlySet<string> = new Set(["message.accepted", "turn.started"] satisfies StreamFrame["type"][]);
const ENDS: ReadonlySet<string> = new Set([
  "turn.completed",
  "turn.failed",
  "turn.stopped",
  "turn.interrupted",
] satisfies StreamFrame["type"][]);

const LOST = "The connection to the conversation was lost. Its turn goes on.";

export function createUiTranslator(place: Place): Translator {
  const stream = new UiStream(place);
  const write = (chunks: readonly Chunk[]): string => chunks.map(toEvent).join("");
  return {
    frame: (frame) => write(stream.note(frame)),
    end: () => write(stream.finish()) + DONE,
    broken: () => write(stream.fail(LOST)) + DONE,
  };
}
