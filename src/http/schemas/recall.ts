/** The request of a look-up in a session's record. */
import { z } from "@hono/zod-openapi";
import type { RecallInput } from "../../app/session-api";
import { id } from "../../contract/ids";
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
  .openapi({
    type: "integer",
    minimum: 1,
    maximum: MAX_LIMIT,
    default: MAX_LIMIT,
    description: "The most hits. `text` has a limit of its own",
  });

export const recallQuery = z.strictObject({
  q: z
    .string()
    .max(MAX_QUERY)
    .refine((text) => text.trim() !== "", "must not be empty")
    .optional()
    .openapi({ description: "Words to search for, within `from` and `to` if given" }),
  execution_id: id("exe").optional().openapi({ description: "A call with its arguments and its recorded result" }),
  from: counter.optional().openapi({ description: "First position" }),
  to: counter.optional().openapi({ description: "Last position" }),
  limit,
  offset: counter.optional().openapi({ description: "UTF-16 units of an execution or a range to skip" }),
});

const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER).optional();

/** The model's own tool calls it `query`, so that programs do, too. */
const withQ = (given: unknown): unknown => {
  if (typeof given !== "object" || given === null || !("query" in given) || "q" in given) return given;
  const { query: q, ...rest } = given;
  return typeof q === "string" && q.trim() !== "" ? { ...rest, q } : given;
};

/** The query in a body, so that it does not appear in logs of URLs. */
export const recallFields = z
  .strictObject({
    q: recallQuery.shape.q,
    execution_id: recallQuery.shape.execution_id,
    from: count.openapi({ description: "First position" }),
    to: count.openapi({ description: "Last position" }),
    limit: z.int().min(1).max(MAX_LIMIT).default(MAX_LIMIT).openapi({ description: "The most hits. `text` has a limit of its own" }),
    offset: count.openapi({ description: "UTF-16 units of an execution or a range to skip" }),
  })
  .openapi("RecallQuestion");
export const recallBody = z.preprocess(withQ, recallFields);

export function toRecallInput({ q, execution_id, from, to, limit: most, offset }: z.infer<typeof recallQuery>): RecallInput {
  const named = { query: q ?? null, execution: execution_id ?? null, from: from ?? null, to: to ?? null };
  return { ...named, offset: offset ?? 0, limit: most };
}
