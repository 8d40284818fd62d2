/** The stream of one turn, resumed after every break: each event once and in order, and the reply's text as it is so far. */
import { Connection, type StreamSettings } from "./connection.ts";
import { LonghandError } from "./errors.ts";
import type { Item, Turn } from "./generated.ts";
import { ReplyText, readText } from "./reply-text.ts";
import { chooseWait, sleep } from "./retry.ts";
import type { StreamEvent } from "./stream-types.ts";

/** A POST that begins a turn, or lets one go on. */
export interface TurnRequest {
  readonly session: string;
  /** Below the session: `messages`. */
  readonly route: string;
  readonly body: unknown;
  /** Sent with each attempt, so that all of them are one request. */
  readonly idempotencyKey: string;
  /** Begin after this offset. Null: where the request's own events begin. */
  readonly after: number | null;
  /** Null until an event names it. */
  readonly turn: string | null;
  readonly signal?: AbortSignal | null | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
}

/** After these the turn produces nothing more. */
const ENDS: ReadonlySet<string> = new Set(["turn.completed", "turn.failed", "turn.stopped", "turn.interrupted", "message.cancelled"]);
/** After these the stream ends, whatever the turn does. */
const LAST: ReadonlySet<string> = new Set(["stream.halted", "session.erased"]);

export const isUnderWay = ({ status }: Turn): boolean => status === "queued" || status === "generating" || status === "running_tools";

export const buildSessionPath = (session: string, ...rest: readonly string[]): string =>
  ["/v1/sessions", session, ...rest].map((part, index) => (index === 0 ? part : encodeURIComponent(part))).join("/");

export class TurnStream implements AsyncIterable<StreamEvent> {
  readonly #settings: StreamSettings;
  readonly #request: TurnRequest;
  readonly #reply = new ReplyText();
  /** What was delivered, by what it is, with its offset: what a server tells again from the record. */
  readonly #delivered = new Map<string, number>();
  #state: "new" | "reading" | "left" | "ended" = "new";
  #turn: string | null;
  #last: number | null;
  /** Events delivered so far. */
  #count = 0;
  #isAwaiting = false;
  #isHalted = false;

  constructor(settings: StreamSettings, request: TurnRequest) {
    this.#settings = settings;
    this.#request = request;
    this.#turn = request.turn;
    this.#last = request.after;
  }

  /** The text of the turn's newest reply so far. After the end it is the turn's `output_text`. */
  get text(): string {
    return this.#reply.text;
  }

  /** The offset of the newest event. Null before the first. */
  get offset(): number | null {
    return this.#last;
  }

  /** The turn's id. Null before the first event. */
  get turnId(): string | null {
    return this.#turn;
  }

  /** The server has no room to record what comes next: the stream has ended, and the turn has not. */
  get isHalted(): boolean {
    return this.#isHalted;
  }

