/** Follows one item of a stream from its beginning to its end. */
import { isDeepStrictEqual } from "node:util";
import type { ResponseStreamEvent } from "./event-schemas";
import type { OutputItem } from "./item-schemas";
import type { Report } from "./rules";

export type ItemEvent = Extract<ResponseStreamEvent, { item_id: string }>;

type PartKind = "output_text" | "refusal" | "summary_text";
type Told = { readonly step: "added" | "delta" | "whole" | "done"; readonly kind: PartKind; readonly index: number; readonly text: string };

interface Part {
  readonly kind: PartKind;
  text: string;
  /** The step that came last. */
  step: Told["step"];
}

type Written = { readonly type: PartKind; readonly text: string } | { readonly type: "refusal"; readonly refusal: string };
const readText = (part: Written): string => ("refusal" in part ? part.refusal : part.text);

export class ItemCheck {
  readonly #begun: OutputItem;
  readonly #report: Report;
  /** By their index. */
  readonly #parts = new Map<number, Part>();
  /** The arguments of a call so far. */
  #arguments = "";
  #areArgumentsWhole = false;
  #serverCall: "none" | "begun" | "completed" | "failed" = "none";
  #ended: OutputItem | null = null;

  constructor(begun: OutputItem, report: Report) {
    this.#begun = begun;
    this.#report = report;
    if (isWhole(begun)) return;
    if (begun.status !== "in_progress" && begun.type !== "reasoning") report("added", `${begun.id} begins as ${begun.status}`);
    if (!isEmpty(begun)) report("added", `${begun.id} begins with content`);
  }

  get id(): string {
    return this.#begun.id;
  }

  /** The item as its last event has it. */
  get ended(): OutputItem | null {
    return this.#ended;
  }

