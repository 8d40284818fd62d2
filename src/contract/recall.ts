/** The answer of a look-up in a session's record (`memory_query`, and `GET` or `POST …/recall`). */
import { z } from "@hono/zod-openapi";
import { id, idOrNull, time } from "./ids";
import { itemKind } from "./item";
import { tokenFigure } from "./tokens";

const recallNeighbour = z.object({ position: z.int(), kind: itemKind, snippet: z.string() });
export type RecallNeighbour = z.infer<typeof recallNeighbour>;

const recallHit = z
  .object({
    id: id("msg"),
    position: z.int(),
    kind: itemKind,
    created_at: time,
    execution_id: idOrNull("exe"),
    in_view: z.boolean().openapi({ description: "The model's view shows the item unchanged" }),
    snippet: z.string().openapi({ description: "One line: the whole text, or the part around the words that match" }),
    score: z.number().openapi({ description: "Comparable only with the hits of the same answer. 0 without a search" }),
    neighbours: z.array(recallNeighbour).readonly().openapi({ description: "The messages next to the hit that are no hits themselves" }),
  })
  .openapi("RecallHit");
export type RecallHit = z.infer<typeof recallHit>;

const recallNext = z.object({
  from: z.int().nullable().openapi({ description: "Null for an execution" }),
  to: z.int().nullable(),
  offset: z.int().openapi({ description: "UTF-16 units to skip" }),
});
export type RecallNext = z.infer<typeof recallNext>;

export const recallReport = z
  .object({
    data: z.array(recallHit).readonly().openapi({ description: "Best first. For an execution or a range, in order of position" }),
    text: z.string().openapi({ description: "The text that the model would read" }),
    tokens: tokenFigure.openapi({ description: "The size of `text`. Always estimated" }),
    next: recallNext.nullable().openapi({ description: "The input for the rest. Null if this is everything" }),
  })
  .openapi("Recall");
export type RecallReport = z.infer<typeof recallReport>;
