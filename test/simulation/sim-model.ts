/** The simulated provider: it streams, calls tools, fails before and after its first token, hangs, and counts true tokens. */

import type { CallOptions, ChatModel, ModelFailure, ModelRequest, ModelStreamPart, RenderedRequest } from "../../src/app/ports";
import { toLesson } from "../../src/app/request/lessons";
import { findQuirks } from "../../src/context/model-quirks";
import type { Part } from "../../src/domain/message";
import type { CallUsage, FailureKind, FinishReason } from "../../src/domain/model-call";
import { AnswerRules } from "./answer-rules";
import type { ChoiceRules } from "./choice-rules";
import { countReply, countRequest } from "./count-tokens";
import { INSTRUCTION_MARK, type Profile, TRUE_CAP, TRUE_SHARE } from "./profile";
import type { Random } from "./random";
import { type Owed, RequestRules } from "./request-rules";
import type { Scheduler, Scope } from "./scheduler";
import { drawCalls, writeSummary } from "./sim-summary";
import type { Stats } from "./stats";
import { refuseStrictly } from "./strict-endpoint";
import type { SummaryBook } from "./summary-book";
import { drawText, toOwnWord } from "./texts";
import type { Violations } from "./violation";

interface Deps {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly profile: Profile;
  readonly violations: Violations;
  readonly stats: Stats;
  readonly book: SummaryBook;
  readonly choices: ChoiceRules;
  /** The epoch for which a lease was given. */
  readonly findEpoch: (lease: number | null) => number | null;
  /** The standing instructions that the lease's plan names. Null: it names none. Undefined: there is no such lease. */
  readonly findInstructions: (lease: number) => string | null | undefined;
  /** `epoch`: the one in which a worker's request was built. Null: the session builds it now. */
  readonly onRequest: (request: ModelRequest, epoch: number | null) => void;
  /** The endpoint refuses the request by its form. */
  readonly onRefused: (request: ModelRequest) => void;
}

interface Call {
  readonly name: string;
  readonly scope: Scope;
  readonly signal: AbortSignal;
  /** The outcome of a turn's call (I26). */
  readonly heard: ReturnType<AnswerRules["begin"]> | null;
  /** The reply tokens that the request asks for. */
  readonly asked: number;
}

/** Who calls the model. */
interface At {
  readonly scope: Scope;
  readonly owed: Owed | null;
}

/** The planned course of a call. */
export interface Script {
  readonly chunks: readonly ModelStreamPart[];
  /** The number of chunks after which nothing more arrives. Null: it ends normally. */
  readonly hangsAfter: number | null;
  readonly throwsAfter: number | null;
}

const INSTRUCTIONS = new RegExp(`${INSTRUCTION_MARK}-\\d+`, "g");
const FAILURES: readonly FailureKind[] = ["rate_limit", "unavailable", "auth", "refused", "quota", "timeout", "media"];
const PASSING: ReadonlySet<FailureKind> = new Set(["rate_limit", "unavailable"]);

export class SimModel {
  readonly rules: RequestRules;
  readonly answers: AnswerRules;
  /** Requests that `context` showed, by their last message, with the seq of the log at that time. */
  readonly #shown = new Map<string, { readonly scope: Scope; readonly seq: number; readonly model: string; readonly body: string }>();
  /** The lease under which a worker requests a summary, by the messages of its request. A turn uses the newest. */
  readonly leases = new WeakMap<ModelRequest["messages"], number>();
  /** Summary requests under each lease: one for each chunk. */
  readonly askedUnder = new Map<number, number>();
  #calls = 0;
  #replies = 0;
  #blocks = 0;
  readonly #running = new Set<Call>();

  readonly deps: Deps;

  constructor(deps: Deps) {
    this.deps = deps;
    this.answers = new AnswerRules(deps.violations, () => deps.scheduler.now);
    this.rules = new RequestRules(deps.violations);
  }

  /** The model as one caller reaches it. `owed`: the required content of a request, if the caller is the session itself. */
  for(scope: Scope, owed: () => Owed | null): ChatModel {
    return {
      stream: (request, options) => this.#stream(request, options, { scope, owed: owed() }),
      render: async (request) => {
        const rendered = render(request);
        this.#shown.set(lastText(request), { scope, seq: owed()?.state.seq ?? 0, model: request.model.id, body: rendered.body });
        await this.deps.scheduler.gate(scope, "model render");
        return rendered;
      },
    };
  }

