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
import type { TextRef } from "../../src/domain/message";
import type { SessionState } from "../../src/domain/state";
import { askedWith } from "../../src/session/calls/turn-settings";
import { readBodies } from "../../src/session/log/bodies";
import { NOTE_MARK, OWN_SYSTEM_MARK } from "./profile";
import type { World } from "./world";

type Started = Extract<StoredEvent, { type: "TurnStarted" }>;

/** One request, and the session's own settings at that time. */
interface Asked {
  readonly turn: TurnId;
  readonly request: ModelRequest;
  readonly ofSession: Generation;
  readonly systemOfSession: string;
}

interface Noted {
  readonly choice: TurnInput;
  /** For a new answer: the message that is answered again. Null for a message's own turn, and for a retry. */
  readonly message: ItemId | null;
  /** Nothing holds of what the turn before it was asked with. */
  readonly isAlone: boolean;
}

/** `model` null: the session's. */
interface Choice {
  readonly model: string | null;
  readonly generation: GenerationChoice;
  readonly system: string | null;
  readonly note: string | null;
}

interface Turn {
  readonly own: Choice;
  readonly isRepeat: boolean;
  /** A redaction may have deleted the turn's own texts, or those of a turn that it repeats. Then they are not compared. */
  isRedacted: boolean;
  /** The models that may be asked: every one that was in force while the turn was open. */
  readonly models: Set<string>;
  readonly fallbacks: Set<string>;
}

type Settings = Pick<SessionSettings, "model" | "policy">;

function settingsAfter(before: Settings | null, event: StoredEvent): Settings | null {
  if (event.type === "SessionOpened") return event.settings;
  return event.type === "SettingsChanged" && before ? { ...before, ...event.changes } : before;
}

function noteRedaction(turns: Iterable<Turn>): void {
  for (const turn of turns) turn.isRedacted = true;
}

const NO_CHOICE: Choice = { model: null, generation: {}, system: null, note: null };

const applyTo = (before: Choice, { model, generation, system, note }: TurnInput): Choice => ({
  model: model === undefined ? before.model : model,
  system: system === undefined ? before.system : system,
  note: note === undefined ? before.note : note,
  generation: generation === undefined ? before.generation : generation === null ? {} : { ...before.generation, ...generation },
});

const isEmpty = ({ model, generation, system }: Choice): boolean =>
  model === null && system === null && Object.keys(generation).length === 0;

export class ChoiceRules {
  readonly #noted = new Map<TurnId, Noted>();
  readonly #asked: Asked[] = [];
  /** Requests of which no client learns what became. Each may have begun a turn, without choices. */
  #unanswered = 0;

  readonly world: World;

  constructor(world: World) {
    this.world = world;
  }

  /** Called when a client learns which turn its request began. */
  note(turn: TurnId, choice: TurnInput, message: ItemId | null): void {
    this.#noted.set(turn, { choice, message, isAlone: false });
  }

  /** The turn answers a message again, and keeps nothing of what the turn before it was asked with. */
  noteAlone(turn: TurnId, choice: TurnInput): void {
    this.#noted.set(turn, { choice, message: null, isAlone: true });
  }

  noteUnanswered(): void {
    this.#unanswered++;
  }

  onRequest(request: ModelRequest, { turn, settings }: SessionState): void {
    if (!turn) return;
    const read = (ref: TextRef | null | undefined): string | undefined =>
      ref ? readBodies(this.world.sql, [ref.body]).get(ref.body) : undefined;
    const ofSession = JSON.parse(read(settings.generation) ?? "{}") as Generation;
    this.#asked.push({ turn: turn.id, request, ofSession, systemOfSession: read(settings.system) ?? "" });
  }

  /** At rest, when every client has learnt what became of its requests. */
  check(events: readonly StoredEvent[]): void {
    const turns = this.#readTurns(events);
    for (const asked of this.#asked) {
      const turn = turns.get(asked.turn);
      if (!turn) continue;
      this.#checkSystem(asked, turn);
      if (!turn.isRedacted || !turn.isRepeat) this.#checkRequest(asked, turn);
    }
    for (const [id, turn] of turns) this.#checkReadBack(id, turn);
  }

  #checkSystem({ turn: id, request, systemOfSession }: Asked, { own, isRepeat, isRedacted }: Turn): void {
    const { violations, stats } = this.world;
    const sent = JSON.stringify(request);
    violations.check(!sent.includes(NOTE_MARK), "I32", () => `a request of turn ${id} holds a client's note`);
    if (isRedacted && isRepeat) return;
    const system = request.system ?? "";
    const isOwn = own.system !== null;
    const holds = system.includes(own.system ?? systemOfSession) && system.includes(OWN_SYSTEM_MARK) === Boolean(own.system);
    violations.check(
      holds,
      "I32",
      () => `turn ${id} is asked with the system prompt ${system} in place of ${own.system ?? systemOfSession}`,
    );
    if (isOwn) stats.count(own.system === "" ? "asked without a system prompt" : "asked with a system prompt of its own");
  }

  /** What a client reads of the turn later is what it gave, or what is missing of it is said to be redacted. */
  #checkReadBack(id: TurnId, { own, isRedacted }: Turn): void {
    const { violations, stats } = this.world;
    const told = askedWith(this.world.wake().runtime, id);
    violations.check(told.ok, "I32", () => `the settings of turn ${id} cannot be read`);
    if (!told.ok) return;
    const { system, note, redacted } = told.value;
    violations.check(!redacted || isRedacted, "I32", () => `the settings of turn ${id} are said to be redacted, and nothing was`);
    if (isRedacted) return;
    const isSame = note === own.note && (own.system === null || system === (own.system || null));
    violations.check(isSame, "I32", () => `turn ${id} is told with ${JSON.stringify(told.value)} in place of ${JSON.stringify(own)}`);
    if (note !== null) stats.count("notes read back");
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
    if (own.model === asks && request.model.ratio !== undefined) stats.count("asked of an own model with a ratio");
    if (own.model === asks && request.model.capabilities) stats.count("asked of an own model that sees no images");
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
      if (event.type === "MessageRedacted") noteRedaction(turns.values());
      if (!open || !inForce) continue;
      open.models.add(inForce.model);
      for (const id of toPolicy(inForce.policy).fallback_models) open.fallbacks.add(id);
    }
    return turns;
  }

  #begin({ turn, retry_of }: Started, known: { turns: ReadonlyMap<TurnId, Turn>; askedIn: ReadonlyMap<ItemId, TurnId> }): Turn {
    const noted = this.#noted.get(turn);
    if (!noted) this.#unanswered--;
    this.world.violations.check(noted !== undefined || this.#unanswered >= 0, "harness", () => `no client knows of turn ${turn}`);
    const { choice = {}, message = null, isAlone = false } = noted ?? {};
    const first = message && (known.askedIn.get(message) ?? null);
    this.world.violations.check(
      message === null || first === retry_of,
      "I32",
      () => `${turn} answers ${message} again, which ${first} answered, by the choices of ${retry_of}`,
    );
    const repeated = retry_of ? known.turns.get(retry_of) : undefined;
    const own = applyTo((isAlone ? null : repeated?.own) ?? NO_CHOICE, choice);
    const isRedacted = repeated?.isRedacted ?? false;
    return { own, isRepeat: retry_of !== null, isRedacted, models: new Set(), fallbacks: new Set() };
  }
}
