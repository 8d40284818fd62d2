/** The tool loop: sends a message, runs what the model calls, and sends the results, until the turn needs nothing more. */
import type { StreamSettings } from "./connection.ts";
import { LonghandError } from "./errors.ts";
import { followSession } from "./follow.ts";
import type { Session, SubmitMessage, Turn } from "./generated.ts";
import { newKey } from "./new-key.ts";
import { buildSessionPath, isUnderWay, readJson, TurnStream } from "./stream.ts";
import type { StreamEvent } from "./stream-types.ts";
import { type CallResult, declareTools, listOffers, runCall, type ToolCall, type Tools, untilAborted } from "./tools.ts";

/** `false`, or a reason that the model reads: the call is refused. */
export type Approval = boolean | { readonly approved: boolean; readonly reason?: string };

export interface RunToolsInit {
  /** Asked for each call that waits for a person. Without it, a turn that only waits for approvals is returned as it is. */
  readonly approve?: ((call: ToolCall) => Approval | Promise<Approval>) | undefined;
  /** Every event of the turn, once and in order. The loop waits for what it returns. */
  readonly onEvent?: ((event: StreamEvent) => void | Promise<void>) | undefined;
  /** How often the turn is given results. After that it is returned while it waits for more. */
  readonly maxRounds?: number | undefined;
  /** Rejects with the signal's reason, and leaves the turn as it is: waiting, or going on. */
  readonly signal?: AbortSignal | null | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  /** Of the message: a program that starts again with the same key and message goes on with the same turn. */
  readonly idempotencyKey?: string | undefined;
}

type Answer =
  | { readonly kind: "result"; readonly call: ToolCall; readonly body: CallResult }
  | { readonly kind: "approval"; readonly call: ToolCall; readonly body: { execution_id: string; approved: boolean; reason?: string } };

const TOO_LARGE = "The tool's result is too large to be sent.";
/** The server's limit for a request. A larger one is refused, or its connection is reset before the refusal can be read. */
const MOST_BYTES = 1_000_000;
const countBytes = (body: unknown): number => new TextEncoder().encode(JSON.stringify(body)).length;

export class ToolLoop<T> {
  readonly #settings: StreamSettings;
  readonly #session: string;
  readonly #tools: Tools<T>;
  readonly #init: RunToolsInit;
  /** The offset of the newest event that was reported. */
  #offset: number | null = null;
  #isHalted = false;

  constructor(settings: StreamSettings, { session, tools, init }: { session: string; tools: Tools<T>; init: RunToolsInit }) {
    this.#settings = settings;
    this.#session = session;
    this.#tools = tools;
    this.#init = init;
  }