  async *#stream(request: ModelRequest, options: CallOptions, at: At): AsyncGenerator<ModelStreamPart> {
    const { stats } = this.deps;
    const heard = request.purpose === "turn" && at.owed ? this.answers.begin(request, at.owed.state) : null;
    const asked = request.maxOutput ?? request.model.max_output;
    const call: Call = { name: `${request.purpose} call ${++this.#calls}`, scope: at.scope, signal: options.signal, heard, asked };
    this.#count(request, at.owed);
    const { body } = render(request);
    options.onRequest?.(body);
    if (request.purpose === "turn") this.#checkTurn(request, at);
    const lease = request.purpose === "compaction" ? this.#noteLease(request, at.owed?.state.compaction.lease?.token ?? 0) : null;
    const tooLarge = this.rules.check(request, at.owed, this.deps.findEpoch(lease)) || this.#refuses(request);
    this.deps.onRequest(request, at.owed ? null : this.deps.findEpoch(lease));
    if (tooLarge) stats.count("overflows");
    if (request.purpose === "turn") this.#running.add(call);
    try {
      yield* this.#play(call, tooLarge ? overflow : (this.#refuseForm(request, body) ?? this.#capped(request) ?? this.#write(request)));
    } finally {
      this.#running.delete(call);
    }
  }

  #refuseForm(request: ModelRequest, { length }: string): Script | null {
    const { profile, stats, onRefused } = this.deps;
    const refused = refuseStrictly(profile.strict, request, length);
    if (!refused) return null;
    stats.count(`strict refusals: ${refused.refused ?? refused.kind}`);
    onRefused(request);
    // A call that is no turn's asks once more by what it was taught, and has one entry in the ledger.
    if (request.purpose !== "turn" && toLesson(request.model, { ...refused, sent: length })) stats.count(`${request.purpose} lessons`);
    return fails(refused);
  }

  #count({ purpose, model }: ModelRequest, owed: Owed | null): void {
    const { stats } = this.deps;
    stats.count(`${purpose} requests${purpose === "compaction" && owed ? " inside a turn" : ""}`);
    if (owed && model.id !== owed.state.settings.model) stats.count(`${purpose} asked of another model`);
  }

  #noteLease(request: ModelRequest, newest: number): number {
    const token = this.leases.get(request.messages) ?? newest;
    this.leases.set(request.messages, token);
    this.askedUnder.set(token, (this.askedUnder.get(token) ?? 0) + 1);
    this.#checkInstructed(request, token);
    return token;
  }

  /** I19: a summariser is given the standing instructions that its plan names, and no others, in each chunk and in any mode. */
  #checkInstructed({ system, messages }: ModelRequest, token: number): void {
    const expected = this.deps.findInstructions(token);
    if (expected === undefined) return;
    const asked = `${system ?? ""}\n${JSON.stringify(messages.at(-1)?.parts)}`;
    const given = new Set(asked.match(INSTRUCTIONS));
    const planned = expected?.match(INSTRUCTIONS) ?? [];
    const same = given.size === planned.length && planned.every((mark) => given.has(mark));
    this.deps.violations.check(same, "I19", () => `lease ${token}: instructions ${[...given]} were given, ${planned} planned`);
  }

  /** Facts that the registry does not know: a smaller window, or a gateway that counts differently. */
  #refuses(request: ModelRequest): boolean {
    const { random, profile } = this.deps;
    const window = request.model.context_window;
    const share = TRUE_SHARE[request.model.id];
    const truly = window !== null && share !== undefined && countRequest(request) > window * share;
    return truly || (request.purpose === "turn" && random.chance(profile.overflows));
  }

  async *#play(call: Call, script: Script): AsyncGenerator<ModelStreamPart> {
    for (const [index, chunk] of script.chunks.entries()) {
      if (script.throwsAfter === index) throw new Error("the provider's client has a defect");
      if ((await this.#wait(call, script.hangsAfter === index)) === "aborted") {
        yield { type: "failure", failure: { kind: "aborted", status: null } };
        return;
      }
      if (chunk.type === "failure") call.heard?.failed(chunk.failure, call.asked);
      else if (chunk.type !== "finish" && !call.signal.aborted) call.heard?.said();
      yield chunk;
    }
  }

  /** A model that accepts a shorter reply than requested says so, or only that it is too long. */
  #capped({ purpose, model, maxOutput }: ModelRequest): Script | null {
    const { random, profile, stats } = this.deps;
    const cap = profile.caps && purpose === "turn" ? TRUE_CAP[model.id] : undefined;
    if (cap === undefined || (maxOutput ?? model.max_output) <= cap) return null;
    stats.count("output caps");
    return fails({ kind: "output_cap", status: 400, ...(random.chance(0.5) ? { limit: cap } : {}) });
  }

  /** Calls of running turns that were not cancelled. */
  get running(): number {
    return [...this.#running].filter((call) => call.scope.alive && !call.signal.aborted).length;
  }

  #checkTurn(request: ModelRequest, { scope, owed }: At): void {
    this.#checkShown(request, { scope, seq: owed?.state.seq ?? null });
    if (owed) this.deps.choices.onRequest(request, owed.state);
  }

  /** Called directly after the request was shown, in the same life and with the same model: only the message itself was appended in between. */
  #checkShown(request: ModelRequest, { scope, seq }: { readonly scope: Scope; readonly seq: number | null }): void {
    const shown = this.#shown.get(lastText(request));
    if (!shown || seq === null || shown.seq + 1 !== seq || shown.model !== request.model.id || shown.scope !== scope) return;
    this.deps.stats.count("requests shown before");
    const { body } = render(request);
    this.deps.violations.check(
      body === shown.body,
      "I8",
      () => `the request differs from the one that \`context\` showed: ${firstDifference(shown.body, body)}`,
    );
  }

  /** Waits for the next chunk or the abort of the call. A chunk in flight may arrive first. */
  async #wait({ name, scope, signal }: Call, hangs: boolean): Promise<"chunk" | "aborted"> {
    const { scheduler, random } = this.deps;
    if (hangs && !signal.aborted) await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    await scheduler.gate(scope, hangs ? `${name} notices the abort` : `${name} chunk`, { weight: 4 });
    if (hangs) return "aborted";
    return signal.aborted && random.chance(0.6) ? "aborted" : "chunk";
  }

  #write(request: ModelRequest): Script {
    const { random, profile } = this.deps;
    const chunks = this.#saysTo(request);
    const somewhere = (): number => random.int(0, chunks.length - 1);
    if (request.model.id === profile.weakModel && random.chance(profile.weak)) return fails(this.#failure(profile.weakKind));
    if (random.chance(profile.modelHangs)) return { chunks, hangsAfter: somewhere(), throwsAfter: null };
    if (!random.chance(profile.modelFails)) return { chunks, hangsAfter: null, throwsAfter: null };
    if (random.chance(0.15)) return { chunks, hangsAfter: null, throwsAfter: somewhere() };
    const failure: ModelStreamPart = { type: "failure", failure: this.#failure(random.pick(FAILURES)) };
    return { chunks: [...chunks.slice(0, somewhere()), failure], hangsAfter: null, throwsAfter: null };
  }

  /** The wait of a rate limit: short, or longer than any client waits. */
  #failure(kind: FailureKind): ModelFailure {
    const { random, profile, stats } = this.deps;
    if (!PASSING.has(kind) || !random.chance(profile.saysWhen)) return { kind, status: 503 };
    const retry_after_ms = random.pick([0, 900, 8_000, 40_000, 3_600_000]);
    stats.count(`retry after ${retry_after_ms}`);
    return { kind, status: 429, retry_after_ms };
  }

  #saysTo(request: ModelRequest): ModelStreamPart[] {
    switch (request.purpose) {
      case "turn":
        return this.#writeReply(request);
      case "compaction":
        return this.#summarize(request);
      case "title":
      case "comparison":
        return this.#entitle(request);
    }
  }

  /** A title, a title with additional text, or none. */
  #entitle(request: ModelRequest): ModelStreamPart[] {
    const { random, book } = this.deps;
    const heading = book.begin(request, null);
    const text = random.pick(["A talk", `${heading} A talk`, "Title: A talk\nand more of it", " \n", drawText(random, 100, 600)]);
    const chunks: ModelStreamPart[] = [{ type: "text", text }];
    return [...chunks, this.#finish(request, { chunks, finish: random.chance(0.8) ? "stop" : "length" })];
  }

  #writeReply(request: ModelRequest): ModelStreamPart[] {
    const { random, profile } = this.deps;
    const kind = random.weighted({ text: 10, empty: 0.4, reasoning: 1, cut: 0.5 });
    const texts = kind === "empty" ? [] : Array.from({ length: random.int(1, 4) }, () => drawText(random, 1, profile.wordy));
    if (texts.length > 0) texts[0] = `@${++this.#replies} ${toOwnWord("z", this.#replies)} ${texts[0]}`;
    const said: ModelStreamPart[] = texts.map((text) => ({ type: "text", text }));
    if (kind === "reasoning") said.unshift(this.#think(request));
    const calls = request.tools.length > 0 && random.chance(profile.toolCalls) ? drawCalls(random) : [];
    const silent = calls.length > 0 && random.chance(0.4);
    const called = calls.flatMap((call, index): ModelStreamPart[] => [
      ...(kind === "reasoning" && index > 0 ? [this.#think(request)] : []),
      { type: "tool_call", call },
    ]);
    const chunks: ModelStreamPart[] = [...(silent ? [] : said), ...called];
    this.rules.signed.noteReply(request.model.id, chunks);
    const finish = calls.length > 0 ? "tool_calls" : kind === "cut" ? "length" : "stop";
    return [...chunks, this.#finish(request, { chunks, finish })];
  }

  /** Half of the thinking is signed, and then it is counted when it is sent back. */
  #think({ model }: ModelRequest): ModelStreamPart {
    const { random } = this.deps;
    const chunk = { type: "reasoning", text: drawText(random, 10, 300), block: `${++this.#blocks}` } as const;
    if (random.chance(0.5)) return chunk;
    return { ...chunk, provider_metadata: { [model.id]: { signature: `${this.#blocks}:${"EqQBCgIY".repeat(random.int(1, 60))}` } } };
  }

  #summarize(request: ModelRequest): ModelStreamPart[] {
    const { book } = this.deps;
    const said = writeSummary(request, { ...this.deps, heading: book.begin(request, this.leases.get(request.messages) ?? null) });
    return [...said.chunks, this.#finish(request, said)];
  }

  #finish(request: ModelRequest, said: { readonly chunks: readonly ModelStreamPart[]; readonly finish: FinishReason }): ModelStreamPart {
    const { random, profile } = this.deps;
    if (random.chance(0.05)) return { type: "finish", finish: said.finish, usage: null };
    const parts = said.chunks.flatMap((chunk): Part[] =>
      chunk.type === "text" ? [chunk] : chunk.type === "tool_call" ? [chunk.call] : [],
    );
    const thoughts = said.chunks.filter((chunk) => chunk.type === "reasoning");
    const signed = thoughts.filter((thought) => thought.provider_metadata);
    const thought = signed.length > 0 ? countReply(request.model, signed) : thoughts.length > 0 ? random.int(10, 400) : 0;
    const input = countRequest(request);
    const output = countReply(request.model, parts) + thought;
    const usage: CallUsage = { input, output, cached: random.int(0, input), reasoning: thought };
    return { type: "finish", finish: said.finish, usage: random.chance(profile.miscounts) ? this.#miscount(usage) : usage };
  }

  /** Usage as reported by gateways that do not count, that count only uncached tokens, or that have a defect. */
  #miscount(usage: CallUsage): CallUsage {
    const { random, stats } = this.deps;
    stats.count("miscounts");
    const kind = random.weighted({ zeros: 4, unread: 2, silent: 1, much: 2, absurd: 1 });
    if (kind === "zeros") return { input: 0, output: 0, cached: 0, reasoning: 0 };
    if (kind === "unread") return { ...usage, input: Math.floor(usage.input / 10), cached: usage.input - Math.floor(usage.input / 10) };
    if (kind === "silent") return { ...usage, output: 0 };
    return { ...usage, input: kind === "much" ? usage.input * random.int(2, 30) : 100_000_000 };
  }
}

function lastText(request: ModelRequest): string {
  const part = request.messages.at(-1)?.parts[0];
  return part?.type === "text" ? part.text : "";
}

/** Both texts from slightly before their first difference. */
function firstDifference(a: string, b: string): string {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  const from = Math.max(0, at - 60);
  return `\n    ${a.slice(from, from + 200)}\n    ${b.slice(from, from + 200)}`;
}

const fails = (failure: ModelFailure): Script => ({ chunks: [{ type: "failure", failure }], hangsAfter: null, throwsAfter: null });
const overflow = fails({ kind: "overflow", status: 400 });

export const render = ({ system, messages, tools, model, generation, plain }: ModelRequest): RenderedRequest => ({
  url: "https://model.example",
  body: JSON.stringify({ model: model.upstream_id, quirks: findQuirks(model), plain, system, messages, tools, generation }),
});
