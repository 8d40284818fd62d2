/**
 * When the view may be changed and by which worker, how often a model is called for a summary, and the reported cost
 * (I4, I18, I20, I21).
 */
import type { ChunkProgress } from "../../src/domain/compaction-events";
import type { StoredEvent } from "../../src/domain/events";
import type { CompactionId, OverlayId } from "../../src/domain/ids";
import type { SessionState } from "../../src/domain/state";
import { readBodies } from "../../src/session/log/bodies";
import { findLease } from "./summary-book";
import type { World } from "./world";

type EpochChanged = Extract<StoredEvent, { type: "EpochChanged" }>;

/** Settings whose change may let summaries succeed again. */
const MAY_HELP = ["model", "policy", "summary_instructions", "policy_instructions"] as const;

/** As docs/compaction-protocol.md says it: said here anew, so that the code is not its own judge. */
const FAILURES = 3;
const FRUITLESS = 2;
const PROGRESS = 0.9;
const GROWTH = 0.2;
/** Each time the breaker opens again, it needs this many times the growth. */
const AGAIN = 2;
/** The attempts that any policy allows, plus as many by waiting turns, without progress in the chunks between them. */
const MOST_LEASES = 10;
/** Maximum compactions that take effect inside one turn. More would be a loop. */
const MOST_IN_TURN = 24;

/**
 * The breaker, computed from outcomes: the number of failures or compactions without a gain, the tokens that must be
 * appended before the next request, and those appended since.
 */
interface Breaker {
  failures: number;
  fruitless: number;
  needed: number | null;
  appended: number;
}

interface Spent {
  readonly input: number;
  readonly output: number;
  readonly ms: number;
  /** NaN: unknown. */
  readonly cost: number;
}
const NOTHING: Spent = { input: 0, output: 0, ms: 0, cost: 0 };

/** Each chunk leaves less to read, so the source bounds their number. */
const readsOn = (before: ChunkProgress | null, now: ChunkProgress): boolean =>
  !before || before.stage !== now.stage || now.position > before.position || (now.position === before.position && now.chars > before.chars);

export class CompactionRules {
  readonly #compacted = new Set<CompactionId>();
  /** Rebuilds need not free anything. */
  readonly #rebuilds = new Set<CompactionId>();
  readonly #overlays = new Set<OverlayId>();
  readonly #ranges = new Set<string>();
  readonly #leases = new Map<CompactionId, number>();
  /** The holder of the lease. */
  readonly #holders = new Map<number, CompactionId>();
  readonly #spent = new Map<CompactionId, Spent>();
  #newestToken = 0;
  #usedToken = 0;
  #inTurn = 0;
  readonly #breaker: Breaker = { failures: 0, fruitless: 0, needed: null, appended: 0 };

  readonly world: World;

  constructor(world: World) {
    this.world = world;
  }

  afterEvent(event: StoredEvent, before: SessionState, after: SessionState): void {
    this.#grow(before, after);
    switch (event.type) {
      case "ModelCallFinished":
        return this.#called(event);
      case "CompactionStarted":
        return this.#started(event, before);
      case "CompactionProgressed":
        return this.#progressed(event, before);
      case "EpochChanged":
        return this.#changed(event, before, after);
      case "TurnStarted":
        this.#inTurn = 0;
        return;
      case "CompactionFailed":
        return this.#failed(event, after);
      case "CompactionRequested":
        if (event.options?.rebuild) this.#rebuilds.add(event.compaction);
        return event.trigger === "manual" ? this.#close() : undefined;
      case "SettingsChanged":
        return MAY_HELP.some((field) => event.changes[field] !== undefined) ? this.#close() : undefined;
      default:
    }
  }

