/**
 * Runs the turn of this life of the object, one answer at a time. When the run throws, the turn fails. When even that
 * cannot be written, as on a full disk, its end is kept and written once there is room. No model is asked before that.
 */

import type { BodyText, SessionWriter } from "../app/session-ports";
import { buildLostRuns, runTools } from "../app/tools/run-tools";
import type { AfterTurnPorts } from "../app/turn/after-turn";
import { LiveTurn } from "../app/turn/live-turn";
import { runTurn } from "../app/turn/run-turn";
import type { Command, CutShort } from "../domain/commands";
import type { TurnFailure } from "../domain/events";
import type { OpenTurn } from "../domain/state";
import { toErrorName } from "../lib/error-name";
import { serveRequest } from "../lib/request-scope";
import { isStorageFull } from "../lib/sync-sql";
import type { Progress } from "./progress";
import type { RuntimeDeps } from "./runtime-deps";
import type { TurnRequests } from "./turn-requests";

/**
 * While a model answers, the session looks so often whether its tenant was suspended. A look may find an answer that is 5 seconds old, and
 * asks for the next one in the background: two looks later, within 10 seconds, the turn ends.
 */
const SUSPENSION_CHECK_MS = 2_500;

interface RunnerHost extends SessionWriter {
  readonly deps: Pick<RuntimeDeps, "clock" | "ids" | "log" | "background" | "schedule" | "isSuspended">;
  ports(): AfterTurnPorts;
  advanceSoon(): void;
  readonly requests: Pick<TurnRequests, "find">;
  readonly progress: Progress;
}

/** The command that ends a turn, with its bodies. */
interface Ending {
  readonly command: Command;
  readonly bodies: readonly BodyText[];
}

export class TurnRunner {
  #live: LiveTurn | null = null;
  #last: LiveTurn | null = null;
  /** The end of `#live` that could not be written yet. */
  #owed: Ending | null = null;

  readonly host: RunnerHost;

  constructor(host: RunnerHost) {
    this.host = host;
  }

  /** Goes on with the turn: starts it, tells a running one to look again, or writes its kept end. */
  run(turn: OpenTurn): void {
    if (this.#live?.run.turn === turn.id) return this.#owed ? this.#write(this.#owed) : this.#live.look?.();
    const live = LiveTurn.after(this.#last, { turn: turn.id, incarnation: turn.incarnation });
    this.#last = live;
    this.#live = live;
    this.#owed = null;
    const work = () => (turn.phase === "generating" ? this.#answer(live) : runTools(live, this.host.ports()));
    // A turn that waited is started by the work of another request.
    const done = serveRequest(this.host.requests.find(turn.id), work)
      .catch((error: unknown) => this.#threw(live, error))
      .then(() => {
        if (this.#live !== live || this.#owed) return;
        this.#live = null;
        this.host.advanceSoon();
      });
    this.host.deps.background(done);
  }

  /** Asks a model while the tenant is served. Tools that were called already run to their end. */
  async #answer(live: LiveTurn): Promise<void> {
    if (await this.#isSuspended()) return this.#suspend(live);
    if (this.#live !== live) return;
    const stop = this.#watchTenant(live);
    await runTurn(live, this.host.ports()).finally(stop);
  }

  async #isSuspended(): Promise<boolean> {
    const { tenant } = this.host.state;
    return tenant !== null && (await this.host.deps.isSuspended(tenant));
  }

  /** Looks again and again whether the tenant was suspended, until the returned function is called. */
  #watchTenant(live: LiveTurn): () => void {
    let isOver = false;
    let cancel = (): void => undefined;
    const look = async (): Promise<void> => {
      if (await this.#isSuspended()) this.#suspend(live);
      else if (!isOver) arm();
    };
    const arm = (): void => {
      cancel = this.host.deps.schedule(SUSPENSION_CHECK_MS, () => void look());
    };
    arm();
    return () => {
      isOver = true;
      cancel();
    };
  }

  /** Ends the turn of a suspended tenant. What was said is kept, and the turn can be retried. */
  #suspend(live: LiveTurn): void {
    if (this.#live !== live || this.#owed) return;
    const { cut, bodies } = this.cutShort("aborted");
    const failure: TurnFailure = { kind: "suspended", status: null };
    this.#write({ command: { type: "FailTurn", at: this.host.deps.clock(), ...live.run, failure, ...cut }, bodies });
    live.abort.abort();
  }

  /** The run of the open turn. Null: the runner has not begun with that turn, and may still hold the run of a turn before it. */
  get #running(): LiveTurn | null {
    return this.#live?.run.turn === this.host.state.turn?.id ? this.#live : null;
  }

  /**
   * What the running turn leaves behind if it ends now: its text so far as an item, the model call under way, and the
   * tools that were started.
   */
  cutShort(outcome: "aborted" | "internal"): { readonly cut: CutShort; readonly bodies: readonly BodyText[] } {
    if (this.host.state.turn?.phase === "running_tools") {
      const { lost, bodies } = buildLostRuns(this.host.ports());
      return { cut: { partial: null, call: null, lost }, bodies };
    }
    const live = this.#running;
    const { clock, ids } = this.host.deps;
    const call = live?.call?.endedAs(outcome, clock()) ?? null;
    const partial = live?.buildPartial(clock(), ids) ?? null;
    return { cut: { partial: partial?.draft ?? null, call }, bodies: partial ? [partial.body] : [] };
  }

  /** Aborts the model call of a turn that has just ended. */
  abandon(): void {
    this.#live?.abort.abort();
    this.#live = null;
    this.#owed = null;
  }

  /** Handles a defect or a failed write: the turn ends with a clear failure instead of hanging. */
  #threw(live: LiveTurn, error: unknown): void {
    live.abort.abort();
    if (this.#live !== live) return;
    const { clock } = this.host.deps;
    this.host.ports().log.error("turn_threw", { error: toErrorName(error) });
    const { cut, bodies } = this.cutShort("internal");
    const failure: TurnFailure = { kind: isStorageFull(error) ? "storage_full" : "internal", status: null };
    this.#write({ command: { type: "FailTurn", at: clock(), ...live.run, failure, ...cut }, bodies });
  }

  /** Writes the end of the turn. A refused command is not kept: the turn is over already. */
  #write(ending: Ending): void {
    try {
      this.host.execute(ending.command, ending.bodies);
      this.#owed = null;
    } catch (error) {
      // Tools run again, each at most once and without a model call, so their outcome may still be written.
      if (this.host.state.turn?.phase === "running_tools") this.#live = null;
      else this.#owed = ending;
      this.host.ports().log.error("turn_end_not_written", { error: toErrorName(error) });
      this.host.progress.haltIfFull(error);
    }
  }
}
