/** The answer of a search over the titles and messages of a tenant's sessions. */
import { z } from "@hono/zod-openapi";
import { id, time } from "./ids";
import { sessionSummary } from "./session";

const sessionMatch = z
  .object({
    id: id("msg"),
    position: z.int(),
    role: z.enum(["system", "user", "assistant"]),
    created_at: time,
    snippet: z.string().openapi({ description: "One line: the whole text, or the part around the words that match" }),
  })
  .openapi("SessionMatch");
export type SessionMatch = z.infer<typeof sessionMatch>;

export const foundSession = z
  .object({
    session: sessionSummary,
    score: z.number().openapi({ description: "Comparable only with the scores of the same search" }),
    in_title: z.boolean().openapi({ description: "The title has some of the words" }),
    matches: z.array(sessionMatch).readonly().openapi({ description: "At most three messages, best first" }),
  })
  .openapi("FoundSession");
export type FoundSession = z.infer<typeof foundSession>;
