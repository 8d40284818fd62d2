/** Collects OpenAI's items into messages: which of them are one reply, and which result answers which call. */
import type { ToolResultInput } from "../../../app/session-api";
import type { ImportedCall } from "../../../app/written-message";
import type { FieldError } from "../../../contract/problem";
import type { ItemId } from "../../../domain/ids";
import { MAX_REPLY_CALLS } from "../../../domain/message";
import { err, ok, type Result } from "../../../lib/result";
import type { ReadPart } from "./read-content";

/** A message or a reply. Its files are not looked up yet. */
interface SaidMessage {
  readonly role: "user" | "assistant" | "system";
  readonly field: string;
  readonly parts: readonly ReadPart[];
  readonly calls: readonly ImportedCall[];
  readonly incomplete: boolean;
}
/** The result of a call of the same input. */
interface ResultMessage {
  readonly role: "tool";
  readonly field: string;
  readonly call_id: string;
  readonly output: string;
  readonly is_error: boolean;
}
export type ReadMessage = SaidMessage | ResultMessage;

/** A person's answer, as the client wrote it. */
interface GivenApproval {
  readonly field: string;
  /** The name of the request. */
  readonly request: string;
  readonly approve: boolean;
  readonly reason: string | null;
}

export interface ReadInput {
  readonly messages: readonly ReadMessage[];
  /** Results of calls that are not in the input: of a turn that waits, or of an earlier reply. */
  readonly results: readonly { readonly field: string; readonly result: ToolResultInput }[];
  /** Answers to requests for approval whose calls are not in the input. */
  readonly approvals: readonly GivenApproval[];
  /** Calls of the input that the input has no result of. */
  readonly unanswered: readonly string[];
}

export const MAX_PARTS = 128;

type Read<T> = Result<T, FieldError>;

/** A reply while its items are read. */
interface OpenReply {
  readonly role: "assistant";
  readonly field: string;
  /** The message that its first item names. Null: none. */
  readonly names: ItemId | null;
  readonly parts: ReadPart[];
  readonly calls: ImportedCall[];
  /** The result of each call, by the call's place. */
  readonly results: Map<number, ResultMessage>;
  /** The files of the result of each call. */
  readonly files: Map<number, SaidMessage>;
  incomplete: boolean;
}

export class Transcript {
  /** Requests for approval are calls. */
  readonly #withRequests: boolean;
  readonly #approvals: GivenApproval[] = [];
  readonly #requests = new Set<string>();
  /** The requests for approval whose calls have run. */
  readonly #approved = new Set<string>();
  readonly #read: (ReadMessage | OpenReply)[] = [];
  readonly #results: ReadInput["results"][number][] = [];
  /** The files of those results. */
  readonly #files: SaidMessage[] = [];
  /** Calls without a result, with the reply of each. */
  readonly #open: { readonly call_id: string; readonly reply: OpenReply; readonly place: number }[] = [];
  /** The reply that further items may belong to. */
  #reply: OpenReply | null = null;

  constructor(withRequests = false) {
    this.#withRequests = withRequests;
  }

  addMessage(message: Pick<SaidMessage, "role" | "field" | "parts">): Read<null> {
    this.#reply = null;
    this.#read.push({ ...message, calls: [], incomplete: false });
    return ok(null);
  }

  addCall({ call_id, name, arguments: given }: ImportedCall, { field, status, names }: Omit<NewParts, "parts">): Read<null> {
    const reply = this.#findNamed(names) ?? this.#findUnnamed(names) ?? this.#begin(field, names);
    if (reply.calls.length >= MAX_REPLY_CALLS) return err({ field, detail: `at most ${MAX_REPLY_CALLS} calls in one reply` });
    this.#open.push({ call_id, reply, place: reply.calls.length });
    reply.calls.push({ call_id, name, arguments: given });
    if (status === "incomplete") reply.incomplete = true;
    return ok(null);
  }

