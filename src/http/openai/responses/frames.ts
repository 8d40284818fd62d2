/**
 * The frames of a turn as the events of one response. The same frames always give the same events, so that a client that comes back is
 * told them again from the first frame, and what it has is left out.
 */
import type { StreamFrame } from "../../../contract/frame";
import type { DisplayItem } from "../../../contract/item";
import type { ExecutionId, ItemId, SessionId } from "../../../domain/ids";
import { type CallUsage, plusUsage } from "../../../domain/model-call";
import type { NamedLeg } from "../../surface/ids";
import { toItemName } from "../items/item-names";
import type { OpenAiItem } from "../items/item-types";
import { buildOutput, ItemWriter, type NumberedEvent, type ResponseEvent, readText } from "./events";
import { endTurn, findCompletion } from "./leg";
import { buildResponse, type LegEnd, type ResponseHead } from "./resource";

type Deltas = Extract<StreamFrame, { type: "text.delta" | "reasoning.delta" }>;
type Ended = Extract<StreamFrame, { type: "turn.completed" | "turn.failed" | "turn.stopped" | "turn.interrupted" }>;

interface FoldInput {
  readonly head: ResponseHead;
  /** The leg that is told, and the one that the first frame belongs to. */
  readonly leg: NamedLeg;
  readonly from: number;
  /** Who runs the calls that are known already. Of the others the frames say it. */
  readonly runs: ReadonlyMap<ExecutionId, "client" | "server">;
}

const STATUSES = {
  "turn.completed": "completed",
  "turn.failed": "failed",
  "turn.stopped": "stopped",
  "turn.interrupted": "interrupted",
} as const satisfies Record<Ended["type"], string>;

const GONE = {
  "session.erased": { code: "server_error", message: "The conversation was deleted." },
  "stream.halted": { code: "server_error", message: "The conversation's storage is full: the response cannot go on." },
} as const;

/** A reply that is being written. */
interface OpenReply {
  readonly id: ItemId;
  readonly items: ReturnType<ItemWriter["open"]>[];
}

export class ResponseFold {
  readonly #head: ResponseHead;
  readonly #session: SessionId;
  readonly #wanted: number;
  readonly #runs: Map<ExecutionId, "client" | "server">;
  readonly #writer = new ItemWriter();
  #leg: number;
  #sequence = 0;
  #createdAt: number;
  #hasBegun = false;
  #hasEnded = false;
  #needsPerson = false;
  #reply: OpenReply | null = null;
  /** The leg's messages. */
  #messages: DisplayItem[] = [];
  /** How many calls of the last reply were written. */
  #written = 0;
  #usage: CallUsage | null = null;

  constructor({ head, leg, from, runs }: FoldInput) {
    this.#head = head;
    this.#createdAt = head.created_at;
    this.#session = leg.session;
    this.#wanted = leg.leg;
    this.#leg = from;
    this.#runs = new Map(runs);
  }

