/** A session's title, made beside its turns: one attempt in a life of the object, and what an earlier life left open. */

import type { Clock, Log } from "../app/ports";
import type { SessionWriter } from "../app/session-ports";
import { makeTitle, type TitlePorts, titleModelOf } from "../app/turn/make-title";
import type { Sql } from "./log/sql";
import { noteTitle, readTitleNote } from "./log/title-note";

interface Titled extends SessionWriter {
  readonly deps: {
    readonly sql: Sql;
    readonly clock: Clock;
    readonly background: (work: Promise<void>) => void;
    readonly log: Log;
  };
  ports(): Omit<TitlePorts, "noteTitle">;
}

export class Titler {
  readonly #abort = new AbortController();
  #tried = false;

  readonly runtime: Titled;

  constructor(runtime: Titled) {
    this.runtime = runtime;
  }

  /** The first thing a new life says of a call that an earlier one died over. */
  recover(): void {
    this.#recordUnderWay("crashed");
  }

  /** The session ends over the call, which is recorded while it can be: its answer comes too late. */
  cutShort(): void {
    this.#recordUnderWay("aborted");
  }

  #recordUnderWay(outcome: "crashed" | "aborted"): void {
    const { state, deps } = this.runtime;
    const call = readTitleNote(deps.sql, state.title_tries);
    if (!call) return;
    this.runtime.execute({ type: "RecordTitle", at: deps.clock(), call: { ...call, outcome }, title: null, tries: state.title_tries });
  }

  /** Asked after every commit. What fails before a call was made is not tried again in this life. */
  startIfWanted(): void {
    const { state, deps } = this.runtime;
    if (this.#tried || titleModelOf(state) === null) return;
    this.#tried = true;
    const ports: TitlePorts = { ...this.runtime.ports(), noteTitle: (call, tries) => noteTitle(deps.sql, { call, tries }) };
    const done = makeTitle(ports, this.#abort.signal).catch((error: unknown) =>
      deps.log.error("title_threw", { error: error instanceof Error ? error.name : "unknown" }),
    );
    deps.background(done);
  }

  /** The session is no more: its model's call ends. */
  abandon(): void {
    this.#abort.abort();
  }
}
