/**
 * I32: what the requests of a turn are made with. Its message's choices hold over the session's, field by field. A retry and
 * a new answer begin with the choices of the turn that they repeat. What clients chose is known from their own calls, not from the log.
 */
import { isDeepStrictEqual } from "node:util";
import type { ModelRequest } from "../../src/app/ports";
import type { TurnInput } from "../../src/app/session-api";
import type { Generation, GenerationChoice } from "../../src/context/generation";
import { toPolicy } from "../../src/context/policy-choice";
import type { SessionSettings, StoredEvent } from "../../src/domain/events";
import type { ItemId, TurnId } from "../../src/domain/ids";
import type { SessionState } from "../../src/domain/state";
import { readBodies } from "../../src/session/log/bodies";
import type { World } from "./world";

type Started = Extract<StoredEvent, { type: "TurnStarted" }>;

/** One request, and the session's own settings at that time. */
interface Asked {
  readonly turn: TurnId;
  readonly request: ModelRequest;
  readonly ofSession: Generation;
}

interface Noted {
  readonly choice: TurnInput;
  /** For a new answer: the message that is answered again. Null for a message's own turn, and for a retry. */
  readonly message: ItemId | null;
}

/** `model` null: the session's. */
interface Choice {
  readonly model: string | null;
  readonly generation: GenerationChoice;
}

interface Turn {
  readonly own: Choice;
  readonly isRepeat: boolean;
  /** The models that may be asked: every one that was in force while the turn was open. */
  readonly models: Set<string>;
  readonly fallbacks: Set<string>;
}

type Settings = Pick<SessionSettings, "model" | "policy">;

function settingsAfter(before: Settings | null, event: StoredEvent): Settings | null {
  if (event.type === "SessionOpened") return event.settings;
  return event.type === "SettingsChanged" && before ? { ...before, ...event.changes } : before;
}

const NO_CHOICE: Choice = { model: null, generation: {} };

const applyTo = (before: Choice, { model, generation }: TurnInput): Choice => ({
  model: model === undefined ? before.model : model,
  generation: generation === undefined ? before.generation : generation === null ? {} : { ...before.generation, ...generation },
});

const isEmpty = ({ model, generation }: Choice): boolean => model === null && Object.keys(generation).length === 0;

export class ChoiceRules {
  readonly #noted = new Map<TurnId, Noted>();
  readonly #asked: Asked[] = [];

  readonly world: World;

  constructor(world: World) {
    this.world = world;
  }

  /** Called when a client learns which turn its request began. */
  note(turn: TurnId, choice: TurnInput, message: ItemId | null): void {
    this.#noted.set(turn, { choice, message });
  }

  onRequest(request: ModelRequest, { turn, settings }: SessionState): void {
    if (!turn) return;
    const ref = settings.generation;
    const text = ref ? readBodies(this.world.sql, [ref.body]).get(ref.body) : undefined;
    this.#asked.push({ turn: turn.id, request, ofSession: text === undefined ? {} : (JSON.parse(text) as Generation) });
  }

  /** At rest, when every client has learnt what became of its requests. */
  check(events: readonly StoredEvent[]): void {
    const turns = this.#readTurns(events);
    for (const asked of this.#asked) {
      const turn = turns.get(asked.turn);
      if (turn) this.#checkRequest(asked, turn);
    }
  }

  #checkRequest({ turn: id, request, ofSession }: Asked, { own, isRepeat, models, fallbacks }: Turn): void {
    const { violations, stats } = this.world;
    const allowed = own.model === null ? models : new Set([own.model]);
    const asks = request.model.id;
    const isAllowed = allowed.has(asks) || fallbacks.has(asks);
    violations.check(isAllowed, "I32", () => `turn ${id} asks ${asks}, its own model is ${own.model}, the session's ${[...models]}`);
    const { max_output_tokens: most, ...settings } = { ...ofSession, ...own.generation };
    const { tool_choice, ...others } = settings;
    const wanted = Object.entries(request.tools.length > 0 ? { ...others, tool_choice } : others);
    const stated = Object.fromEntries(wanted.filter(([, value]) => value !== null && value !== undefined));
    const told = request.generation ?? {};
    violations.check(
      isDeepStrictEqual(told, stated),
      "I32",
      () => `turn ${id} is asked with ${JSON.stringify(told)} in place of ${JSON.stringify(stated)}`,
    );
    const fits = typeof most !== "number" || (request.maxOutput !== null && request.maxOutput <= most);
    violations.check(fits, "I32", () => `turn ${id} is asked for ${request.maxOutput} tokens and chose at most ${most}`);
    if (own.model !== null && own.model === asks) stats.count("asked of the message's own model");
    if (isEmpty(own)) return;
    stats.count(isRepeat ? "repeated with choices" : "asked with choices");
  }

  #readTurns(events: readonly StoredEvent[]): ReadonlyMap<TurnId, Turn> {
    const turns = new Map<TurnId, Turn>();
    const askedIn = new Map<ItemId, TurnId>();
    let open: Turn | null = null;
    let inForce: Settings | null = null;
    for (const event of events) {
      inForce = settingsAfter(inForce, event);
      if (event.type === "TurnStarted" && event.attempt === 1) {
        open = this.#begin(event, { turns, askedIn });
        turns.set(event.turn, open);
        if (event.item) askedIn.set(event.item.id, event.turn);
      }
      if (!open || !inForce) continue;
      open.models.add(inForce.model);
      for (const id of toPolicy(inForce.policy).fallback_models) open.fallbacks.add(id);
    }
    return turns;
  }

  #begin({ turn, retry_of }: Started, known: { turns: ReadonlyMap<TurnId, Turn>; askedIn: ReadonlyMap<ItemId, TurnId> }): Turn {
    const noted = this.#noted.get(turn);
    this.world.violations.check(noted !== undefined, "harness", () => `no client knows of turn ${turn}`);
    const { choice = {}, message = null } = noted ?? {};
    const first = message && (known.askedIn.get(message) ?? null);
    this.world.violations.check(
      message === null || first === retry_of,
      "I32",
      () => `${turn} answers ${message} again, which ${first} answered, by the choices of ${retry_of}`,
    );
    const before = retry_of ? (known.turns.get(retry_of)?.own ?? NO_CHOICE) : NO_CHOICE;
    return { own: applyTo(before, choice), isRepeat: retry_of !== null, models: new Set(), fallbacks: new Set() };
  }
}
