/**
 * Evaluates a session's log under another policy (`POST /v1/policies/evaluate`): the CPU time of one request, by
 * window. Pure functions in this process.
 */
import { estimateParts } from "../src/context/item-tokens.ts";
import { resolvePolicy } from "../src/context/policy-choice.ts";
import type { Event, StoredEvent } from "../src/domain/events.ts";
import type { ItemKind, ItemMeta, Part } from "../src/domain/message.ts";
import { type EvaluatedPage, LogEvaluation } from "../src/evaluate/evaluate-log.ts";
import { RecordedSummaries } from "../src/evaluate/recorded-summaries.ts";
import { id } from "../test/support/builders.ts";
import type { BenchResult, Figure } from "./support/report.ts";
import { timed } from "./support/timed.ts";

const MESSAGES = 10_000;
/** The length of the session. The newest `MESSAGES` are evaluated, and the others are skipped. */
const LONG = 100_000;
const PAGE_EVENTS = 1_000;
const WINDOWS = [16_000, 200_000, 1_000_000] as const;
/** A tenth of the CPU time of an invocation, in milliseconds (wrangler.toml, `cpu_ms`). */
const GOAL = 30_000;
const TEXT = "It was read aloud, slowly, to a room of nineteen people who had come in from the rain, about order ";

/** A log in the form of `exportLog`: questions and answers, each with an order. */
class LogWriter {
  readonly pages: EvaluatedPage[] = [];
  #events: StoredEvent[] = [];
  #bodies: { id: string; text: string }[] = [];
  #seq = 0;
  #position = 0;
  #weight = 0;

  turn(n: number): void {
    const turn = id("trn", n);
    const of = { turn, incarnation: "bench" };
    this.#add({ type: "TurnStarted", ...of, attempt: 1, item: this.#item("user", n), tools: null, retry_of: null });
    const estimate = this.#weight;
    const call = { turn, purpose: "turn", model: "bench", epoch: 0, up_to: this.#position, estimate, request_digest: null } as const;
    const usage = { input: estimate, output: 90, cached: 0, reasoning: 0 };
    this.#add({ type: "ModelCallFinished", ...call, usage, outcome: "stop", ms: 900, lease: null });
    this.#add({ type: "AssistantReplied", turn, item: this.#item("assistant", n) });
    this.#add({ type: "TurnCompleted", turn, finish: "stop" });
  }

  open(): void {
    const settings = { model: "bench", policy: "balanced", system: null, tools: null, title: null, metadata: null };
    this.#add({ type: "SessionOpened", tenant_id: id("ten", 1), session: id("ses", 1), settings });
  }

  flush(): void {
    this.pages.push({ events: this.#events, bodies: this.#bodies });
    this.#events = [];
    this.#bodies = [];
  }

  #item(kind: ItemKind, n: number): ItemMeta {
    const parts: Part[] = [{ type: "text", text: TEXT.repeat(3) + (kind === "user" ? `ORD${n}` : `ORD${Math.max(0, n - 40)}`) }];
    this.#position += 1;
    const tokens = estimateParts(parts);
    this.#weight += tokens;
    const text = JSON.stringify(parts);
    const item = id("msg", this.#position);
    this.#bodies.push({ id: item, text });
    return { id: item, kind, position: this.#position, turn: null, at: this.#position, bytes: text.length, tokens };
  }

  #add(event: Event): void {
    this.#seq += 1;
    this.#events.push({ ...event, seq: this.#seq, at: this.#seq * 1_000 });
    if (this.#events.length === PAGE_EVENTS) this.flush();
  }
}

function buildLog(messages: number): readonly EvaluatedPage[] {
  const log = new LogWriter();
  log.open();
  for (let n = 0; n < messages / 2; n++) log.turn(n);
  log.flush();
  return log.pages;
}

function evaluate(pages: readonly EvaluatedPage[], { window, messages }: { readonly window: number; readonly messages: number }): unknown {
  const named = (choice: "balanced" | "economy") => ({ choice, policy: resolvePolicy(choice) });
  const evaluation = new LogEvaluation({
    session: id("ses", 1),
    current: named("balanced"),
    proposed: named("economy"),
    limits: { model: { id: "bench", provider: "unknown" }, window, maxOutput: 4_096, prices: null },
    messages,
    last: MESSAGES,
    summaries: new RecordedSummaries(),
  });
  for (const page of pages) evaluation.take(page);
  return evaluation.finish();
}

export function benchEvaluate(): BenchResult {
  const pages = buildLog(MESSAGES);
  const figures = WINDOWS.map(
    (window): Figure =>
      timed(`${MESSAGES} messages, window ${window}`, () => evaluate(pages, { window, messages: MESSAGES }), {
        samples: 3,
        warmUp: 1,
        goal: GOAL,
      }),
  );
  const long = buildLog(LONG);
  const newest = timed(`the newest ${MESSAGES} of ${LONG}`, () => evaluate(long, { window: 200_000, messages: LONG }), {
    samples: 1,
    warmUp: 0,
    goal: GOAL,
  });
  return {
    title: "Evaluating a policy on a session's log",
    notes: [
      `${MESSAGES} messages of about ${estimateParts([{ type: "text", text: TEXT.repeat(3) }])} tokens, two policies, in this process; the log itself is read in pages beforehand.`,
    ],
    figures: [...figures, newest],
  };
}
