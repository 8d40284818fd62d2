/**
 * Makes a system's model calls. Its rule decides what is sent; the provider, its cache and the ledger are the same as
 * for our own policies.
 */
import { type ModelLimits, toRequestLimit } from "../../../src/context/budget";
import { startsGroup } from "../../../src/context/groups";
import { WITHOUT_MODEL } from "../../../src/evaluate/plan-result";
import { PromptCache } from "../../../src/evaluate/prompt-cache";
import { type Segment, sumTokens } from "../../../src/evaluate/segments";
import { findMalformed } from "../engine/check-request";
import type { Ledger, ShownView } from "../engine/ledger";
import { recordReply, toModelCall } from "../engine/model-calls";
import type { LabSession, RecordedItem } from "../engine/session";
import type { Conditions } from "../engine/setup";
import type { Caller, Spoken } from "../engine/step-player";
import { summariseFor } from "./summarise.ts";
import type { Ask, Moment, System, SystemMessage } from "./system.ts";

interface Parts {
  readonly system: System;
  /** Messages before the first one of the conversation. */
  readonly prompt: string | null;
  readonly session: LabSession;
  readonly ledger: Ledger;
  readonly limits: ModelLimits;
  readonly conditions: Conditions;
}

export class SystemCalls implements Caller {
  readonly #by: Parts;
  #cache: PromptCache<Segment>;
  #view: readonly SystemMessage[] = [];
  #all: readonly SystemMessage[] = [];
  /** The last position that the view has processed. */
  #seen = 0;
  #epoch = 0;
  #calls = 0;
  #reported: Moment["reported"] = null;

  constructor(by: Parts) {
    this.#by = by;
    this.#cache = this.#emptyCache();
  }

  #emptyCache(): PromptCache<Segment> {
    return new PromptCache(this.#by.session.segments, this.#by.conditions.cacheStep ?? undefined);
  }

  beforeTurn(turn: number): void {
    const { cold } = this.#by.conditions;
    if (cold !== null && turn % cold === 0) this.#cache = this.#emptyCache();
  }

  prepare(): boolean {
    const { record } = this.#by.session;
    const fresh = toMessages(record.slice(this.#seen));
    this.#view = [...this.#view, ...fresh];
    this.#all = [...this.#all, ...fresh];
    this.#seen = record.length;
    this.#decide(false);
    return true;
  }

  call(spoken: Spoken): boolean {
    const { session, ledger, system } = this.#by;
    this.#calls += 1;
    let request = this.#request(this.#view);
    if (sumTokens(request) > this.#limit && system.recovers) {
      this.#decide(true);
      request = this.#request(this.#view);
    }
    const input = sumTokens(request);
    const output = session.segments.count(spoken.text);
    const usage = input <= this.#limit ? { input, cached: this.#cache.read(request), output } : null;
    const malformed = findMalformed({ system: null, messages: this.#view, older: 0 });
    ledger.called({ record: session.record, view: this.#shown(), request, reply: spoken.text, malformed, input, usage });
    if (!usage) {
      this.fail("overflow");
      return false;
    }
    recordReply(session, spoken.drafts, toModelCall(session.state, { usage: { ...usage, reasoning: 0 }, rent: 0 }));
    this.#reported = { tokens: input + output, messages: this.#view.length + 1 };
    return true;
  }

  fail(kind: "overflow" | "cannot_fit"): void {
    const { session } = this.#by;
    const failure = { kind, status: kind === "overflow" ? 400 : null };
    session.execute({ at: session.now, type: "FailTurn", ...session.run(), call: null, failure, partial: null });
  }

  afterTurn(): void {}

  #decide(refused: boolean): void {
    const { session, system, limits, prompt, ledger } = this.#by;
    const request = this.#request;
    const view = this.#view;
    const decided = system.decide({
      messages: view,
      all: this.#all,
      window: limits.window ?? Number.POSITIVE_INFINITY,
      maxOutput: limits.maxOutput,
      call: this.#calls,
      isFirst: session.state.turn?.rounds === 0,
      refused,
      reported: this.#reported,
      get exact() {
        return sumTokens(request(view));
      },
      head: prompt?.length ?? 0,
    });
    if (!decided) return;
    if (decided.kind === "summarise") return this.#summarise(decided);
    if (decided.isEpoch) {
      ledger.compacted({ trigger: "results" }, { ...WITHOUT_MODEL, change: "other" });
      this.#epoch += 1;
      this.#reported = null;
    }
    this.#view = decided.messages;
  }

  #summarise(ask: Ask): void {
    const { session, ledger } = this.#by;
    const made = summariseFor(ask, {
      session,
      cache: this.#cache,
      limit: this.#limit,
      request: this.#request,
      name: `summary ${this.#epoch}`,
    });
    if (!made) return;
    ledger.compacted({ trigger: "threshold" }, { spent: made.spent, calls: 1, failures: 0, change: "summary" });
    this.#epoch += 1;
    this.#reported = null;
    this.#view = ask.becomes(made.text);
  }

  readonly #request = (messages: readonly SystemMessage[]): Segment[] =>
    this.#by.session.segments.ofView({ system: this.#by.prompt, messages, older: 0 });

  #shown(): ShownView {
    const { record } = this.#by.session;
    const reduced = this.#view.flatMap(({ positions, shows }) =>
      shows === null ? [] : positions.map((position) => ({ position, tokens: 0, how: "shortened" as const, chars: shows })),
    );
    const items = this.#view.flatMap(({ positions }) => positions.flatMap((position) => record[position - 1]?.meta ?? []));
    return { epoch: this.#epoch, items, reduced };
  }

  get #limit(): number {
    return toRequestLimit(this.#by.limits) ?? Number.POSITIVE_INFINITY;
  }
}

/** Groups messages as providers do: a response with all its calls is one message, and each result is another. */
export function toMessages(record: readonly RecordedItem[]): SystemMessage[] {
  const messages: SystemMessage[] = [];
  for (const [index, { meta, parts }] of record.entries()) {
    const before = messages.at(-1);
    const isMore = meta.kind === "tool_call" && before?.role === "assistant" && !startsGroup(meta, record[index - 1]?.meta);
    if (isMore && before)
      messages[messages.length - 1] = { ...before, parts: [...before.parts, ...parts], positions: [...before.positions, meta.position] };
    else messages.push({ role: roles[meta.kind], parts, positions: [meta.position], shows: null });
  }
  return messages;
}

const roles = { user: "user", system: "system", assistant: "assistant", tool_call: "assistant", tool_result: "tool" } as const;
