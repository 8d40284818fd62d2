/** Makes a session's title beside its turns: one attempt in each life of the object, after recording what an earlier life left open. */

import type { Clock, Log } from "../app/ports";
import type { SessionWriter } from "../app/session-ports";
import { findTitleModel, makeTitle, type TitlePorts } from "../app/turn/make-title";
import { toErrorName } from "../lib/error-name";
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

  /** Records the call that an earlier life died in. It runs at the start of a new life. */
  recover(): void {
    this.#recordUnderWay("crashed");
  }

  /** Records the call under way before the session is erased: its answer would come too late. */
  cutShort(): void {
    this.#recordUnderWay("aborted");
  }

  #recordUnderWay(outcome: "crashed" | "aborted"): void {
    const { state, deps } = this.runtime;
    const call = readTitleNote(deps.sql, state.title_tries);
    if (!call) return;
    this.runtime.execute({ type: "RecordTitle", at: deps.clock(), call: { ...call, outcome }, title: null, tries: state.title_tries });
  }

  /** Called after every commit. A failure before the call was made is not retried in this life. */
  startIfWanted(): void {
    const { state, deps } = this.runtime;
    if (this.#tried || findTitleModel(state) === null) return;
    this.#tried = true;
    const ports: TitlePorts = { ...this.runtime.ports(), noteTitle: (call, tries) => noteTitle(deps.sql, { call, tries }) };
    const done = makeTitle(ports, this.#abort.signal).catch((error: unknown) =>
      deps.log.error("title_threw", { error: toErrorName(error) }),
    );
    deps.background(done);
  }

  /** Aborts the model call, because the session is erased. */
  abandon(): void {
    this.#abort.abort();
  }
}
