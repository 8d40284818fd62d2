/** Generation settings, and what else a turn may be asked with, as clients write them. */
import { z } from "@hono/zod-openapi";
import type { TurnInput } from "../../app/session-api";
import { boundsFault } from "../../app/tools/schema-bounds";
import { generationChoiceSchema } from "../../context/generation";
import { modelName } from "./model";

/** The bounds of a tool's schema hold for a reply's schema, too: providers expand the references of both. */
export const generationInput = generationChoiceSchema
  .superRefine(({ response_format: format }, context) => {
    const message = format?.type === "json_schema" ? boundsFault(format.schema) : null;
    if (message !== null) context.addIssue({ code: "custom", path: ["response_format", "schema"], message });
  })
  .openapi("Generation", {
    description: "How the model is asked to write. Each field that is named changes; null restores the provider's default",
  });

/** UTF-16 units. The session counts bytes, of which there are as many or more. */
const MAX_NOTE = 65_536;

/** What any request may name for the turn that it starts. */
export const turnChoices = {
  generation: generationInput.nullable().optional().openapi({ description: "For this turn only, field by field over the session's" }),
  model: modelName.nullable().optional().openapi({ description: "For this turn only, in place of the session's" }),
  system: z.string().nullable().optional().openapi({
    description: "The system prompt, for this turn only, in place of the session's. An empty text: none; null: the session's",
  }),
  note: z.string().max(MAX_NOTE).nullable().optional().openapi({
    description: "Your own text about the turn, of at most 64 KB. No model reads it; `GET …/turns/:turn/settings` returns it",
  }),
};

/** For a turn that repeats an earlier one. Without them, it is asked with what the earlier turn was asked with. */
export const repeatInput = z
  .strictObject({
    generation: turnChoices.generation.openapi({
      description: "Field by field over what the repeated turn was asked with; null: only the session's settings hold",
    }),
    model: turnChoices.model.openapi({ description: "In place of the repeated turn's; null: the session's" }),
    system: turnChoices.system.openapi({ description: "In place of the repeated turn's. An empty text: none; null: the session's" }),
    note: turnChoices.note.openapi({ description: "In place of the repeated turn's; null: none" }),
  })
  .openapi("RepeatTurn");

export const toTurnInput = ({ generation, model, system, note }: z.infer<typeof repeatInput>): TurnInput => ({
  ...(generation !== undefined && { generation }),
  ...(model !== undefined && { model }),
  ...(system !== undefined && { system }),
  ...(note !== undefined && { note }),
});
