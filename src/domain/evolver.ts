/** What the parts of `evolve` share. */
import type { EventOf, EventType } from "./events";
import type { SessionState } from "./state";

/** One function for each event, by its type. */
export type Evolvers<T extends EventType> = {
  readonly [Type in T]: (state: SessionState, event: EventOf<Type>) => SessionState;
};
