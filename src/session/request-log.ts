/**
 * Names the request in the log lines of a session. A call's lines have the id of its request, and a turn's lines that of the request that
 * asked for the turn. All others say that they are of background work. Nothing of it is stored: a turn that is recovered in another life of the
 * object is background work.
 */
import type { Log } from "../app/ports";
import type { Caller } from "../app/session-api";
import type { StoredEvent } from "../domain/events";
import type { TurnId } from "../domain/ids";

type RequestId = NonNullable<Caller["request_id"]>;

const BACKGROUND = { work: "background" } as const;
/** Turns whose request is remembered. A session has one open turn, and few that wait. */
const REMEMBERED = 200;

export interface RequestNames {
  /** Runs synchronous work of the request. Work behind an `await` is not: use `nameRequest`. */
  during<T>(request: RequestId, work: () => T): T;
  /** What a line that is written now says. */
  read(): { readonly request_id: RequestId } | typeof BACKGROUND;
  /** Remembers which request asked for the turns of these events. */
  note(events: readonly StoredEvent[]): void;
  /** A log of which every line names the request. */
  nameRequest(log: Log, request: RequestId): Log;
  /** As `nameRequest`, for the request that asked for the turn, if it is known. */
  nameTurn(log: Log, turn: TurnId | undefined): Log;
}

/** The turn that the event starts, or that its message will start. The request that wakes an object starts a further attempt without asking for it. */
function findTurn(event: StoredEvent): TurnId | null {
  if (event.type === "MessageQueued") return event.message.turn;
  return event.type === "TurnStarted" && event.attempt === 1 ? event.turn : null;
}

export function createRequestNames(): RequestNames {
  let present: RequestId | null = null;
  const turns = new Map<TurnId, RequestId>();

  function during<T>(request: RequestId, work: () => T): T {
    const before = present;
    present = request;
    try {
      return work();
    } finally {
      present = before;
    }
  }
  const nameRequest = (log: Log, request: RequestId): Log => ({
    info: (event, fields) => during(request, () => log.info(event, fields)),
    warn: (event, fields) => during(request, () => log.warn(event, fields)),
    error: (event, fields) => during(request, () => log.error(event, fields)),
  });
  return {
    during,
    nameRequest,
    read: () => (present === null ? BACKGROUND : { request_id: present }),
    note: (events) => {
      if (present === null) return;
      for (const event of events) {
        const turn = findTurn(event);
        if (turn !== null && !turns.has(turn)) turns.set(turn, present);
      }
      const [oldest] = turns.keys();
      if (oldest !== undefined && turns.size > REMEMBERED) turns.delete(oldest);
    },
    nameTurn: (log, turn) => {
      const request = turn && turns.get(turn);
      return request === undefined ? log : nameRequest(log, request);
    },
  };
}
