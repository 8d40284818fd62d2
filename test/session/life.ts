/** One life of a session's object over Node's SQLite, with ports that a test controls. Another life may follow over the same database. */

import { NO_BUDGETS } from "../../scripts/support/no-budgets";
import { createNodeSql } from "../../scripts/support/node-sql";
import { serveSession } from "../../scripts/support/serve-session";
import type { BudgetSource } from "../../src/app/budget-ports";
import type { ChatApi } from "../../src/app/channels/chat-api";
import type { WholeSessionApi } from "../../src/app/control-api";
import { withNames } from "../../src/app/named-log";
import type {
  ActRecorder,
  CallOptions,
  ChatModel,
  Log,
  ModelDirectory,
  ModelRequest,
  ModelSpec,
  ModelStreamPart,
  Projection,
  ToolRunner,
  UsageArchive,
} from "../../src/app/ports";
import type { OpenInput } from "../../src/app/session-api";
import { type PolicyChoice, toPolicyText } from "../../src/context/policy-choice";
import type { StoredEvent } from "../../src/domain/events";
import type { Part } from "../../src/domain/message";
import type { FailureKind, FinishReason } from "../../src/domain/model-call";
import { nameRequestNow } from "../../src/lib/request-scope";
import { ringAlarm } from "../../src/session/alarm";
import { readEvents } from "../../src/session/log/event-log";
import type { Sql } from "../../src/session/log/sql";
import { SessionRuntime } from "../../src/session/runtime";
import type { RuntimeDeps } from "../../src/session/runtime-deps";
import { countingIds, SESSION, TENANT } from "../support/builders";
import { FakeSchedule } from "../support/fake-schedule";

export const CALLER = { tenant: TENANT, session: SESSION } as const;

/** A message of a user that runs a turn. */
export const MESSAGE = {
  role: "user",
  parts: [{ type: "text", text: "hello" }],
  run: true,
  onBusy: "queue",
  tools: null,
  idempotency: null,
} as const;

export const SPEC: ModelSpec = {
  id: "test-model",
  provider: "embedded",
  upstream_id: "test-model",
  base_url: null,
  context_window: 8_000,
  max_output: 1_000,
  source: "deployment",
};

export interface LogLine {
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export function notingLog(): Log & { readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const note = (event: string, fields: LogLine["fields"] = {}): void => void lines.push({ event, fields });
  return { lines, info: note, warn: note, error: note };
}

export const failure = (kind: FailureKind): ModelStreamPart => ({ type: "failure", failure: { kind, status: null } });

const readText = (part: Part): string => (part.type === "text" ? part.text : part.type === "tool_result" ? part.output : part.type);

/** The chunks of one model call, which the test sends. */
export class ModelCall {
  readonly #waiting: ((chunk: ModelStreamPart) => void)[] = [];
  readonly #ready: ModelStreamPart[] = [];

  readonly request: ModelRequest;
  readonly signal: AbortSignal;
  readonly signs: Pick<CallOptions, "onProgress" | "onAlive">;

  constructor(request: ModelRequest, signal: AbortSignal, signs: Pick<CallOptions, "onProgress" | "onAlive"> = {}) {
    this.request = request;
    this.signal = signal;
    this.signs = signs;
    // A test may still send late chunks of a turn. A summariser that was aborted just ends.
    if (request.purpose === "compaction") signal.addEventListener("abort", () => this.say(failure("aborted")), { once: true });
  }

  /** The provider writes bytes that make no chunk yet. */
  progress(): void {
    this.signs.onProgress?.();
  }

  /** The provider writes only a sign of life. */
  ping(): void {
    this.signs.onAlive?.();
  }

  /** The messages of its request, as `role: text`. */
  get messages(): string[] {
    return this.request.messages.map(({ role, parts }) => `${role}: ${parts.map((part) => readText(part)).join("")}`);
  }