  /** Throws when it is called twice: two readers would share the events between them. */
  [Symbol.asyncIterator](): AsyncGenerator<StreamEvent, void, undefined> {
    if (this.#state !== "new") throw new Error("This stream is read already. A second reader needs a stream of its own, or follow()");
    this.#state = "reading";
    return this.#read();
  }

  /**
   * The turn at the end of its stream. Reads what the caller has not read. While the caller still reads, it waits with a connection
   * of its own, so that no event is taken from the caller.
   */
  async turn(): Promise<Turn> {
    const { session, signal } = this.#request;
    if (this.#state === "reading") {
      return new TurnStream(this.#settings, { ...this.#request, after: this.#last, turn: this.#turn }).turn();
    }
    if (this.#state !== "ended") {
      this.#state = "reading";
      const events = this.#read();
      while (!(await events.next()).done);
    }
    if (this.#turn === null) throw new Error("The message was only recorded (run: false), and has no turn");
    return readJson(this.#settings, buildSessionPath(session, "turns", this.#turn), signal);
  }

  async *#read(): AsyncGenerator<StreamEvent, void, undefined> {
    let isOver = false;
    try {
      for (let failures = 0; !isOver; ) {
        const before = this.#count;
        if (failures > 0) await sleep(chooseWait(failures - 1, null), this.#request.signal);
        const { ended, fault } = yield* this.#readConnection();
        isOver = ended;
        failures = this.#count > before ? 0 : failures + 1;
        if (!isOver && failures > this.#settings.retries) throw this.#giveUp(failures, fault);
      }
    } finally {
      if (this.#state === "reading") this.#state = isOver ? "ended" : "left";
    }
  }

  #giveUp(failures: number, cause: unknown): LonghandError {
    const { session, route } = this.#request;
    const detail = `The stream broke ${failures} times without a new event.`;
    return new LonghandError(`POST ${buildSessionPath(session, route)}`, { status: null, code: "connection_failed", detail, cause });
  }

  async *#readConnection(): AsyncGenerator<StreamEvent, { readonly ended: boolean; readonly fault?: unknown }, undefined> {
    const { session, route, body, idempotencyKey, signal, headers } = this.#request;
    const path = buildSessionPath(session, route);
    const call = { method: "POST", path, after: this.#last, body, idempotencyKey, signal, headers } as const;
    const opened = await Connection.open(this.#settings, call);
    if (opened instanceof Response) return { ended: await this.#readAcknowledgement(opened) };
    const before = this.#count;
    try {
      for (let event = await opened.next(); event; event = await opened.next()) {
        if (!(await this.#take(event))) continue;
        if (this.#isEnd(event)) {
          this.#state = "ended";
          opened.close();
          yield event;
          return { ended: true };
        }
        yield event;
      }
      signal?.throwIfAborted();
      const { fault } = opened;
      if (fault !== undefined) return { ended: false, fault };
      return { ended: this.#isAwaiting || (this.#count === before && (await this.#isOver())) };
    } finally {
      opened.close();
    }
  }

  /** An acknowledgement in place of a stream. Returns whether there is nothing to hear at all. */
  async #readAcknowledgement(response: Response): Promise<boolean> {
    const { turn_id }: { turn_id: string | null } = await response.json();
    this.#turn ??= turn_id;
    return turn_id === null;
  }

  /** Whether a stream that ended without an end of its turn was right to do so. */
  async #isOver(): Promise<boolean> {
    const { session, signal } = this.#request;
    if (this.#turn === null) return false;
    const turn = await readJson<Turn>(this.#settings, buildSessionPath(session, "turns", this.#turn), signal);
    if (isUnderWay(turn)) return false;
    this.#reply.mend(this.#last ?? 0, toRecorded(turn));
    return true;
  }

  #isEnd(event: StreamEvent): boolean {
    this.#isHalted = event.type === "stream.halted";
    return LAST.has(event.type) || (ENDS.has(event.type) && "turn_id" in event && event.turn_id === this.#turn);
  }

  /** Takes an event in. Returns false for one that was delivered before. */
  async #take(event: StreamEvent): Promise<boolean> {
    if (this.#isRepeated(event)) return false;
    if ("turn_id" in event && event.turn_id !== null) this.#turn ??= event.turn_id;
    await this.#noteText(event);
    if (event.type === "stream.rewind") {
      for (const [what, offset] of this.#delivered) if (offset > event.to) this.#delivered.delete(what);
    } else {
      this.#delivered.set(toIdentity(event), event.offset);
    }
    this.#last = event.offset;
    this.#count++;
    if ("turn_id" in event && event.turn_id === this.#turn) this.#isAwaiting = event.type === "turn.awaiting_tools";
    return true;
  }

  /**
   * An event at an offset that the caller has is one that is told again: frames that are no longer kept are rebuilt from the record,
   * all at the caller's offset.
   */
  #isRepeated(event: StreamEvent): boolean {
    if (event.type === "stream.rewind" || event.type === "stream.halted") return false;
    if (this.#last === null || event.offset > this.#last) return false;
    return !REBUILT.has(event.type) || this.#delivered.has(toIdentity(event));
  }

  async #noteText(event: StreamEvent): Promise<void> {
    const { session, signal } = this.#request;
    if ("turn_id" in event && event.turn_id !== this.#turn) return;
    this.#reply.note(event);
    if (event.type === "stream.gap" && this.#turn !== null) {
      const turn = await readJson<Turn>(this.#settings, buildSessionPath(session, "turns", this.#turn), signal);
      this.#reply.mend(event.offset, toRecorded(turn));
    }
    if (event.type === "item.completed" && event.content_omitted && event.item.role === "assistant") {
      const item = await readJson<Item>(this.#settings, buildSessionPath(session, "messages", event.item.id), signal);
      const { content_omitted: _, ...whole } = event;
      this.#reply.note({ ...whole, item });
    }
  }
}

/** The events that the server can rebuild from the record. */
const REBUILT: ReadonlySet<string> = new Set([
  ...ENDS,
  "message.accepted",
  "turn.started",
  "notice",
  "stream.gap",
  "item.completed",
  "turn.awaiting_tools",
]);

/** What an event reports, wherever in the stream it is. */
function toIdentity(event: StreamEvent): string {
  switch (event.type) {
    case "turn.started":
      return `${event.type} ${event.attempt}`;
    case "item.completed":
      return `${event.type} ${event.item.id}`;
    case "turn.awaiting_tools":
      return `${event.type} ${event.tool_calls.map(({ id }) => id).join()}`;
    default:
      return event.type;
  }
}

function toRecorded({ attempt, items }: Turn): { readonly attempt: number; readonly text: string | null } {
  const reply = items.filter(({ role }) => role === "assistant").at(-1);
  return { attempt, text: reply ? readText(reply.content) : null };
}

export async function readJson<T>(settings: StreamSettings, path: string, signal: AbortSignal | null | undefined): Promise<T> {
  return (await (await settings.transport.send("GET", path, { signal })).json()) as T;
}
