/**
 * Plays a summary by a summariser that may fail, by the rules of production (`app/compaction`): the real check judges each
 * answer, a failed summary is requested again as a transcript, and after the last attempt the policy's fallback takes its
 * place.
 */
import { toSizing } from "../context/budget";
import { buildChangeFromRungs, buildChangeFromSummary, isSmallerAfter } from "../context/epoch-change";
import { fallbackNote, planNote } from "../context/fallback-note";
import { NO_FILES } from "../context/file-ops";
import type { SummarizeRung } from "../context/plan";
import { planCompaction } from "../context/planner";
import { toSummaryCap } from "../context/proposal";
import { type AcceptedSummary, checkSummary } from "../context/summary-check";
import { estimateTokens } from "../context/tokens";
import type { TokenCounts } from "../contract/evaluation";
import { attemptsUnder } from "../domain/breaker";
import type { EpochChange } from "../domain/commands";
import type { CompactionFailure } from "../domain/compaction-events";
import { err, ok, type Result } from "../lib/result";
import { NO_TOKENS, plus } from "./costs";
import { changeBy, commit, type Lease, lease, toReplayChangeInput, toWaitingTurn, type Work } from "./leased";
import type { PlanResult } from "./plan-result";
import type { Summariser } from "./summariser";
import { partInput, type SummarySource, splitSource, summarySource } from "./summary-cost";

/** The progress of a source that is read in parts. */
interface ChunkedRead {
  readonly done: number;
  /** Tokens of the summary so far. */
  readonly before: number;
}

interface Call {
  readonly spent: TokenCounts;
  readonly judged: Result<AcceptedSummary, CompactionFailure>;
}

export class SummaryAttempts {
  readonly #work: Work;
  readonly #by: Summariser;
  #spent = NO_TOKENS;
  #calls = 0;
  #failures = 0;
  #chunks: ChunkedRead | null = null;

  constructor(by: Summariser, work: Work) {
    this.#by = by;
    this.#work = work;
  }

  run(first: SummarizeRung): PlanResult {
    const attempts = this.#attempts;
    let rung = first;
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const leased = lease(rung, this.#work);
      const done = this.#attempt(leased, attempt);
      if (done.ok) return this.#carried("summary");
      this.#failures += 1;
      const dropped = this.#fail(done.error, leased, attempt === attempts);
      if (attempt === attempts) return this.#carried(dropped);
      if (rung.mode !== "transcript" || rung.reread > 0) this.#chunks = null;
      // The view has not changed, so a new plan would differ only in this.
      rung = { ...rung, mode: "transcript", reread: 0 };
    }
    return this.#carried("none");
  }

  #carried(change: PlanResult["change"]): PlanResult {
    return { spent: this.#spent, calls: this.#calls, failures: this.#failures, change };
  }

  #attempt(leased: Lease, attempts: number): Result<null, CompactionFailure> {
    const { session } = this.#work.ports;
    const written = this.#write(leased);
    if (!written.ok) return written;
    const overlay = session.newId("ovl");
    const change = changeBy({ overlay, summary: written.value, spent: this.#spent, attempts }, leased, this.#work);
    if (!isSmallerAfter(toSizing({ state: session.state, limits: this.#work.ports.limits }), change.ops)) return err("not_smaller");
    session.keepSummary(overlay, { tokens: written.value.tokens, range: leased.rung.range, text: written.value.text });
    commit(change, leased, this.#work);
    return ok(null);
  }

  /**
   * Reads the request up to the cut, or a transcript of the source, part by part. Parts that were read before one failed are
   * not read again.
   */
  #write({ rung }: Lease): Call["judged"] {
    const source = summarySource(rung, this.#work.ports);
    if (rung.mode === "same_prefix") return this.#call(rung, source, this.#work.ports.readPrefix(rung.range.to));
    const parts = splitSource(source);
    for (;;) {
      const { done, before } = this.#chunks ?? { done: 0, before: source.chain };
      const part = this.#call(rung, source, { input: partInput(parts[done] ?? 0, before), cached: 0 });
      if (!part.ok || done + 1 >= parts.length) return part;
      this.#chunks = { done: done + 1, before: Math.round(part.value.tokens * this.#ratio) };
    }
  }

  #call(
    { mode, split, source: { from } }: SummarizeRung,
    source: SummarySource,
    read: Pick<TokenCounts, "input" | "cached">,
  ): Call["judged"] {
    const { session, limits, policy } = this.#work.ports;
    const { form } = policy.summary;
    const whole = toSummaryCap(limits, policy);
    const cap = mode === "transcript" && split !== null && split > from ? Math.floor(whole / 2) : whole;
    const answer = this.#by.answer({ expected: Math.min(cap, source.expected), cap, form, name: `${session.state.view.epoch}` });
    this.#calls += 1;
    if (answer.ok || answer.failure !== "unavailable") this.#spent = plus(this.#spent, { ...read, output: answer.ok ? answer.output : 0 });
    if (!answer.ok) return err(answer.failure);
    return checkSummary({ text: answer.text, finish: answer.finish, form, cap, ratio: this.#ratio });
  }

  #fail(failure: CompactionFailure, { token }: Lease, isLast: boolean): PlanResult["change"] {
    const { compaction, ports } = this.#work;
    const { session } = ports;
    const inside = toWaitingTurn(session.state.turn);
    const fallback = isLast ? this.#fallback() : null;
    const failed = { compaction, token, failure, attemptLimit: this.#attempts, call: null, fallback, inside };
    session.execute({ at: session.now, type: "FailCompaction", ...failed });
    return fallback ? "drop" : "none";
  }

  /**
   * Inside a turn there is no fallback, because the guard drops what must go. The exception is a note, where the policy asks
   * for one: it replaces what it covers.
   */
  #fallback(): EpochChange | null {
    const { session, limits, policy } = this.#work.ports;
    if (session.state.turn && policy.on_failure !== "note") return null;
    const plan = planCompaction({ state: session.state, limits, policy, trigger: "fallback", now: session.now });
    if (plan.kind !== "compact" || plan.fallback.length === 0) return null;
    const input = { ...toReplayChangeInput({ ...this.#work, plan }), trigger: "fallback", economy: null, summarizer: null } as const;
    const rung = plan.rungs.find((step) => step.rung === "summarize");
    const note = policy.on_failure === "note" && rung ? planNote(rung, session.state) : null;
    if (!note) return buildChangeFromRungs(plan.fallback, input);
    const text = fallbackNote(note, NO_FILES, toSummaryCap(limits, policy));
    const overlay = session.newId("ovl");
    session.keepSummary(overlay, { tokens: estimateTokens(text), range: note.plan.range, text });
    const summary = { text, tokens: estimateTokens(text) };
    return buildChangeFromSummary({ summary, plan: { ...note.plan, mode: null }, overlay, also: [] }, input);
  }

  get #attempts(): number {
    const { session, policy } = this.#work.ports;
    return attemptsUnder(session.state.compaction, policy.summary.attempts);
  }

  get #ratio(): number {
    const { session, limits } = this.#work.ports;
    return toSizing({ state: session.state, limits }).ratio;
  }
}