  say(...chunks: ModelStreamPart[]): void {
    for (const chunk of chunks) {
      const next = this.#waiting.shift();
      if (next) next(chunk);
      else this.#ready.push(chunk);
    }
  }

  async *stream(): AsyncGenerator<ModelStreamPart> {
    for (;;) {
      const chunk = this.#ready.shift() ?? (await new Promise<ModelStreamPart>((resolve) => this.#waiting.push(resolve)));
      yield chunk;
      if (chunk.type === "finish" || chunk.type === "failure") return;
    }
  }
}

export class Life {
  readonly time = new FakeSchedule();
  readonly calls: ModelCall[] = [];
  readonly jobs: string[] = [];
  alarmAt: number | null = null;
  /** The body of the next request, as it is shown. */
  body = "";
  /** The body of any request, as it is shown and sent. Null: `body` is shown, and another one is sent. */
  toBody: ((request: ModelRequest) => string) | null = null;
  /** The complete requests that were sent. */
  readonly sent: { readonly purpose: ModelRequest["purpose"]; readonly body: string }[] = [];
  /** Answers the calls that a test does not answer by hand. Null: they stay open. */
  chat: ChatModel | null = null;
  digest = async (_: string): Promise<string> => "digest";
  isSuspended = false;
  /** The chat that the session belongs to, if it was opened by one. */
  follow: ChatApi["follow"] = async () => {};
  scrubChat: ChatApi["scrub"] = async () => {};
  /** The value of every random draw. */
  chance = 0;
  models: ModelDirectory = { resolve: async () => SPEC };
  tools: ToolRunner = { needsApproval: async () => false, run: async () => ({ output: "", failure: null }) };
  projection: Projection = { write: async () => {}, erase: async () => ({ rows: 0 }), forgetEndUsers: async () => true };
  budgets: BudgetSource = NO_BUDGETS;
  acts: ActRecorder = { record: async () => {} };
  usageArchive: Pick<UsageArchive, "keep"> = { keep: async (_, usage) => usage };
  endThrowaway: UsageArchive["endThrowaway"] = async () => {};
  readonly log = notingLog();
  readonly runtime: SessionRuntime;
  readonly service: WholeSessionApi;

  readonly sql: Sql;

  /** `ports`: in place of those that a test controls. Announcements, limits: absent, there are none. */
  constructor(sql: Sql = createNodeSql(), incarnation = "life-1", ids = countingIds(), ports: Partial<RuntimeDeps> = {}) {
    this.sql = sql;
    this.runtime = new SessionRuntime({
      sql,
      clock: this.time.now,
      ids: { newId: ids },
      incarnation,
      random: () => this.chance,
      schedule: this.time.schedule,
      setAlarm: (at) => {
        this.alarmAt = at;
      },
      background: () => {},
      model: this.#model,
      models: () => ({ resolve: (id) => this.models.resolve(id) }),
      tools: () => ({
        needsApproval: (tool) => this.tools.needsApproval(tool),
        run: (request, options) => this.tools.run(request, options),
      }),
      queue: { send: async (job) => void this.jobs.push(job.compaction) },
      files: () => ({ keep: async () => {} }),
      budgets: () => this.budgets,
      chats: () => ({ follow: (address, turn) => this.follow(address, turn), scrub: (address) => this.scrubChat(address) }),
      isSuspended: async () => this.isSuspended,
      acts: () => ({ record: (session, acts) => this.acts.record(session, acts) }),
      usageArchive: () => ({
        keep: (session, usage, cause) => this.usageArchive.keep(session, usage, cause),
        endThrowaway: (session, usage) => this.endThrowaway(session, usage),
      }),
      projection: () => ({
        write: (batch) => this.projection.write(batch),
        erase: (input) => this.projection.erase(input),
        forgetEndUsers: (input) => this.projection.forgetEndUsers(input),
      }),
      digest: (text) => this.digest(text),
      deadlines: { firstTokenMs: 60_000, idleMs: 60_000, thinkingMs: 300_000, totalMs: 900_000 },
      // As `createLog` names it.
      log: withNames(this.log, nameRequestNow),
      ...ports,
    });
    this.service = serveSession(this.runtime);
  }

