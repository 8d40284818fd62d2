/**
 * The frames of a turn as the events of one response. The same frames always give the same events, so that a client that comes back is
 * told them again from the first frame, and what it has is left out.
 */
import type { StreamFrame } from "../../../contract/frame";
import type { DisplayItem } from "../../../contract/item";
import type { ToolCallView } from "../../../contract/tool";
import type { ExecutionId, SessionId } from "../../../domain/ids";
import { type CallUsage, plusUsage } from "../../../domain/model-call";
import type { NamedLeg } from "../../surface/ids";
import type { AskedCall, WhoRuns } from "../../surface/read-runs";
import { toItemName } from "../items/item-names";
import type { OpenAiItem } from "../items/item-types";
import type { ShownIn } from "../items/items";
import { listServers } from "./asked";
import { buildOutput, ItemWriter, type NumberedEvent, type ResponseEvent } from "./events";
import { GONE, readTurnEnd, type TurnEndFrame, toErrorEvent } from "./frame-ends";
import { findCompletion } from "./leg";
import { ReplyWriter } from "./reply-writer";
import { buildResponse, type LegEnd, type ResponseHead } from "./resource";
import { listForms } from "./tools";

interface FoldInput {
  readonly head: ResponseHead;
  /** The leg that is told, and the one that the first frame belongs to. */
  readonly leg: NamedLeg;
  readonly from: number;
  /** Who runs the calls that are known already. Of the others the frames say it. */
  readonly runs: ReadonlyMap<ExecutionId, "client" | "server">;
  /** The calls that the turn is known to have waited with for a person. */
  readonly approvals: WhoRuns["approvals"];
}

export class ResponseFold {
  readonly #head: ResponseHead;
  readonly #tools: Pick<ShownIn, "servers" | "forms">;
  readonly #session: SessionId;
  readonly #wanted: number;
  readonly #runs: Map<ExecutionId, "client" | "server">;
  readonly #approvals: Map<ExecutionId, AskedCall>;
  readonly #writer = new ItemWriter();
  readonly #reply: ReplyWriter;
  #leg: number;
  #sequence = 0;
  #createdAt: number;
  #hasBegun = false;
  #hasEnded = false;
  #needsPerson = false;
  /** The leg's messages. */
  #messages: DisplayItem[] = [];
  /** How many calls of the last reply were written. */
  #written = 0;
  #usage: CallUsage | null = null;

  constructor({ head, leg, from, runs, approvals }: FoldInput) {
    this.#head = head;
    this.#tools = { servers: listServers(head.asked), forms: listForms(head.asked.tools) };
    this.#createdAt = head.created_at;
    this.#session = leg.session;
    this.#wanted = leg.leg;
    this.#leg = from;
    this.#reply = new ReplyWriter(this.#writer, leg.session);
    this.#runs = new Map(runs);
    this.#approvals = new Map(approvals);
  }

