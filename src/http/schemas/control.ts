/** The requests that change the model's view by hand. */
import { z } from "@hono/zod-openapi";
import type { CompactInput } from "../../app/control-api";
import { instructionsText } from "../../context/policy";
import { policyChoiceSchema } from "../../context/policy-choice";

const isFilled = (text: string): boolean => text.trim() !== "";

export const compactInput = z
  .strictObject({
    dry_run: z.boolean().optional().openapi({ description: "Returns only the plan. Nothing is stored" }),
    instructions: instructionsText.nullable().optional().openapi({
      description: "What this summary should pay attention to, beside the session's summary_instructions or its policy's",
    }),
    keep_recent: z.int().min(1).nullable().optional().openapi({ description: "Tokens to keep verbatim. By default, the policy decides" }),
    up_to: z.int().min(1).nullable().optional().openapi({ description: "The last position that may be compacted" }),
    draft: z
      .boolean()
      .optional()
      .openapi({ description: "The compaction waits until it is committed or discarded, and can be edited before. One draft at a time" }),
    rebuild: z.boolean().optional().openapi({
      description: "Writes the current summaries anew, as one, from the messages that they cover. Nothing else leaves the view",
    }),
    model: z.string().min(1).optional().openapi({ description: "The model that writes the summary. By default, the policy decides" }),
    policy: policyChoiceSchema.optional().openapi({
      description: "Merged over the session's policy for this compaction only. Only its rules for summaries apply (form, length, attempts)",
    }),
  })
  .openapi("Compact");

export const toCompactInput = (input: z.infer<typeof compactInput>): CompactInput => ({
  dryRun: input.dry_run ?? false,
  instructions: input.instructions ?? null,
  keepRecent: input.keep_recent ?? null,
  upTo: input.up_to ?? null,
  ...(input.draft && { draft: input.draft }),
  ...(input.rebuild && { rebuild: input.rebuild }),
  ...(input.model !== undefined && { model: input.model }),
  ...(input.policy !== undefined && { policy: input.policy }),
});

/** Every request contains the pins, so they are few and short. */
const MAX_PINS = 32;
const MAX_PIN_CHARS = 4_000;

export const pinsInput = z
  .strictObject({ pins: z.array(z.string().max(MAX_PIN_CHARS).refine(isFilled, "must not be empty")).max(MAX_PINS) })
  .openapi("PutPins");

/** Maximum length of any summary, in UTF-16 units: more than any policy's cap allows. The session checks its own maximum. */
const MAX_SUMMARY = 400_000;

const edits = z
  .int()
  .min(0)
  .openapi({ description: "`draft.edits` as the client read it. A draft that was edited since then is refused (409)" });

export const draftEdit = z
  .strictObject({
    summary: z
      .string()
      .max(MAX_SUMMARY)
      .refine((text) => text.trim() !== "", "must not be empty")
      .openapi({ description: "The complete new text: at most 64,000 characters, or the policy's cap if that is larger" }),
    edits,
  })
  .openapi("EditDraft");

export const commitInput = z.strictObject({ edits: edits.optional() }).openapi("CommitDraft");
