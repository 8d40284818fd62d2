/** The requests that concern a draft. */
import { z } from "@hono/zod-openapi";

/** Maximum length of any summary, in UTF-16 units: more than any policy's cap allows. The session checks its own maximum. */
const MAX_SUMMARY = 400_000;

const edits = z.int().min(0).openapi({ description: "`draft.edits` as it was read: a draft that was edited since is refused (409)" });

export const draftEdit = z
  .strictObject({
    summary: z
      .string()
      .max(MAX_SUMMARY)
      .refine((text) => text.trim() !== "", "must not be empty")
      .openapi({ description: "The whole text, in place of what stands; at most 64,000 characters, or the policy's cap if that is more" }),
    edits,
  })
  .openapi("EditDraft");

export const commitInput = z.strictObject({ edits: edits.optional() }).openapi("CommitDraft");
