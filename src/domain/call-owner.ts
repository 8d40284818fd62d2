/**
 * Says which API key and which end user a model call is counted for (docs/api/usage-and-cost.md). Every call passes here as it is decided,
 * so that one rule holds for turns, summaries, titles, comparisons and calls that a crash cut off.
 */
import type { Event } from "./events";
import type { KeyId } from "./ids";
import type { SessionState } from "./state";

type Call = Extract<Event, { type: "ModelCallFinished" }>;

/** The events of a decision, where each model call names its owner. */
export const withOwners = (events: readonly Event[], state: SessionState): readonly Event[] =>
  events.map((event) => (event.type === "ModelCallFinished" ? withOwner(event, state) : event));

function withOwner(call: Call, state: SessionState): Call {
  const key = call.key ?? findKey(call, state);
  const end_user = state.settings.end_user?.body;
  return { ...call, ...(key !== undefined && { key }), ...(end_user !== undefined && { end_user }) };
}

/** The key that asked for the call's compaction, else the key of the newest turn: titles and compactions of the session's own are its work too. */
function findKey({ lease }: Call, state: SessionState): KeyId | undefined {
  const { requested } = state.compaction;
  const asked = lease !== null && requested && lease >= requested.first_token ? requested.key : undefined;
  return asked ?? findTurnKey(state);
}

/** The key of the newest turn. */
export const findTurnKey = ({ turn, last_turn }: Pick<SessionState, "turn" | "last_turn">): KeyId | undefined => (turn ?? last_turn)?.key;
