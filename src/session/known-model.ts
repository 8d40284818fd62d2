/**
 * What the session knows of its model: the registry's entry as last looked up in this life, and the window, which is
 * kept durably. All figures of the context include the window, even in a life that has not looked the model up yet.
 */
import type { Log, ModelDirectory, ModelSpec } from "../app/ports";
import type { Lessons } from "../app/session-ports";
import { assumedWindow } from "../context/budget";
import { type Quirks, withQuirks } from "../context/model-quirks";
import { toPolicy } from "../context/policy-choice";
import { type Measure, Sizing } from "../context/sizing";
import type { ContextNumbers } from "../contract/frame";
import type { TenantId } from "../domain/ids";
import type { SessionState } from "../domain/state";
import { toErrorName } from "../lib/error-name";
import { readMeta, writeMeta } from "./log/log-schema";
import type { Sql } from "./log/sql";

const KEY = "context_window";
const UNKNOWN_PROVIDER = "unknown";

interface KnownWindow {
  readonly model: string;
  readonly window: number | null;
}

interface KnownModelDeps {
  readonly sql: Sql;
  readonly log: Log;
  readonly models: (tenant: TenantId) => ModelDirectory;
  readonly state: () => SessionState;
}

export class KnownModel implements ModelDirectory {
  #spec: ModelSpec | null = null;
  readonly #learned = new Map<string, Quirks>();
  readonly #asking = new Map<string, Promise<ModelSpec | null>>();
  /** Undefined: not read yet. */
  #window: KnownWindow | null | undefined;

  readonly deps: KnownModelDeps;

  constructor(deps: KnownModelDeps) {
    this.deps = deps;
  }

  /** Looks up a model of the session's tenant, and remembers the session's own. */
  async resolve(id: string): Promise<ModelSpec | null> {
    const { tenant } = this.deps.state();
    const known = tenant ? await this.#ask(tenant, id) : null;
    const spec = known && withQuirks(known, this.lessons.find(id));
    if (spec && id === this.deps.state().settings.model) this.#remember(spec);
    return spec;
  }

  /** What a turn begins with and what its end looks at may need the model at once: they ask once. */
  #ask(tenant: TenantId, id: string): Promise<ModelSpec | null> {
    const asking = this.#asking.get(id) ?? this.deps.models(tenant).resolve(id);
    this.#asking.set(id, asking);
    return asking.finally(() => this.#asking.delete(id));
  }

  readonly lessons: Lessons = {
    note: (model, lesson) => void this.#learned.set(model, { ...this.#learned.get(model), ...lesson }),
    find: (model) => this.#learned.get(model) ?? null,
  };

  /** The entry as last looked up in this life, with what refusals taught since. Null for a model that was not. */
  lastKnown(model: string): ModelSpec | null {
    return this.#spec?.id === model ? withQuirks(this.#spec, this.lessons.find(model)) : null;
  }

  /** The size of the session's next request. A model that was not looked up in this life has no ratio, and is sent all media. */
  measure(state: SessionState): Measure {
    const { model } = state.settings;
    return new Sizing(state, this.lastKnown(model) ?? { id: model, provider: UNKNOWN_PROVIDER }).next();
  }

  /** Null when the window is unknown, or was never looked up. */
  findWindow(model: string): number | null {
    const known = this.#readWindow();
    return known?.model === model ? known.window : null;
  }

  /** How full the window is. Every report of usage has the same figures, from the session's start. */
  countContext(state: SessionState): ContextNumbers {
    const { model, policy } = state.settings;
    const context_window = this.findWindow(model);
    const assumed_window = context_window === null ? assumedWindow(toPolicy(policy)) : null;
    return { context_window, assumed_window, current_context_tokens: this.measure(state) };
  }

  /** Forgets the cached window after the database was emptied. */
  forget(): void {
    this.#window = undefined;
  }

  /** Writes the window only when it has changed. The session can do without: a failed write is logged. */
  #remember(spec: ModelSpec): void {
    this.#spec = spec;
    if (this.deps.state().lifecycle !== "open") return;
    try {
      const { id: model, context_window: window } = spec;
      const known = this.#readWindow();
      if (known?.model === model && known.window === window) return;
      this.#window = { model, window };
      writeMeta(this.deps.sql, KEY, JSON.stringify(this.#window));
    } catch (error) {
      this.deps.log.error("window_not_noted", { error: toErrorName(error) });
    }
  }

  #readWindow(): KnownWindow | null {
    if (this.#window !== undefined) return this.#window;
    const text = readMeta(this.deps.sql, KEY);
    this.#window = text === null ? null : (JSON.parse(text) as KnownWindow);
    return this.#window;
  }
}
