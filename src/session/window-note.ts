/**
 * Keeps the last known window of the session's model durably. All figures of the context include it, even in a life
 * that has not looked the model up yet.
 */
import type { ModelSpec } from "../app/ports";
import { assumedWindow, measureNext } from "../context/budget";
import { toPolicy } from "../context/policy-choice";
import type { SessionState } from "../domain/state";
import { readMeta, writeMeta } from "./log/log-schema";
import type { Sql } from "./log/sql";
import type { ContextNumbers } from "./stream/frames";

const KEY = "context_window";

interface Known {
  readonly model: string;
  readonly window: number | null;
}

export class WindowNote {
  /** Undefined: not read yet. */
  #known: Known | null | undefined;

  readonly sql: Sql;

  constructor(sql: Sql) {
    this.sql = sql;
  }

  /** Notes the window of an open session. It writes only when the window has changed. */
  learn({ id: model, context_window: window }: ModelSpec): void {
    const known = this.#read();
    if (known?.model === model && known.window === window) return;
    this.#known = { model, window };
    writeMeta(this.sql, KEY, JSON.stringify(this.#known));
  }

  /** Null when the window is unknown, or was never looked up. */
  findWindow(model: string): number | null {
    const known = this.#read();
    return known?.model === model ? known.window : null;
  }

  /** How full the window is. */
  readNumbers(state: SessionState): ContextNumbers {
    const { model, policy } = state.settings;
    const context_window = this.findWindow(model);
    const assumed_window = context_window === null ? assumedWindow(toPolicy(policy)) : null;
    return { context_window, assumed_window, current_context_tokens: measureNext(state, model) };
  }

  /** Forgets the cached note after the database was emptied. */
  forget(): void {
    this.#known = undefined;
  }

  #read(): Known | null {
    if (this.#known !== undefined) return this.#known;
    const text = readMeta(this.sql, KEY);
    this.#known = text === null ? null : (JSON.parse(text) as Known);
    return this.#known;
  }
}
