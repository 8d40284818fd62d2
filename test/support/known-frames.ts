/** Holds the frames of the live stream to the schema that the OpenAPI document shows. */
import { isDeepStrictEqual } from "node:util";
import { streamFrame } from "../../src/contract/frame";

/** What is wrong with the data of an event: a fault of the schema, or a field that the schema does not have. Null: nothing. */
export function findFrameFault(frame: unknown): string | null {
  const parsed = streamFrame.safeParse(frame);
  if (!parsed.success) return parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
  return isDeepStrictEqual(parsed.data, frame) ? null : "it has a field that the schema does not have";
}
