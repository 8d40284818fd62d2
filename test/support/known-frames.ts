/** Holds the frames of the live stream, and the events of the log, to the schemas that the OpenAPI document shows. */
import { isDeepStrictEqual } from "node:util";
import { eventView } from "../../src/contract/event";
import { streamFrame } from "../../src/contract/frame";

/** What is wrong with the data of an event: a fault of the schema, or a field that the schema does not have. Null: nothing. */
export function findFrameFault(frame: unknown): string | null {
  const isEvent = typeof frame === "object" && frame !== null && "seq" in frame;
  const parsed = (isEvent ? eventView : streamFrame).safeParse(frame);
  if (!parsed.success) return parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
  return isDeepStrictEqual(parsed.data, frame) ? null : "it has a field that the schema does not have";
}

/** The frames as they are stored: what a message said is read from the record when its frame is sent. */
export const withoutSaid = <T extends object>(frames: readonly T[]): readonly T[] =>
  frames.map((frame) => {
    if (!("type" in frame) || frame.type !== "message.accepted") return frame;
    const { role: _, content: __, content_omitted: ___, ...stored } = frame as T & Readonly<Record<string, unknown>>;
    return stored as unknown as T;
  });
