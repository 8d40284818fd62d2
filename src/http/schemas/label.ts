/** Names that clients give: to a session, and to the person who talks in it. */
import { z } from "@hono/zod-openapi";

const label = z
  .string()
  .min(1)
  .max(256)
  .refine((text) => !/\p{Cc}/u.test(text), "no control characters");

/** A path drops the segments `.` and `..`, so a session with such an id could never be found by it. */
export const externalId = label
  .refine((text) => text !== "." && text !== "..", "not . or ..")
  .openapi({ description: "The client's own id of the session, unique in the tenant", example: "ticket-4711" });

export const endUser = label.openapi({ description: "The client's id of the person who talks", example: "user-42" });