  take(event: ItemEvent): void {
    if (this.#ended) return this.#report("known", `${event.type} after the end of ${this.id}`);
    if (event.item_id !== this.id) this.#report("identity", `${event.type} names ${event.item_id} in place of ${this.id}`);
    const told = readPart(event);
    if (told) this.#takePart(told);
    else this.#takeCall(event);
  }

  end(item: OutputItem): void {
    if (this.#ended) return this.#report("known", `${this.id} ends twice`);
    this.#ended = item;
    if (!isDeepStrictEqual(readIdentity(item), readIdentity(this.#begun)))
      this.#report("identity", `${this.id} ends as ${JSON.stringify(readIdentity(item))}`);
    if ("status" in item && item.status === "in_progress") this.#report("status", `${this.id} ends in progress`);
    if (item.type === "message") this.#endParts(item.content);
    else if (item.type === "reasoning") this.#endParts(item.summary);
    else if (!isWhole(item)) this.#endCall(item);
  }

  /** Each part goes through its steps in order, and the next one begins after it. */
  #takePart({ step, kind, index, text }: Told): void {
    if (step === "added") return this.#addPart({ kind, index, text });
    const part = this.#parts.get(index);
    if (part?.kind !== kind) return this.#report("part", `a ${step} of ${kind} ${index} of ${this.id}, which was not added`);
    const before: readonly Part["step"][] = step === "done" ? ["whole"] : ["added", "delta"];
    if (!before.includes(part.step)) this.#report("part", `a ${step} after ${part.step} of part ${index} of ${this.id}`);
    part.step = step;
    if (step === "delta") part.text += text;
    else if (part.text !== text) this.#report("text", `part ${index} of ${this.id} is ${quote(text)}, its deltas ${quote(part.text)}`);
  }

  #addPart({ kind, index, text }: Omit<Told, "step">): void {
    const isNext = index === this.#parts.size && [...this.#parts.values()].every(({ step }) => step === "done");
    if (!isNext || !fits(kind, this.#begun)) this.#report("part", `a part ${kind} ${index} of ${this.id}, which has ${this.#parts.size}`);
    if (text !== "") this.#report("part", `part ${index} of ${this.id} begins with ${quote(text)}`);
    this.#parts.set(index, { kind, text: "", step: "added" });
  }

  #endParts(written: readonly Written[]): void {
    for (const [index, part] of this.#parts) if (part.step !== "done") this.#report("open", `part ${index} of ${this.id} was left open`);
    const told = [...this.#parts.values()].map(({ kind, text }) => [kind, text]);
    const whole = written.map((part) => [part.type, readText(part)]);
    if (!isDeepStrictEqual(told, whole)) this.#report("text", `${this.id} ends with ${quote(JSON.stringify(whole))}`);
  }

  #takeCall(event: ItemEvent): void {
    const server = event.type.startsWith("response.mcp_call");
    if (this.#begun.type !== (server ? "mcp_call" : "function_call"))
      return this.#report("call", `${event.type} for ${this.id}, a ${this.#begun.type}`);
    switch (event.type) {
      case "response.mcp_call.in_progress":
        if (this.#serverCall !== "none" || this.#arguments !== "" || this.#areArgumentsWhole)
          this.#report("call", `${this.id} begins late`);
        this.#serverCall = "begun";
        return;
      case "response.mcp_call.completed":
      case "response.mcp_call.failed":
        if (this.#serverCall !== "begun" || !this.#areArgumentsWhole) this.#report("call", `${this.id} ends before it began`);
        this.#serverCall = event.type === "response.mcp_call.completed" ? "completed" : "failed";
        return;
      default:
        return this.#takeArguments(event);
    }
  }

  #takeArguments(event: ItemEvent): void {
    if (this.#areArgumentsWhole) this.#report("call", `${event.type} after the whole arguments of ${this.id}`);
    if ("delta" in event) this.#arguments += event.delta;
    if (!("arguments" in event)) return;
    this.#areArgumentsWhole = true;
    this.#compareArguments(event.arguments);
    const { name = null } = "name" in event ? event : {};
    if (name !== null && "name" in this.#begun && name !== this.#begun.name) this.#report("identity", `${this.id} is named ${name}`);
  }

  #endCall(item: Extract<OutputItem, { type: "function_call" | "mcp_call" }>): void {
    if (!this.#areArgumentsWhole) this.#report("call", `${this.id} ends without its arguments`);
    this.#compareArguments(item.arguments);
    if (item.type !== "mcp_call") return;
    const isSaid = this.#serverCall === (item.status === "completed" ? "completed" : "failed");
    if (!isSaid) this.#report("call", `${this.id} ends ${item.status} after ${this.#serverCall}`);
    if ((item.status === "completed") !== (item.output !== null))
      this.#report("call", `${this.id} ends ${item.status} with the wrong result`);
  }

  #compareArguments(whole: string): void {
    if (whole !== this.#arguments)
      this.#report("text", `the arguments of ${this.id} are ${quote(whole)}, their deltas ${quote(this.#arguments)}`);
  }
}

const quote = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);

/** Where parts of a kind belong. */
const fits = (kind: PartKind, { type }: OutputItem): boolean => type === (kind === "summary_text" ? "reasoning" : "message");

/** An item that has all of its members from its beginning. */
type WholeItem = Extract<OutputItem, { type: "compaction" | "mcp_approval_request" }>;
const isWhole = (item: OutputItem): item is WholeItem => item.type === "compaction" || item.type === "mcp_approval_request";

function isEmpty(item: Exclude<OutputItem, WholeItem>): boolean {
  if (item.type === "message") return item.content.length === 0;
  if (item.type === "reasoning") return item.summary.length === 0;
  return item.arguments === "" && (item.type !== "mcp_call" || (item.output === null && item.error === null));
}

/** The members that an item has from its beginning. */
function readIdentity(item: OutputItem): object {
  const { id, type } = item;
  if (isWhole(item)) return item;
  if (type === "message") return { id, type, role: item.role };
  if (type === "function_call") return { id, type, call_id: item.call_id, name: item.name };
  return type === "mcp_call" ? { id, type, server_label: item.server_label, name: item.name } : { id, type };
}

function readPart(event: ItemEvent): Told | null {
  switch (event.type) {
    case "response.content_part.added":
    case "response.content_part.done":
      return { step: toStep(event.type), kind: event.part.type, index: event.content_index, text: readText(event.part) };
    case "response.reasoning_summary_part.added":
    case "response.reasoning_summary_part.done":
      return { step: toStep(event.type), kind: "summary_text", index: event.summary_index, text: event.part.text };
    case "response.output_text.delta":
      return { step: "delta", kind: "output_text", index: event.content_index, text: event.delta };
    case "response.output_text.done":
      return { step: "whole", kind: "output_text", index: event.content_index, text: event.text };
    case "response.refusal.delta":
      return { step: "delta", kind: "refusal", index: event.content_index, text: event.delta };
    case "response.refusal.done":
      return { step: "whole", kind: "refusal", index: event.content_index, text: event.refusal };
    case "response.reasoning_summary_text.delta":
      return { step: "delta", kind: "summary_text", index: event.summary_index, text: event.delta };
    case "response.reasoning_summary_text.done":
      return { step: "whole", kind: "summary_text", index: event.summary_index, text: event.text };
    default:
      return null;
  }
}

const toStep = (type: string): "added" | "done" => (type.endsWith(".added") ? "added" : "done");
