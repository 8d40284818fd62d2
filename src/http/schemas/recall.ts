/** The request and the answer of a look-up in a session's record. */
import { z } from "@hono/zod-openapi";
import type { RecallHit, RecallInput, RecallReport } from "../../app/recall-views";
import { id, idOrNull, time } from "../../contract/ids";
import { itemKind } from "../../contract/item";
import { documents } from "./documents";
import { counter } from "./page";

const MAX_LIMIT = 60;
/** Maximum length of a query, in UTF-16 units. A longer one would fit into no URL. */
const MAX_QUERY = 4_000;

const limit = z
  .string()
  .regex(/^\d{1,3}$/, `an integer from 1 to ${MAX_LIMIT}`)
  .transform(Number)
  .pipe(z.int().min(1).max(MAX_LIMIT))
  .default(MAX_LIMIT)
  .openapi({ type: "integer", minimum: 1, maximum: MAX_LIMIT, default: MAX_LIMIT, description: "Hits; the text has its own bound" });

export const recallQuery = z.strictObject({
  q: z
    .string()
    .max(MAX_QUERY)
    .refine((text) => text.trim() !== "", "must not be empty")
    .optional()
    .openapi({ description: "Words to look for; with from and to, only there" }),
  execution_id: id("exe").optional().openapi({ description: "A call with its arguments and its recorded result" }),
  from: counter.optional().openapi({ description: "First position" }),
  to: counter.optional().openapi({ description: "Last position" }),
  limit,
  offset: counter.optional().openapi({ description: "Characters to skip, of an execution or of positions" }),
});

const position = z.int();
const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER).optional();

/** The same query in a body, so that it is in no log of URLs. */
export const recallBody = z
  .strictObject({
    q: recallQuery.shape.q,
    execution_id: recallQuery.shape.execution_id,
    from: count.openapi({ description: "First position" }),
    to: count.openapi({ description: "Last position" }),
    limit: z.int().min(1).max(MAX_LIMIT).default(MAX_LIMIT).openapi({ description: "Hits; the text has its own bound" }),
    offset: count.openapi({ description: "Characters to skip, of an execution or of positions" }),
  })
  .openapi("RecallQuestion");

export function toRecallInput({ q, execution_id, from, to, limit: most, offset }: z.infer<typeof recallQuery>): RecallInput {
  const named = { query: q ?? null, execution: execution_id ?? null, from: from ?? null, to: to ?? null };
  return { ...named, offset: offset ?? 0, limit: most };
}

const hitView = documents<RecallHit>()(
  z
    .object({
      position,
      message_id: id("msg"),
      kind: itemKind,
      created_at: time,
      execution_id: idOrNull("exe"),
      in_view: z.boolean().openapi({ description: "The model's view shows it as it is" }),
      snippet: z.string().openapi({ description: "On one line: all of it, or the part around the words" }),
      score: z.number().openapi({ description: "To compare hits of one answer with; 0 where nothing was searched" }),
      neighbours: z.array(z.object({ position, kind: itemKind, snippet: z.string() })).readonly(),
    })
    .openapi("RecallHit"),
);

export const recallView = documents<RecallReport>()(
  z
    .object({
      data: z.array(hitView).readonly().openapi({ description: "Best first; of an execution or positions in order" }),
      text: z.string().openapi({ description: "What the model would read" }),
      tokens: z.int().openapi({ description: "Of the text, estimated" }),
      next: z
        .object({ from: z.int().nullable(), to: z.int().nullable(), offset: z.int() })
        .nullable()
        .openapi({ description: "How to ask for the rest; null: this is all" }),
    })
    .openapi("Recall"),
);
