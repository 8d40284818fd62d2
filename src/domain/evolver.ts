/** Shared by the parts of `evolve`. */
import type { EventOf, EventType } from "./events";
import type { SessionState } from "./state";

/** One function for each event type. */
export type Evolvers<T extends EventType> = {
  readonly [Type in T]: (state: SessionState, event: EventOf<Type>) => SessionState;
};
