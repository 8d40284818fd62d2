/**
 * The window of the session's model as it was last known, kept durably: every figure of the context names it, also those of a life
 * that has not looked the model up yet.
 */
import type { ModelSpec } from "../app/ports";
import { assumedWindow, measureNext } from "../context/budget";
import { policyOf } from "../context/policy-choice";
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

  /** For a session that exists. Written when it changes only. */
  learn({ id: model, context_window: window }: ModelSpec): void {
    const known = this.#read();
    if (known?.model === model && known.window === window) return;
    this.#known = { model, window };
    writeMeta(this.sql, KEY, JSON.stringify(this.#known));
  }

  /** Null: unknown, or never looked up. */
  windowOf(model: string): number | null {
    const known = this.#read();
    return known?.model === model ? known.window : null;
  }

  /** How full the window is. */
  numbersOf(state: SessionState): ContextNumbers {
    const { model, policy } = state.settings;
    const context_window = this.windowOf(model);
    const assumed_window = context_window === null ? assumedWindow(policyOf(policy)) : null;
    return { context_window, assumed_window, current_context_tokens: measureNext(state, model).tokens };
  }

  /** After the database was emptied under it. */
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
