/** The request of a search over a tenant's sessions. The words are in a body, so that they do not appear in logs of URLs. */
import { z } from "@hono/zod-openapi";
import type { SessionSearchInput } from "../../app/read-api";
import { toQuery } from "../../context/recall/query";
import { endUser } from "../../contract/label";
import type { TenantId } from "../../domain/ids";
import { archivedQuery, createInput, toFilter } from "./session";

const MAX_LIMIT = 50;
const DEFAULT_LIMIT = 20;
/** Maximum length of a query, in UTF-16 units. */
const MAX_QUERY = 1_000;

const moment = (description: string) => z.int().min(0).max(Number.MAX_SAFE_INTEGER).optional().openapi({ description });

export const searchInput = z
  .strictObject({
    query: z
      .string()
      .max(MAX_QUERY)
      .refine(
        (text) => {
          const { exact, stems } = toQuery(text);
          return exact.length + stems.length > 0;
        },
        { message: "has no word to look for" },
      )
      .openapi({ description: `Words to look for in titles and messages, at most ${MAX_QUERY} characters` }),
    end_user: endUser.optional(),
    archived: archivedQuery.default("any"),
    metadata: createInput.shape.metadata.openapi({ description: "Only sessions with these entries" }),
    created_after: moment("Only sessions that were created after this moment, in epoch milliseconds"),
    created_before: moment("Only sessions that were created before this moment"),
    updated_after: moment("Only sessions that changed after this moment"),
    updated_before: moment("Only sessions that did not change since this moment"),
    limit: z.int().min(1).max(MAX_LIMIT).default(DEFAULT_LIMIT).openapi({ description: "The most sessions" }),
    after: z.string().min(1).max(512).optional().openapi({ description: "next_cursor of the page before, with all else as it was" }),
  })
  .openapi("SessionSearch");

export function toSearchInput(tenant: TenantId, { query, limit, after, ...selecting }: z.infer<typeof searchInput>): SessionSearchInput {
  return { tenant, query, filter: toFilter(selecting), limit, after: after ?? null };
}
