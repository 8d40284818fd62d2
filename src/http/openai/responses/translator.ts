/** The events of a response as server-sent events, from where its client left off. */
import type { StreamFrame } from "../../../contract/frame";
import type { Translator } from "../../surface/translate-stream";
import type { NumberedEvent, ResponseEvent } from "./events";
import { toErrorEvent } from "./frame-ends";
import type { ResponseFold } from "./frames";

const DONE = "data: [DONE]\n\n";
const LAST: ReadonlySet<string> = new Set(["response.completed", "response.incomplete", "response.failed"]);
const LOST = { code: "server_error", message: "The connection to the response was lost. It goes on: retrieve it." };

const WAITS = { code: "approval_required", message: "The response waits for a person's approval of a call: retrieve it later." };

const toSse = (event: ResponseEvent): string => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** `after`: the last event that the client has. Null: it has none. */
export function createResponseTranslator(fold: ResponseFold, after: number | null): Translator {
  let next = 0;
  const isDone = (): boolean => fold.hasEnded;
  /**
   * A stream that was rebuilt from the record has fewer events than the client was told. The last one tells the whole response, so that it
   * is all that such a client needs.
   */
  const place = (event: NumberedEvent): NumberedEvent | null => {
    next = event.sequence_number + 1;
    if (after === null || event.sequence_number > after) return event;
    return LAST.has(event.type) && event.sequence_number < after ? { ...event, sequence_number: after + 1 } : null;
  };
  /** The events of a reply that was cut off, until it is known what cut it off. */
  let held: readonly NumberedEvent[] = [];
  /**
   * A turn that a crash has ended may have told its client more text than is on record, so that the numbers of its last events are taken.
   * They follow what the client has: had it heard them, it would not ask.
   */
  const placeEnding = (events: readonly NumberedEvent[]): readonly NumberedEvent[] => {
    const [first] = events;
    if (after === null || !first || first.sequence_number > after) return events;
    return events.map((event, nth) => ({ ...event, sequence_number: after + 1 + nth }));
  };
  const take = (frame: StreamFrame): readonly NumberedEvent[] => {
    const events = [...held, ...fold.take(frame)];
    const isCutOff = frame.type === "item.completed" && frame.item.incomplete;
    held = isCutOff ? events : [];
    if (isCutOff) return [];
    return frame.type === "turn.interrupted" ? placeEnding(events) : events;
  };
  const toText = (events: readonly NumberedEvent[]): string =>
    events
      .flatMap((event) => place(event) ?? [])
      .map(toSse)
      .join("");
  const toError = (error: typeof LOST): string => toSse({ ...toErrorEvent(error), sequence_number: Math.max(next, (after ?? -1) + 1) });
  return {
    frame: (frame) => toText(take(frame)),
    isOver: isDone,
    end: () => toText(held) + (isDone() ? DONE : toError(fold.needsPerson ? WAITS : LOST) + DONE),
    broken: () => toText(held) + toError(LOST),
  };
}
