/**
 * The tries that are under way, and which endpoint is next. A Worker has six connections at once, and a try may need one more to resolve a
 * name. Endpoints that are slow, that fail, or of which nothing is known share a part of them, so that they hold up no other.
 */

const AT_ONCE = 5;
const NOT_QUICK_AT_ONCE = 3;
/** Tries at once of an endpoint that is quick: with each quick answer one more, but for a connection that is always another's. */
const OF_QUICK = { first: 2, most: AT_ONCE - 1 };
const OF_OTHER = 1;
/** An endpoint whose last answer took longer is slow. */
export const QUICK_MS = 2_000;

interface Candidate {
  readonly id: string;
  readonly isQuick: boolean;
}

interface Flight {
  readonly endpoint: string;
  readonly isQuick: boolean;
}

export function createFlights() {
  const flights = new Map<string, Flight>();
  /** When the endpoint was last begun with, in order. */
  const turns = new Map<string, number>();
  /** How many tries of a quick endpoint may be under way. */
  const paces = new Map<string, number>();
  let turn = 0;
  const countWhere = (is: (flight: Flight) => boolean): number => [...flights.values()].filter(is).length;
  const hasRoom = ({ id, isQuick }: Candidate): boolean => {
    const own = countWhere((flight) => flight.endpoint === id);
    if (flights.size >= AT_ONCE || own >= (isQuick ? (paces.get(id) ?? OF_QUICK.first) : OF_OTHER)) return false;
    return isQuick || countWhere((flight) => !flight.isQuick) < NOT_QUICK_AT_ONCE;
  };
  return {
    count: (): number => flights.size,
    has: (delivery: string): boolean => flights.has(delivery),
    /** The endpoints that have room, the one that waited longest first. */
    order: <T extends Candidate>(candidates: readonly T[]): readonly T[] =>
      candidates.filter(hasRoom).toSorted((one, other) => (turns.get(one.id) ?? 0) - (turns.get(other.id) ?? 0)),
    begin: (delivery: string, { id, isQuick }: Candidate): void => {
      turn += 1;
      turns.set(id, turn);
      flights.set(delivery, { endpoint: id, isQuick });
    },
    /** The pace follows the receiver. It begins again where an answer was slow or a failure. */
    pace: (endpoint: string, isQuick: boolean): void => {
      if (isQuick) paces.set(endpoint, Math.min((paces.get(endpoint) ?? OF_QUICK.first) + 1, OF_QUICK.most));
      else paces.delete(endpoint);
    },
    end: (delivery: string): void => void flights.delete(delivery),
  };
}
