/** The query of OpenAI's lists of items, and the list itself. */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { err, ok, type Result } from "../../../lib/result";
import type { HttpEnv } from "../../deps";
import type { HttpError } from "../../problem";
import { toFieldErrors } from "../../validation";
import type { OpenAiItem } from "./item-types";

const MAX_LIMIT = 100;

/** The SDKs write `include[]`. */
const includeQuery = z.strictObject({ include: z.string().optional(), "include[]": z.string().optional() });

const itemsQuery = includeQuery.extend({
  limit: z.coerce
    .number()
    .int()
    .min(1, `an integer from 1 to ${MAX_LIMIT}`)
    .max(MAX_LIMIT, `an integer from 1 to ${MAX_LIMIT}`)
    .default(20),
  order: z.enum(["asc", "desc"]).default("desc"),
  after: z.string().min(1).optional(),
});

/** What `include` may name. Each is about something that items of ours do not have, or always have. */
const INCLUDABLE: ReadonlySet<string> = new Set([
  "file_search_call.results",
  "web_search_call.results",
  "web_search_call.action.sources",
  "message.input_image.image_url",
  "computer_call_output.output.image_url",
  "code_interpreter_call.outputs",
  "reasoning.encrypted_content",
  "message.output_text.logprobs",
]);

/** Refuses what a request for items without a list cannot have in its query. */
export function findQueryFault(c: Context<HttpEnv>): HttpError | null {
  const query = includeQuery.safeParse(c.req.query());
  return query.success ? findIncludeFault(c) : { code: "invalid_request", errors: toFieldErrors(query.error.issues) };
}

/** Refuses an unknown name in `include`. */
function findIncludeFault(c: Context<HttpEnv>): HttpError | null {
  const names = [...(c.req.queries("include") ?? []), ...(c.req.queries("include[]") ?? [])].flatMap((text) => text.split(","));
  const fault = names.some((name) => !INCLUDABLE.has(name));
  return fault ? { code: "invalid_request", errors: [{ field: "include", detail: `must be of ${[...INCLUDABLE].join(", ")}` }] } : null;
}

export function readItemsQuery(c: Context<HttpEnv>): Result<z.infer<typeof itemsQuery>, HttpError> {
  const query = itemsQuery.safeParse(c.req.query());
  if (!query.success) return err({ code: "invalid_request", errors: toFieldErrors(query.error.issues) });
  const fault = findIncludeFault(c);
  return fault ? err(fault) : ok(query.data);
}

export const toItemList = ({ data, has_more }: { readonly data: readonly OpenAiItem[]; readonly has_more: boolean }) => ({
  object: "list",
  data,
  first_id: data[0]?.id ?? null,
  last_id: data.at(-1)?.id ?? null,
  has_more,
});