  /** Positions only grow, so new items of the view were appended, unless an earlier branch was restored. */
  #grow({ next_position }: SessionState, { view }: SessionState): void {
    for (let index = view.items.length - 1; index >= 0; index--) {
      const item = view.items[index];
      if (!item || item.position < next_position) return;
      this.#breaker.appended += item.tokens;
    }
  }

  #close(): void {
    Object.assign(this.#breaker, { failures: 0, fruitless: 0, needed: null, appended: 0 });
  }

  #called({ lease, usage, ms, cost = Number.NaN }: Extract<StoredEvent, { type: "ModelCallFinished" }>): void {
    const holder = lease === null ? undefined : this.#holders.get(lease);
    if (!holder) return;
    const before = this.#spent.get(holder) ?? NOTHING;
    const tokens = { input: before.input + (usage?.input ?? 0), output: before.output + (usage?.output ?? 0) };
    this.#spent.set(holder, { ...tokens, ms: before.ms + ms, cost: before.cost + cost });
  }

  /** A receipt has the ledger's calls of its compaction. */
  #checkSpent({ compaction, receipt }: EpochChanged): void {
    const { input, output, ms, cost } = (compaction && this.#spent.get(compaction)) ?? NOTHING;
    const said = [receipt.usage?.input ?? 0, receipt.usage?.output ?? 0, receipt.ms, (receipt.cost ?? Number.NaN).toFixed(9)].join();
    const spent = [input, output, ms, cost.toFixed(9)].join();
    this.world.violations.check(said === spent, "I18", () => `a receipt says ${said} for ${spent} (input, output, ms, cost)`);
    if (cost > 0) this.world.stats.count("receipts with a cost");
  }

  #started(event: Extract<StoredEvent, { type: "CompactionStarted" }>, { compaction }: SessionState): void {
    const { violations } = this.world;
    const { token } = event;
    violations.check(token > this.#newestToken, "I4", () => `lease token ${token} was given out after ${this.#newestToken}`);
    this.#newestToken = Math.max(token, this.#newestToken);
    this.#holders.set(token, event.compaction);
    const started = (this.#leases.get(event.compaction) ?? 0) + 1;
    this.#leases.set(event.compaction, started);
    violations.check(started <= MOST_LEASES, "I20", () => `${event.compaction} was leased ${started} times`);
    violations.check(compaction.requested?.id === event.compaction, "I4", () => `${event.compaction} was leased without a request`);
    const { needed, appended } = this.#breaker;
    const open = needed !== null && appended < needed;
    violations.check(!open, "I21", () => `a model is asked while the breaker is open: ${appended} tokens came, ${needed} are needed`);
    violations.check(needed === null || event.attempt === 1, "I21", () => `a probe of the breaker is repeated: attempt ${event.attempt}`);
  }

  #progressed(event: Extract<StoredEvent, { type: "CompactionProgressed" }>, { compaction }: SessionState): void {
    const { violations } = this.world;
    const before = compaction.requested?.folded ?? null;
    const { parts } = event.part;
    // A lease for another plan starts again, and the number of leases is bounded.
    const done = before?.parts ?? 0;
    violations.check(parts === done + 1, "I20", () => `part ${parts} of the fold of ${event.compaction} came after ${done}`);
    violations.check(readsOn(before, event.part), "I20", () => `part ${parts} of ${event.compaction} ends where ${done} did`);
    const { to = 0 } = compaction.lease?.source ?? {};
    violations.check(
      event.part.position <= to,
      "I20",
      () => `the fold of ${event.compaction} goes on behind its source, which ends at ${to}`,
    );
    this.#leases.set(event.compaction, 0);
    if (parts > 32) this.world.stats.count("folds of more than 32 parts");
    const made = findLease(readBodies(this.world.sql, [event.part.summary.body]).get(event.part.summary.body) ?? "");
    const same = made === String(event.token) && compaction.lease?.token === event.token;
    violations.check(same, "I4", () => `a part made under lease ${made} was kept under ${event.token}`);
  }

  #changed(event: EpochChanged, before: SessionState, after: SessionState): void {
    const { violations } = this.world;
    const { compaction, base_epoch, epoch } = event;
    const followsOn = base_epoch === before.view.epoch && epoch === base_epoch + 1;
    violations.check(followsOn, "I4", () => `epoch ${epoch} on ${base_epoch} came at ${before.view.epoch}`);
    const isBetween = before.turn === null || before.turn.phase === "generating";
    violations.check(isBetween, "I4", () => `epoch ${epoch} began while a turn waits for its tools`);
    if (compaction) {
      violations.check(!this.#compacted.has(compaction), "I4", () => `compaction ${compaction} took effect twice`);
      this.#compacted.add(compaction);
    }
    this.#inTurn += before.turn ? 1 : 0;
    violations.check(this.#inTurn <= MOST_IN_TURN, "I20", () => `${this.#inTurn} changes of the view in one turn`);
    this.#checkSpent(event);
    this.#checkOverlays(event, before);
    // A note that replaces a summary is part of a failure. It neither closes the breaker nor counts towards it.
    if (event.trigger === "fallback" || !event.ops.some((op) => op.op === "summarize")) return;
    this.#checkSummary(event, before, after);
    this.#judge(event, after);
  }

  #checkOverlays(event: EpochChanged, { view }: SessionState): void {
    const { violations } = this.world;
    const known = new Set(view.overlays.map((overlay) => overlay.id));
    for (const op of event.ops) {
      if (op.op !== "summarize" && op.op !== "drop") continue;
      violations.check(!this.#overlays.has(op.overlay), "I4", () => `overlay ${op.overlay} was made twice`);
      this.#overlays.add(op.overlay);
      const foreign = op.replaces.filter((id) => !known.has(id));
      violations.check(foreign.length === 0, "I4", () => `an overlay replaces ${foreign}, not in the view`);
      // A model that could not be called removes nothing from the count.
      const lost =
        event.trigger === "fallback" ? view.overlays.filter(({ id, kind }) => kind === "summary" && op.replaces.includes(id)) : [];
      violations.check(lost.length === 0, "I19", () => `a fallback takes the place of summaries that stand: ${lost.map(({ id }) => id)}`);
      const range = `${event.base_epoch}: ${op.from}..${op.to}`;
      violations.check(!this.#ranges.has(range), "I4", () => `two changes of one range and base epoch: ${range}`);
      this.#ranges.add(range);
    }
  }

  /** The summary was made under the newest lease, over the leased range, and each fencing token is used at most once. */
  #checkSummary(event: EpochChanged, before: SessionState, after: SessionState): void {
    const { violations, sql } = this.world;
    const { lease: running, draft } = before.compaction;
    const committed = draft?.id === event.compaction ? { token: draft.tokens.last, range: draft.plan.range } : null;
    const lease = committed ?? running;
    const isRebuild = event.compaction !== null && this.#rebuilds.has(event.compaction);
    for (const op of event.ops) {
      // A note has no lease: the policy requested it, or no summary could be made.
      if (op.op !== "summarize" || op.mode === null) continue;
      const made = findLease(readBodies(sql, [op.overlay]).get(op.overlay) ?? "");
      const same = made === String(lease?.token) && op.from === lease?.range.from && op.to === lease.range.to;
      violations.check(same, "I4", () => `a summary made under lease ${made} was committed under ${JSON.stringify(lease)}`);
    }
    const grows = after.view.tokens >= before.view.tokens;
    violations.check(!grows || isRebuild, "I20", () => `a summary took the view from ${before.view.tokens} tokens to ${after.view.tokens}`);
    if (event.ops.every((op) => op.op !== "summarize" || op.mode === null)) return;
    const token = lease?.token ?? 0;
    // A person may take any time, so later leases may exist.
    violations.check(
      (committed !== null || token === this.#newestToken) && token > this.#usedToken,
      "I4",
      () => `token ${token} committed after ${this.#usedToken}`,
    );
    this.#usedToken = token;
  }

  #judge({ receipt, compaction }: EpochChanged, { view }: SessionState): void {
    const breaker = this.#breaker;
    breaker.failures = 0;
    if (compaction && this.#rebuilds.has(compaction)) return this.world.stats.count("made anew");
    breaker.fruitless = receipt.tokens_after > receipt.tokens_before * PROGRESS ? breaker.fruitless + 1 : 0;
    if (breaker.fruitless >= FRUITLESS) this.#open(view.tokens);
    else breaker.needed = null;
  }

  #failed(event: Extract<StoredEvent, { type: "CompactionFailed" }>, { view }: SessionState): void {
    if (!event.final || ["superseded", "nothing_to_do", "discarded", "budget"].includes(event.failure)) return;
    this.#breaker.failures++;
    if (this.#breaker.failures >= FAILURES) this.#open(view.tokens);
  }

  #open(tokens: number): void {
    const { needed } = this.#breaker;
    Object.assign(this.#breaker, { needed: needed === null ? Math.ceil(tokens * GROWTH) : needed * AGAIN, appended: 0 });
    this.world.stats.count("breaker opened");
  }
}