  /** `message` null: goes on with the turn that is open, or returns the newest one if none is. */
  async run(message: SubmitMessage | null): Promise<Turn> {
    const { maxRounds = Number.POSITIVE_INFINITY, idempotencyKey = newKey() } = this.#init;
    const body = message && (await this.#withTools(message));
    let turn = body ? await this.#stream("messages", body, idempotencyKey, null) : await this.#findTurn();
    for (let round = 0; ; round++) {
      if (isUnderWay(turn) && !this.#isHalted) turn = await this.#wait(turn.id);
      if (turn.status !== "awaiting_tools" || round >= maxRounds) return turn;
      const next = await this.#answer(turn);
      if (!next) return turn;
      turn = next;
    }
  }

  async #withTools(message: SubmitMessage): Promise<SubmitMessage> {
    const isDeclared = Object.values(this.#tools as Tools<Record<string, unknown>>).some(({ parameters }) => parameters !== undefined);
    if (!isDeclared) return message;
    const tools = declareTools(this.#tools, message.tools ?? listOffers(await this.#read<Session>()));
    return tools ? { ...message, tools } : message;
  }

  async #findTurn(): Promise<Turn> {
    const { turn, queued, last_turn } = await this.#read<Session>();
    const id = turn?.id ?? queued[0]?.turn_id ?? last_turn?.id;
    if (id === undefined) throw new Error("The session has no turn to go on with");
    return this.#read<Turn>("turns", id);
  }

  /** Reads the stream of a turn that another request began, until the turn ends or waits. */
  async #wait(id: string): Promise<Turn> {
    // Read before the turn, so that the end of it comes after this offset.
    const { stream_offset } = await this.#read<Session>();
    const turn = await this.#read<Turn>("turns", id);
    if (!isUnderWay(turn)) return turn;
    const { signal, headers } = this.#init;
    for await (const event of followSession(this.#settings, this.#session, { after: this.#offset ?? stream_offset, signal, headers })) {
      const isOther = "turn_id" in event && event.turn_id !== id;
      if (isOther) continue;
      await this.#report(event);
      this.#isHalted = event.type === "stream.halted";
      if (this.#isHalted || event.type === "session.erased" || PAUSES.has(event.type)) break;
    }
    const now = await this.#read<Turn>("turns", id);
    return isUnderWay(now) && !this.#isHalted ? this.#wait(id) : now;
  }

  /** Null: nothing that the turn waits for can be answered here. */
  async #answer(turn: Turn): Promise<Turn | null> {
    const { approve, signal } = this.#init;
    const leaving = new AbortController();
    const leave = (): void => leaving.abort(signal?.reason);
    signal?.throwIfAborted();
    signal?.addEventListener("abort", leave, { once: true });
    const work = turn.open_calls.flatMap((call): Promise<Answer>[] => {
      if (call.approval === "pending") return approve ? [untilAborted(ask(call, approve), leaving.signal)] : [];
      if (call.runs !== "client") return [];
      return [runCall({ call, tools: this.#tools, signal: leaving.signal }).then((body): Answer => ({ kind: "result", call, body }))];
    });
    try {
      return work.length === 0 ? null : await this.#send(turn, work);
    } catch (error) {
      // The tools that still run are of no use any more.
      leaving.abort(error);
      throw error;
    } finally {
      signal?.removeEventListener("abort", leave);
    }
  }

  /** Sends each answer as soon as it is there, so that a program that dies loses only what is not finished. The last one resumes the turn. */
  async #send(turn: Turn, work: readonly Promise<Answer>[]): Promise<Turn> {
    const done: Answer[] = [];
    let wake = (): void => undefined;
    let fault: { readonly error: unknown } | null = null;
    for (const each of work) {
      each
        .then(
          (answer) => done.push(answer),
          (error) => (fault ??= { error }),
        )
        .finally(() => wake());
    }
    let left = work.length;
    let next: Turn | null = null;
    while (left > 0) {
      if (done.length === 0 && fault === null) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        // What is finished in the same moment is sent together.
        await new Promise((resolve) => setTimeout(resolve, 0));
      }
      const failed = fault as { readonly error: unknown } | null;
      if (failed) throw failed.error;
      const batch = done.splice(0);
      left -= batch.length;
      next = await this.#post(turn, batch, left === 0);
    }
    return next ?? turn;
  }

  /** Returns the turn as it is then. Answers that come too late are left out: another program, a new message or the time was faster. */
  async #post(turn: Turn, batch: readonly Answer[], isLast: boolean): Promise<Turn> {
    let now = turn;
    for (const kind of ["result", "approval"] as const) {
      const answers = batch.filter((answer) => answer.kind === kind);
      const isLastOfAll = isLast && (kind === "approval" || !batch.some((answer) => answer.kind === "approval"));
      if (answers.length > 0) now = await this.#postOpen(now, answers, isLastOfAll);
    }
    return now;
  }

  async #postOpen(turn: Turn, answers: readonly Answer[], isHeard: boolean): Promise<Turn> {
    const [first] = answers;
    if (!first) return turn;
    const isResult = first.kind === "result";
    const bodies = answers.map(({ body }) => body);
    const [route, body] = isResult ? ["tool_results", { results: bodies }] : ["approvals", { approvals: bodies }];
    if (isResult && countBytes(body) > MOST_BYTES) return this.#postSmaller(turn, answers, isHeard);
    try {
      if (isHeard) return await this.#stream(route, body, newKey(), turn.id);
      await this.#acknowledge(route, body);
      return turn;
    } catch (error) {
      if (!(error instanceof LonghandError)) throw error;
      if (error.status === 413 && isResult) return this.#postSmaller(turn, answers, isHeard);
      if (error.status !== 409) throw error;
      return this.#postRest(turn, answers, isHeard);
    }
  }

  /** All results together, or a single one, are larger than a request may be. */
  async #postSmaller(turn: Turn, answers: readonly Answer[], isHeard: boolean): Promise<Turn> {
    let now = turn;
    for (const [index, answer] of answers.entries()) {
      const { execution_id } = answer.body;
      const body = { execution_id, output: TOO_LARGE, is_error: true } as const;
      const smaller: Answer = answers.length === 1 ? { kind: "result", call: answer.call, body } : answer;
      now = await this.#postOpen(now, [smaller], isHeard && index === answers.length - 1);
    }
    return now;
  }

  /** A refused request records none of its answers: those that are still open are sent again. */
  async #postRest(turn: Turn, answers: readonly Answer[], isHeard: boolean): Promise<Turn> {
    const now = await this.#read<Turn>("turns", turn.id);
    const isOpen = ({ call, kind }: Answer): boolean =>
      now.open_calls.some(({ id, approval }) => id === call.id && (kind === "result" || approval === "pending"));
    const open = answers.filter(isOpen);
    return open.length === 0 || open.length === answers.length ? this.#unlessSame(now, open) : this.#postOpen(now, open, isHeard);
  }

  /** Calls that are open and refused all the same would be sent for ever. */
  #unlessSame(turn: Turn, open: readonly Answer[]): Turn {
    if (open.length > 0) throw new Error(`The server refuses the results of open calls: ${open.map(({ call }) => call.id).join(", ")}`);
    return turn;
  }

  async #acknowledge(route: string, body: unknown): Promise<void> {
    const { signal, headers } = this.#init;
    const sent = { body, signal, idempotencyKey: newKey(), headers: { ...headers, prefer: "respond-async" } };
    await this.#settings.transport.send("POST", buildSessionPath(this.#session, route), sent);
  }

  async #stream(route: string, body: unknown, idempotencyKey: string, turn: string | null): Promise<Turn> {
    const { signal, headers } = this.#init;
    const after = turn === null ? null : this.#offset;
    const request = { session: this.#session, route, body, idempotencyKey, after, turn, signal, headers };
    const stream = new TurnStream(this.#settings, request);
    for await (const event of stream) await this.#report(event);
    this.#isHalted = stream.isHalted;
    return stream.turn();
  }

  async #report(event: StreamEvent): Promise<void> {
    this.#offset = event.offset;
    await this.#init.onEvent?.(event);
  }

  #read<R>(...rest: readonly string[]): Promise<R> {
    return readJson(this.#settings, buildSessionPath(this.#session, ...rest), this.#init.signal);
  }
}

/** After these there may be something to do. */
const PAUSES: ReadonlySet<string> = new Set([
  "turn.completed",
  "turn.failed",
  "turn.stopped",
  "turn.interrupted",
  "turn.awaiting_tools",
  "message.cancelled",
]);

async function ask(call: ToolCall, approve: NonNullable<RunToolsInit["approve"]>): Promise<Answer> {
  const said = await approve(call);
  const answer = typeof said === "boolean" ? { approved: said } : said;
  return { kind: "approval", call, body: { execution_id: call.id, ...answer } };
}
