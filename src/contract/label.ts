/** Names that clients give: to a session, to the person who talks in it, to a speaker, to a file. */
import { z } from "@hono/zod-openapi";
import { PLAIN_LINE } from "../lib/plain-line";

const PLAIN_LINE_RULE = "must not contain control characters, line breaks or characters that change the direction of text";

/** A name of up to `max` characters. */
export const plainLine = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(PLAIN_LINE, PLAIN_LINE_RULE)
    // By itself, the document would have the flag inside of the pattern, which then matches nothing.
    .openapi({ pattern: PLAIN_LINE.source });

const label = plainLine(256);

/** A path drops the segments `.` and `..`, so a session with such an id could never be found by it. */
export const externalId = label
  .refine((text) => text !== "." && text !== "..", "not . or ..")
  .openapi({ description: "The client's own id of the session, unique in the tenant", example: "ticket-4711" });

export const endUser = label.openapi({ description: "The client's id of the person who talks", example: "user-42" });

export const fileName = plainLine(255);
export const sessionTitle = plainLine(200);

/** Who speaks. A name of several lines could pass for another message of the conversation. */
export const speaker = plainLine(64).regex(/\S/, "must have a visible character");
