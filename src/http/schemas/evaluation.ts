import { z } from "@hono/zod-openapi";
import { modelFigures } from "../../context/model-input";
import { policyChoiceSchema } from "../../context/policy-choice";
import { id } from "../../contract/ids";
import { modelName } from "./model";

/** Maximum number of messages that one evaluation plays (docs/policies.md says how long that takes). */
const MAX_MESSAGES = 10_000;

export const evaluationInput = z
  .strictObject({
    session: id("ses"),
    policy: policyChoiceSchema.describe("As a session takes it; over the session's present one, as if it were patched with it"),
    model: modelName
      .optional()
      .openapi({ description: "By default the session's; its limits and prices, for calls that are all taken to be its" }),
    window: modelFigures.context_window.describe("By default the model's; null: unknown"),
    prices: modelFigures.prices,
    last: z
      .int()
      .min(1)
      .max(MAX_MESSAGES)
      .default(MAX_MESSAGES)
      .openapi({ description: "So many messages, the newest; what is older is left out, as if it had not been said" }),
  })
  .openapi("EvaluatePolicy");
