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