  /** The last that was heard: the turn waits for answers, though some were given after the leg began. */
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
    // The result of an approved call may be the first that is heard of its leg.
    const late = this.#isApproved(frame) ? this.#begin(frame) : [];
    return this.#number([...begun, ...late, ...this.#writer.take(), ...told]);
  }

  #number(events: readonly ResponseEvent[]): readonly NumberedEvent[] {
    return events.map((event) => ({ ...event, sequence_number: this.#sequence++ }));
  }

  get #isOwn(): boolean {
    return this.#leg === this.#wanted;
  }

  #isApproved(frame: StreamFrame): boolean {
    if (frame.type !== "item.completed" || frame.item.role !== "tool") return false;
    return frame.item.execution_id !== undefined && this.#approvals.has(frame.item.execution_id);
  }

  /** The first events come with the first frame of the leg. The client's results belong to no leg. */
  #begin(frame: StreamFrame): readonly ResponseEvent[] {
    const isResult = frame.type === "item.completed" && frame.item.role === "tool" && !this.#isApproved(frame);
    if (this.#hasBegun || !this.#isOwn || isResult || frame.type === "usage.updated") return [];
    this.#hasBegun = true;
    const { background } = this.#head.asked;
    const queued = { type: "response.queued", response: this.#show({ status: "queued" }) };
    const created = { type: "response.created", response: this.#show({ status: background ? "queued" : "in_progress" }) };
    const running = { type: "response.in_progress", response: this.#show({ status: "in_progress" }) };
    if (this.#head.compaction) this.#writer.write(this.#head.compaction);
    return background ? [created, queued, running] : [created, running];
  }

  #show(end: LegEnd, usage: CallUsage | null = null) {
    const head = { ...this.#head, created_at: this.#createdAt };
    const completed_at = findCompletion(this.#messages, this.#createdAt);
    // The events of the beginning come before those of the compaction.
    const isBegun = end.status !== "queued" && end.status !== "in_progress";
    const output = [...(isBegun && head.compaction ? [head.compaction] : []), ...this.#output];
    return buildResponse(head, { end, completed_at, output, usage });
  }

  get #output(): readonly OpenAiItem[] {
    const ranHere = new Set([...this.#runs].flatMap(([id, runs]) => (runs === "server" ? [id] : [])));
    return buildOutput(this.#messages, { session: this.#session, ranHere, approvals: this.#approvals, ...this.#tools });
  }

  #tell(frame: StreamFrame): readonly ResponseEvent[] {
    switch (frame.type) {
      case "text.delta":
      case "reasoning.delta":
        if (this.#isOwn) this.#reply.append(frame);
        return [];
      case "tool.started":
        this.#needsPerson = false;
        this.#runs.set(frame.execution_id, "server");
        return [];
      case "turn.awaiting_tools":
        for (const call of frame.tool_calls) this.#noteOpen(call);
        if (frame.content_omitted) this.#assumeClient();
        this.#needsPerson = this.#isOwn;
        return this.#wait();
      case "turn.started":
      case "turn.resumed":
        // Text that a lost process had shown begins anew.
        this.#reply.abandon();
        return [];
      case "item.completed":
        if (frame.item.role !== "assistant") return this.#takeResult(frame.item);
        this.#takeReply(frame.content_omitted ? this.#reply.fillIn(frame.item) : frame.item);
        return [];
      case "usage.updated":
        if (frame.source === "turn" && this.#isOwn) this.#usage = plusUsage(this.#usage, frame.usage);
        return [];
      case "message.cancelled":
        return this.#end({ status: "cancelled" }, null);
      case "session.erased":
      case "stream.halted":
        return this.#end(GONE[frame.type], null);
      case "turn.completed":
      case "turn.failed":
      case "turn.stopped":
      case "turn.interrupted":
        return this.#endTurn(frame);
      default:
        return [];
    }
  }

  #noteOpen({ id, runs, name, arguments: given, approval }: ToolCallView): void {
    this.#runs.set(id, runs);
    const item = this.#calls.find(({ execution_id }) => execution_id === id)?.id;
    if (approval === "pending" && item) this.#approvals.set(id, { item, name, arguments: given, approved: null });
  }

  /** A frame that is too long leaves its calls out. Those that have not begun here are the client's. */
  #assumeClient(): void {
    for (const { execution_id } of this.#calls) if (!this.#runs.has(execution_id)) this.#runs.set(execution_id, "client");
  }

  #takeReply(message: DisplayItem): void {
    if (this.#isOwn) this.#reply.finish(message);
    this.#messages = this.#isOwn ? [...this.#messages, message] : [message];
    this.#written = 0;
    this.#writeCalls();
  }

  /**
   * A result that comes before it is known who ran its call came from this side. The client's results begin the next leg, and the result of
   * an approved call is of that leg.
   */
  #takeResult(result: DisplayItem): readonly ResponseEvent[] {
    const { execution_id } = result;
    if (execution_id === undefined) return [];
    const isApproved = this.#approvals.has(execution_id);
    const isOfLeg = !isApproved && this.#calls.some((call) => call.execution_id === execution_id);
    if (isOfLeg && !this.#runs.has(execution_id)) this.#runs.set(execution_id, "server");
    if (isOfLeg && this.#runs.get(execution_id) === "server") {
      this.#messages.push(result);
      this.#writeCalls();
      return [];
    }
    const ended = this.#wait();
    if (isApproved) {
      if (!this.#hasEnded && this.#isOwn) this.#takeApproved(result);
      return ended;
    }
    if (!this.#hasEnded && !this.#hasBegun && this.#wanted > 1) this.#createdAt = Math.floor(result.recorded_at / 1_000);
    return ended;
  }

  #takeApproved(result: DisplayItem): void {
    this.#messages.push(result);
    const item = this.#output.at(-1);
    if (item) this.#writer.write(item);
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
      const isAsked = this.#approvals.has(call.execution_id);
      if (!all && !isAsked && runs !== "client" && !(runs === "server" && isAnswered)) return;
      const prefix = isAsked ? "mcpr" : runs === "server" ? "mcp" : "fc";
      const item = items.get(toItemName({ prefix, session: this.#session, id: call.id }));
      if (item) this.#writer.write(item);
      this.#written++;
    }
  }

  /** The leg is over when its last reply has a call that the client owes, or that a person has to approve. */
  #wait(): readonly ResponseEvent[] {
    const isOwed = ({ execution_id: id }: { readonly execution_id: ExecutionId }) =>
      this.#runs.get(id) === "client" || this.#approvals.has(id);
    if (!this.#calls.some(isOwed)) {
      this.#writeCalls();
      return [];
    }
    if (this.#isOwn) return this.#end({ status: "completed" }, this.#usage);
    this.#leg++;
    this.#messages = [];
    return [];
  }

  #endTurn(frame: TurnEndFrame): readonly ResponseEvent[] {
    if (!this.#isOwn) return [];
    return this.#end(readTurnEnd(frame), this.#wanted === 1 ? frame.usage : this.#usage);
  }

  #end(end: LegEnd, usage: CallUsage | null): readonly ResponseEvent[] {
    this.#reply.abandon();
    this.#writeCalls(true);
    this.#hasEnded = true;
    const items = this.#writer.take();
    const response = this.#show(end, usage);
    if (end.status === "failed") return [...items, toErrorEvent(end.error), { type: "response.failed", response }];
    // There is no event for a response that was cancelled.
    return [...items, { type: end.status === "completed" ? "response.completed" : "response.incomplete", response }];
  }
}