  /** The last that was heard: a person has to approve a call. */
  get needsPerson(): boolean {
    return this.#needsPerson;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The events that the frame leads to. */
  take(frame: StreamFrame): readonly NumberedEvent[] {
    if (this.#hasEnded) return [];
    const begun = this.#begin(frame);
    const told = this.#tell(frame);
    return this.#number([...begun, ...this.#writer.take(), ...told]);
  }

  #number(events: readonly ResponseEvent[]): readonly NumberedEvent[] {
    return events.map((event) => ({ ...event, sequence_number: this.#sequence++ }));
  }

  get #isOwn(): boolean {
    return this.#leg === this.#wanted;
  }

  /** The first events come with the first frame of the leg. Results of calls belong to no leg. */
  #begin(frame: StreamFrame): readonly ResponseEvent[] {
    const isResult = frame.type === "item.completed" && frame.item.role === "tool";
    if (this.#hasBegun || !this.#isOwn || isResult || frame.type === "usage.updated") return [];
    this.#hasBegun = true;
    const { background } = this.#head.asked;
    const queued = { type: "response.queued", response: this.#show({ status: "queued" }) };
    const created = { type: "response.created", response: this.#show({ status: background ? "queued" : "in_progress" }) };
    const running = { type: "response.in_progress", response: this.#show({ status: "in_progress" }) };
    return background ? [created, queued, running] : [created, running];
  }

  #show(end: LegEnd, usage: CallUsage | null = null) {
    const head = { ...this.#head, created_at: this.#createdAt };
    const completed_at = findCompletion(this.#messages, this.#createdAt);
    return buildResponse(head, { end, completed_at, output: this.#output, usage });
  }

  get #output(): readonly OpenAiItem[] {
    const ranHere = new Set([...this.#runs].flatMap(([id, runs]) => (runs === "server" ? [id] : [])));
    return buildOutput(this.#messages, { session: this.#session, ranHere });
  }

  #tell(frame: StreamFrame): readonly ResponseEvent[] {
    switch (frame.type) {
      case "text.delta":
      case "reasoning.delta":
        this.#write(frame);
        return [];
      case "tool.started":
        this.#needsPerson = false;
        this.#runs.set(frame.execution_id, "server");
        return [];
      case "turn.awaiting_tools":
        for (const call of frame.tool_calls) this.#runs.set(call.id, call.runs);
        if (frame.content_omitted) this.#assumeClient();
        this.#needsPerson = this.#isOwn;
        return this.#wait();
      case "turn.started":
      case "turn.resumed":
        // Text that a lost process had shown begins anew.
        this.#abandonReply();
        return [];
      case "item.completed":
        if (frame.item.role !== "assistant") return this.#takeResult(frame.item);
        this.#takeReply(frame.content_omitted ? this.#fillIn(frame.item) : frame.item);
        return [];
      case "usage.updated":
        if (frame.source === "turn" && this.#isOwn) this.#usage = plusUsage(this.#usage, frame.usage);
        return [];
      case "message.cancelled":
        return this.#end({ status: "cancelled" }, null);
      case "session.erased":
      case "stream.halted":
        return this.#end({ status: "failed", error: GONE[frame.type] }, null);
      case "turn.completed":
      case "turn.failed":
      case "turn.stopped":
      case "turn.interrupted":
        return this.#endTurn(frame);
      default:
        return [];
    }
  }

  /** A frame that is too long leaves its calls out. Those that have not begun here are the client's. */
  #assumeClient(): void {
    for (const { execution_id } of this.#calls) if (!this.#runs.has(execution_id)) this.#runs.set(execution_id, "client");
  }

  /** A frame that is too long leaves the text out, which was told before. */
  #fillIn(message: DisplayItem): DisplayItem {
    const told = this.#reply?.id === message.id ? this.#reply.items : [];
    return { ...message, content: told.map(({ kind, text }) => ({ type: kind, text })) };
  }

  #write({ type, message_id, text }: Deltas): void {
    if (!this.#isOwn || message_id === undefined) return;
    if (this.#reply?.id !== message_id) this.#abandonReply();
    this.#reply ??= { id: message_id, items: [] };
    const { items } = this.#reply;
    const kind = type === "text.delta" ? "text" : "reasoning";
    const last = items.at(-1);
    if (last?.kind === kind) return this.#writer.append(last, text);
    if (last) this.#writer.close(last, "completed");
    const nth = items.filter((item) => item.kind === kind).length + 1;
    const next = this.#writer.open(
      kind,
      toItemName({ prefix: kind === "text" ? "msg" : "rs", session: this.#session, id: message_id, nth }),
    );
    items.push(next);
    this.#writer.append(next, text);
  }

  #abandonReply(): void {
    for (const item of this.#reply?.items ?? []) this.#writer.close(item, "incomplete");
    this.#reply = null;
  }

  #takeReply(message: DisplayItem): void {
    if (this.#isOwn) this.#finishReply(message);
    this.#messages = this.#isOwn ? [...this.#messages, message] : [message];
    this.#written = 0;
    this.#writeCalls();
  }

  #finishReply(message: DisplayItem): void {
    const begun = this.#reply?.id === message.id ? this.#reply.items : [];
    if (this.#reply?.id !== message.id) this.#abandonReply();
    const said = buildOutput([message], { session: this.#session, ranHere: new Set() }).filter(
      ({ type }) => type === "message" || type === "reasoning",
    );
    for (const [index, item] of said.entries()) {
      const open = begun[index];
      const whole = readText(item);
      if (!open) this.#writer.write(item);
      else if (open.isOpen && whole.startsWith(open.text)) this.#writer.append(open, whole.slice(open.text.length));
      // Some of the text was not heard. The event that ends the item has all of it.
      else if (open.isOpen) open.text = whole;
    }
    for (const open of begun) this.#writer.close(open, message.incomplete ? "incomplete" : "completed");
    this.#reply = null;
  }

  /** A result that comes before it is known who ran its call came from this side. The client's results begin the next leg. */
  #takeResult(result: DisplayItem): readonly ResponseEvent[] {
    const { execution_id } = result;
    if (execution_id === undefined) return [];
    const isOfLeg = this.#calls.some((call) => call.execution_id === execution_id);
    if (isOfLeg && !this.#runs.has(execution_id)) this.#runs.set(execution_id, "server");
    if (isOfLeg && this.#runs.get(execution_id) === "server") {
      this.#messages.push(result);
      this.#writeCalls();
      return [];
    }
    const ended = this.#wait();
    if (!this.#hasEnded && !this.#hasBegun && this.#wanted > 1) this.#createdAt = Math.floor(result.recorded_at / 1_000);
    return ended;
  }

  get #calls() {
    return this.#messages.findLast(({ role }) => role === "assistant")?.tool_calls ?? [];
  }

  /** Writes the calls of the last reply in their order, as far as they are known: the client's at once, the server's with their results. */
  #writeCalls(all = false): void {
    if (!this.#isOwn) return;
    const items = new Map(this.#output.map((item) => [item.id, item]));
    for (const call of this.#calls.slice(this.#written)) {
      const runs = this.#runs.get(call.execution_id);
      const isAnswered = this.#messages.some(({ execution_id }) => execution_id === call.execution_id);
      if (!all && runs !== "client" && !(runs === "server" && isAnswered)) return;
      const item = items.get(toItemName({ prefix: runs === "server" ? "mcp" : "fc", session: this.#session, id: call.id }));
      if (item) this.#writer.write(item);
      this.#written++;
    }
  }

  /** The leg is over when its last reply has a call that the client owes. */
  #wait(): readonly ResponseEvent[] {
    if (!this.#calls.some(({ execution_id }) => this.#runs.get(execution_id) === "client")) {
      this.#writeCalls();
      return [];
    }
    if (this.#isOwn) return this.#end({ status: "completed" }, this.#usage);
    this.#leg++;
    this.#messages = [];
    return [];
  }

  #endTurn(frame: Ended): readonly ResponseEvent[] {
    if (!this.#isOwn) return [];
    const status = STATUSES[frame.type];
    const [finish, failure] = [frame.type === "turn.completed" ? frame.finish : null, frame.type === "turn.failed" ? frame.failure : null];
    return this.#end(endTurn({ status, finish, failure }), this.#wanted === 1 ? frame.usage : this.#usage);
  }

  #end(end: LegEnd, usage: CallUsage | null): readonly ResponseEvent[] {
    this.#abandonReply();
    this.#writeCalls(true);
    this.#hasEnded = true;
    const items = this.#writer.take();
    const response = this.#show(end, usage);
    if (end.status === "failed") return [...items, toErrorEvent(end.error), { type: "response.failed", response }];
    // There is no event for a response that was cancelled.
    return [...items, { type: end.status === "completed" ? "response.completed" : "response.incomplete", response }];
  }
}

/** Clients read the fields nested or flat. */
export const toErrorEvent = ({ code, message }: { readonly code: string; readonly message: string }): ResponseEvent => ({
  type: "error",
  code,
  message,
  param: null,
  error: { type: "server_error", code, message, param: null },
});
