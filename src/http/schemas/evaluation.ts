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
    policy: policyChoiceSchema.describe("The policy to evaluate. It is merged over the session's policy, as when the session is updated"),
    model: modelName
      .optional()
      .openapi({ description: "The model whose limits and prices apply to all calls. Default: the session's model" }),
    window: modelFigures.context_window.describe("The context window. Null if unknown. Default: the model's window"),
    prices: modelFigures.prices,
    last: z
      .int()
      .min(1)
      .max(MAX_MESSAGES)
      .default(MAX_MESSAGES)
      .openapi({ description: "Evaluate only this many of the newest messages. Older ones are left out" }),
  })
  .openapi("EvaluatePolicy");