  /**
   * A result follows its call's reply, wherever the input has it, and ends that reply. The result of a server's call stands beside the
   * call: it ends the reply if no call is left to answer.
   */
  addResult(result: ResultMessage, { isBeside, files = [] }: ResultPlace): Read<null> {
    const { call_id, output, is_error, field } = result;
    const index = this.#open.findIndex((call) => call.call_id === call_id);
    const [call] = index < 0 ? [] : this.#open.splice(index, 1);
    const message = files.length > 0 ? toFilesMessage(result, files) : null;
    if (call) {
      call.reply.results.set(call.place, result);
      if (message) call.reply.files.set(call.place, message);
    } else {
      this.#results.push({ field, result: { execution_id: null, call_id, output, is_error } });
      if (message) this.#files.push(message);
    }
    const isOwed = isBeside && this.#open.some(({ reply }) => reply === this.#reply);
    if (call?.reply === this.#reply && !isOwed) this.#reply = null;
    return ok(null);
  }

  /** A call of the server that is to be approved. Its request's name is its id. */
  addRequest(call: ImportedCall, field: string): Read<null> {
    if (!this.#withRequests) return ok(null);
    this.#requests.add(call.call_id);
    return this.addCall(call, { field, status: null, names: null });
  }

  addApproval(approval: GivenApproval): Read<null> {
    this.#approvals.push(approval);
    return ok(null);
  }

  /** Whether a call is there by the name of its request, and waits for its result. */
  hasRequest(request: string): boolean {
    return this.#requests.has(request) && this.#open.some(({ call_id }) => call_id === request);
  }

  noteApproved(request: string): void {
    this.#approved.add(request);
  }

  finish(): ReadInput {
    const messages = this.#read.flatMap((entry): readonly ReadMessage[] => {
      if (!("results" in entry)) return [entry];
      const { results, files, ...reply } = entry;
      // A reply that says nothing would be an empty message to a model.
      return isNothing(reply) ? [] : [reply, ...inOrder(results), ...inOrder(files)];
    });
    return {
      messages: [...this.#files, ...messages],
      results: this.#results,
      approvals: this.#approvals.filter(({ request }) => !this.#approved.has(request)),
      unanswered: this.#open.map(({ call_id }) => call_id),
    };
  }

  addParts({ parts, names, status, field }: NewParts): Read<null> {
    const open = this.#reply && !this.#waits(this.#reply) && continues(this.#reply, names) ? this.#reply : null;
    const reply = this.#findNamed(names) ?? open ?? this.#begin(field, names);
    reply.parts.push(...parts);
    if (status === "incomplete") reply.incomplete = true;
    return reply.parts.length > MAX_PARTS ? err({ field, detail: `at most ${MAX_PARTS} parts in one reply` }) : ok(null);
  }

  /** A reply that asks for an approval ends with its calls, whether or not the input has their results. */
  #waits(reply: OpenReply): boolean {
    return reply.calls.some(({ call_id }) => this.#requests.has(call_id));
  }

  /** The reply that was read last, if the item names it: results between its items do not end it. */
  #findNamed(names: ItemId | null): OpenReply | null {
    const last = this.#read.at(-1);
    return last && "results" in last && names !== null && last.names === names ? last : null;
  }

  /** A call belongs to the reply before it, unless both are named and differ. */
  #findUnnamed(names: ItemId | null): OpenReply | null {
    const reply = this.#reply;
    return names === null || reply?.names === null || reply?.names === names ? reply : null;
  }

  #begin(field: string, names: ItemId | null): OpenReply {
    const reply: OpenReply = {
      role: "assistant",
      field,
      names,
      parts: [],
      calls: [],
      results: new Map(),
      files: new Map(),
      incomplete: false,
    };
    this.#read.push(reply);
    this.#reply = reply;
    return reply;
  }
}

const inOrder = <T>(answers: ReadonlyMap<number, T>): T[] => [...answers].toSorted(([one], [other]) => one - other).map(([, each]) => each);

/** Names the call, because the results of several calls may have files. */
function toFilesMessage({ call_id, field }: ResultMessage, files: readonly ReadPart[]): SaidMessage {
  const label: ReadPart = { part: { type: "text", text: `Files of the result of call ${call_id}:` }, field };
  return { role: "user", field: `${field}.output`, parts: [label, ...files], calls: [], incomplete: false };
}

interface ResultPlace {
  readonly isBeside: boolean;
  readonly files?: readonly ReadPart[];
}

interface NewParts {
  readonly parts: readonly ReadPart[];
  readonly names: ItemId | null;
  /** As the client wrote it. */
  readonly status?: string | null | undefined;
  readonly field: string;
}

const isNothing = ({ parts, calls }: Pick<SaidMessage, "parts" | "calls">): boolean =>
  calls.length === 0 && parts.every(({ part }) => "text" in part && part.text.trim() === "");

/** Behind a call everything belongs to its reply, because a new one would leave the call without a result. Text ends a reply otherwise. */
function continues({ parts, calls, names }: OpenReply, next: ItemId | null): boolean {
  if (names !== null && next !== null && calls.length === 0) return names === next;
  return calls.length > 0 || parts.every(({ part }) => part.type !== "text");
}
