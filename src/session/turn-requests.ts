/**
 * Which request asked for a turn, so that the lines of a turn that waited name it. Nothing of it is stored: a turn that another life of the
 * object recovers is background work.
 */
import type { StoredEvent } from "../domain/events";
import type { TurnId } from "../domain/ids";
import { readRequest } from "../lib/request-scope";

/** Turns whose request is remembered. A session has one open turn, and few that wait. */
const REMEMBERED = 200;

export interface TurnRequests {
  /** Remembers that the present request asked for the turns of these events. */
  note(events: readonly StoredEvent[]): void;
  /** Null: the request that asked for the turn is not known. */
  find(turn: TurnId): string | null;
}

/** The turn that the event starts, or that its message will start. The request that wakes an object starts a further attempt without asking for it. */
function findTurn(event: StoredEvent): TurnId | null {
  if (event.type === "MessageQueued") return event.message.turn;
  return event.type === "TurnStarted" && event.attempt === 1 ? event.turn : null;
}

export function createTurnRequests(): TurnRequests {
  const turns = new Map<TurnId, string>();
  return {
    note: (events) => {
      const present = readRequest();
      if (present === null) return;
      for (const event of events) {
        const turn = findTurn(event);
        if (turn !== null && !turns.has(turn)) turns.set(turn, present);
      }
      const [oldest] = turns.keys();
      if (oldest !== undefined && turns.size > REMEMBERED) turns.delete(oldest);
    },
    find: (turn) => turns.get(turn) ?? null,
  };
}
