/** The pins of a session as clients see them. */
import { toEtag } from "../../app/conditions";
import type { PinsState } from "../../app/control-api";
import type { PinView } from "../../contract/pin";
import { readRanges } from "../log/log-tables";
import type { Session } from "../session";

export const showPins = (session: Session): PinsState => ({ pins: readPins(session), etag: toEtag({ pins: session.state.pins }) });

/** The pins as clients see them. A message that a fork has not copied yet is not named. */
export function readPins({ state, content, deps }: Session): readonly PinView[] {
  const places = state.pins.flatMap(({ from }) => (from?.[0] === undefined ? [] : [{ from: from[0], to: from[0] }]));
  const named = new Map(places.length > 0 ? readRanges(deps.sql, places).map(({ position, id }) => [position, id] as const) : []);
  return state.pins.map((pin) => {
    const position = pin.from?.[0] ?? null;
    const message_id = position === null ? null : (named.get(position) ?? null);
    return { text: content.readRefText(pin) ?? "", message_id, position: message_id && position };
  });
}