  readonly #model: ChatModel = {
    stream: (request, options) => {
      if (this.chat) return this.chat.stream(request, options);
      const { signal, onRequest, ...signs } = options;
      const call = new ModelCall(request, signal, signs);
      const body = this.toBody?.(request) ?? "body";
      this.sent.push({ purpose: request.purpose, body });
      onRequest?.(body);
      this.calls.push(call);
      return call.stream();
    },
    render: async (request) =>
      this.chat?.render(request) ?? { url: request.model.base_url ?? "", body: this.toBody?.(request) ?? this.body },
  };

  /** `more`: what else the session is created with. */
  async open(policy: PolicyChoice | string = "oneclaw", system: string | null = null, more: Partial<OpenInput> = {}): Promise<void> {
    const text = typeof policy === "string" ? policy : toPolicyText(policy);
    const input = { model: SPEC.id, policy: text, system, tools: null, title: null, metadata: {}, ...more };
    await this.service.open(CALLER, input);
    await settle();
  }

  async send(text: string, onBusy: "queue" | "interrupt" = "queue"): Promise<void> {
    const input = { role: "user", parts: [{ type: "text", text }], run: true, onBusy, tools: null, idempotency: null } as const;
    await this.service.submit(CALLER, input);
    await settle();
  }

  /** The newest call. */
  get call(): ModelCall {
    const call = this.calls.at(-1);
    if (!call) throw new Error("no model was called");
    return call;
  }

  async say(...chunks: ModelStreamPart[]): Promise<void> {
    this.call.say(...chunks);
    await settle();
  }

  /** The summariser's call returns `text` and ends. */
  summarize(text: string, finish: FinishReason = "stop"): Promise<void> {
    return this.say({ type: "text", text }, { type: "finish", finish, usage: null });
  }

  /** The turn's call requests a tool, and receives `output`. `input`: the tokens that the provider counted. */
  async useTool(call_id: string, output: string, input: number): Promise<void> {
    const call = { type: "tool_call", call_id, name: "look", arguments: "{}" } as const;
    const usage = { input, output: 5, cached: 0, reasoning: 0 };
    await this.say({ type: "tool_call", call }, { type: "finish", finish: "tool_calls", usage });
    const results = [{ execution_id: null, call_id, output, is_error: false }];
    await this.service.toolResults(CALLER, { results, idempotency: null });
    await settle();
  }

  async advance(ms: number): Promise<void> {
    this.time.advance(ms);
    await settle();
  }

  /** Lets time pass, and rings the alarm as often as it is due. Returns how often it rang. */
  async ringUntil(end: number): Promise<number> {
    let rung = 0;
    for (; this.alarmAt !== null && this.alarmAt <= end; rung++) {
      await this.advance(Math.max(0, this.alarmAt - this.time.now()));
      this.alarmAt = null;
      ringAlarm(this.runtime);
      await settle();
    }
    await this.advance(Math.max(0, end - this.time.now()));
    return rung;
  }

  events(): StoredEvent[] {
    return readEvents(this.sql, 0, 10_000);
  }

  /** The kinds of calls in order: `t` for a turn's, `c` for a compaction's. */
  get asked(): string {
    return this.calls.map(({ request }) => request.purpose.charAt(0)).join("");
  }

  /** The turn's call returns `text` and ends. `input`: the tokens that the provider counted. */
  async answer(text: string, input = 10): Promise<void> {
    const usage = { input, output: 1, cached: 0, reasoning: 0 };
    this.calls.at(-1)?.say({ type: "text", text }, { type: "finish", finish: "stop", usage });
    await settle();
  }
}

/** Lets every promise settle that can. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
