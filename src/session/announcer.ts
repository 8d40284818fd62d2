/**
 * Hands what the session announces to the tenant's object, behind the commit and beside the turn. What waits is in the session's database, so
 * that nothing committed is left out and nothing else is told. A tenant without endpoints costs a look-up of its isolate once a minute.
 */
import type { AnnouncementPort } from "../app/announcement-ports";
import { INTEREST_MS } from "../app/known-interest";
import { toAnnouncements } from "../app/to-announcements";
import type { StoredEvent } from "../domain/events";
import type { SessionId } from "../domain/ids";
import type { SessionState } from "../domain/state";
import { backOff } from "../lib/back-off";
import { toErrorName } from "../lib/error-name";
import { addAnnouncements, forgetAnnouncements, readAnnouncements } from "./log/announcement-rows";
import type { Jobs } from "./log/jobs";
import { readTurn, toSpent } from "./log/turn-rows";
import type { RuntimeDeps } from "./runtime-deps";

/** Announcements of one call. */
const AT_ONCE = 100;
const FIRST_RETRY_MS = 5_000;
const LONGEST_RETRY_MS = 60 * 60 * 1_000;
/** The answer that an isolate has now is out of date by then. */
const LOOK_AGAIN_MS = INTEREST_MS + 1;

interface AnnouncerHost {
  readonly exists: boolean;
  readonly state: SessionState;
  readonly jobs: Jobs;
  readonly deps: Pick<RuntimeDeps, "sql" | "clock" | "log" | "background" | "announcements">;
  syncAlarm(): void;
}

export class Announcer {
  readonly #host: AnnouncerHost;
  /** Of the newest commit that is announced. Null: this life has not looked yet, and an earlier one may have left something. */
  #mark: number | null = null;
  #isNoted = false;
  #running = false;

  constructor(host: AnnouncerHost) {
    this.#host = host;
  }

  /** Runs in the transaction of the events. */
  note(events: readonly StoredEvent[], states: { readonly before: SessionState; readonly after: SessionState }): void {
    const { deps, jobs } = this.#host;
    if (!deps.announcements || states.after.lifecycle !== "open") return;
    const announcements = toAnnouncements(events, states, (turn) => toSpent(readTurn(deps.sql, turn)));
    if (announcements.length === 0) return;
    addAnnouncements(deps.sql, announcements);
    jobs.armIfIdle("announce", deps.clock() + LOOK_AGAIN_MS);
    this.#isNoted = true;
  }

  /** Call it right after the commit. */
  committed(): void {
    if (!this.#isNoted) return;
    this.#isNoted = false;
    this.#mark = this.#findPort()?.mark() ?? null;
    this.start();
  }

  /** Starts to hand over what waits. The job outlives the object. */
  start(): void {
    if (this.#running) return;
    this.#running = true;
    const done = Promise.resolve()
      .then(() => this.#run())
      .catch((error: unknown) => this.#tryLater(error))
      // The disk may be full. The job is still armed for the time that the alarm or the commit gave it.
      .catch((error: unknown) => this.#host.deps.log.error("announcer_threw", { error: toErrorName(error) }))
      .finally(() => {
        this.#running = false;
      });
    this.#host.deps.background(done);
  }

  #findPort(): AnnouncementPort | null {
    const { tenant } = this.#host.state;
    return (tenant && this.#host.deps.announcements?.(tenant)) ?? null;
  }

  async #run(): Promise<void> {
    const port = this.#findPort();
    const { session } = this.#host.state;
    while (port && session && this.#isOpen()) if (await this.#step(port, session)) return;
    if (this.#host.exists) this.#host.jobs.disarm("announce");
  }

  #isOpen(): boolean {
    return this.#host.exists && this.#host.state.lifecycle === "open";
  }

  /** Returns true when there is nothing more to do for now. */
  async #step(port: AnnouncementPort, session: SessionId): Promise<boolean> {
    const { deps, jobs } = this.#host;
    const waiting = readAnnouncements(deps.sql, AT_ONCE);
    const last = waiting.at(-1);
    if (!last) {
      jobs.disarm("announce");
      return true;
    }
    // Taken before the answer is looked at: only an answer that is younger than the commits says that no endpoint wants them.
    this.#mark ??= port.mark();
    const mark = this.#mark;
    const { types, asked } = port.peek() ?? (await port.lookUp());
    const isWanted = waiting.some(({ announcement }) => types.includes(announcement.type));
    if (!isWanted && asked <= mark) {
      if (this.#isOpen()) this.#arm(LOOK_AGAIN_MS, 0);
      return true;
    }
    if (isWanted)
      await port.hand(
        session,
        waiting.map(({ announcement }) => announcement),
      );
    // The session may have been erased meanwhile.
    if (this.#isOpen()) forgetAnnouncements(deps.sql, last.n);
    return false;
  }

  #tryLater(error: unknown): void {
    const { jobs, deps } = this.#host;
    deps.log.warn("not_announced", { error: toErrorName(error) });
    if (!this.#isOpen()) return;
    const attempts = jobs.get("announce")?.attempts ?? 0;
    this.#arm(backOff(attempts, { first: FIRST_RETRY_MS, longest: LONGEST_RETRY_MS }), attempts + 1);
  }

  #arm(wait: number, attempts: number): void {
    this.#host.jobs.arm("announce", this.#host.deps.clock() + wait, attempts);
    this.#host.syncAlarm();
  }
}
