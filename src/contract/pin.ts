/** The pins of a session. */
import { z } from "@hono/zod-openapi";
import { idOrNull } from "./ids";

export const pinView = z
  .object({
    text: z.string().openapi({ description: "What every request repeats. Of a message: a copy of its words, with a label" }),
    message_id: idOrNull("msg").openapi({ description: "The message that the text was copied from. Null for a text of the client's own" }),
    position: z.int().nullable().openapi({ description: "The place of that message" }),
  })
  .openapi("Pin");
export type PinView = z.infer<typeof pinView>;

export const pinsView = z.object({ pins: z.array(pinView).readonly() }).openapi("Pins");
export type PinsView = z.infer<typeof pinsView>;
