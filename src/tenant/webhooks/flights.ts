/**
 * The tries that are under way, and for how many more there is room. A Worker has six connections at once, and a try may need one more to
 * resolve a name. Slow and failing endpoints share a part of them, so that they hold up no other.
 */

const AT_ONCE = 5;
const SLOW_AT_ONCE = 3;
/** Tries of one endpoint at once. */
const OF_ONE = 2;
const OF_SLOW_ONE = 1;
/** An endpoint whose last answer took longer is slow. */
const SLOW_MS = 2_000;

interface Flight {
  readonly endpoint: string;
  readonly isSlow: boolean;
}

interface Flights {
  count(): number;
  has(delivery: string): boolean;
  hasRoom(endpoint: string, isFailing: boolean): boolean;
  begin(delivery: string, endpoint: string, isFailing: boolean): void;
  /** Ending it again changes nothing. */
  end(delivery: string, ms: number): void;
}

export function createFlights(): Flights {
  const flights = new Map<string, Flight>();
  const slow = new Set<string>();
  const countWhere = (is: (flight: Flight) => boolean): number => [...flights.values()].filter(is).length;
  return {
    count: () => flights.size,
    has: (delivery) => flights.has(delivery),
    hasRoom: (endpoint, isFailing) => {
      const isSlow = isFailing || slow.has(endpoint);
      const own = countWhere((flight) => flight.endpoint === endpoint);
      if (flights.size >= AT_ONCE || own >= (isSlow ? OF_SLOW_ONE : OF_ONE)) return false;
      return !isSlow || countWhere((flight) => flight.isSlow) < SLOW_AT_ONCE;
    },
    begin: (delivery, endpoint, isFailing) => void flights.set(delivery, { endpoint, isSlow: isFailing || slow.has(endpoint) }),
    end: (delivery, ms) => {
      const flight = flights.get(delivery);
      if (!flight) return;
      flights.delete(delivery);
      if (ms > SLOW_MS) slow.add(flight.endpoint);
      else slow.delete(flight.endpoint);
    },
  };
}
