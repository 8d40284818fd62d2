import { z } from "@hono/zod-openapi";
import { modelFigures } from "../../context/model-input";
import { coveredRange } from "../../contract/compaction";
import { id, time } from "../../contract/ids";
import { certainty } from "../../contract/tokens";
import { COMPACTION_TRIGGERS } from "../../domain/compaction-events";
import type { EvaluatedChange, Evaluation, PolicyRun, Recorded } from "../../evaluate/evaluation";
import { documents } from "./documents";
import { modelName } from "./model";
import { policyChoiceInput, policyChoiceView, policyView } from "./policy";

/** Maximum number of messages that one evaluation plays (docs/policies.md says how long that takes). */
const MAX_MESSAGES = 10_000;

export const evaluationInput = z
  .strictObject({
    session: id("ses"),
    policy: policyChoiceInput.describe("As a session takes it; over the session's present one, as if it were patched with it"),
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

const tokens = z.object({ input: z.number(), cached: z.number(), output: z.number() });
const share = z.number().openapi({ description: "0 to 1" });
const position = z.int();

const costFigure = z
  .object({
    amount: z.number(),
    summaries: z.number().openapi({ description: "Part of it that summaries took" }),
    source: z.enum(["reported", "estimated", "mixed"]),
    error_bound: z.number().openapi({ description: "How far off `amount` may be, either way" }),
  })
  .openapi({ description: "In the answer's `unit`" });

const change = documents<EvaluatedChange>()(
  z.object({
    trigger: z.enum(COMPACTION_TRIGGERS),
    after_position: position.openapi({ description: "The newest position when it was done" }),
    turn: z.int(),
    at: time,
    range: coveredRange
      .nullable()
      .openapi({ description: "Positions that left the view; null: none did, some are shown as less than they are" }),
    rungs: z.array(z.string()).readonly(),
    tokens_before: z.number(),
    tokens_after: z.number(),
    measured: z.object({ before: certainty, after: certainty }).nullable(),
    expected: z.number().nullable().openapi({ description: "Tokens of the next request as it was planned; null of what was recorded" }),
  }),
);

const changes = {
  compactions: z.int().openapi({ description: "Summaries" }),
  epochs: z.int().openapi({ description: "Changes of the view, those without a summary included" }),
  changes: z.array(change).readonly(),
  changes_truncated: z.boolean(),
  record: z
    .object({ verbatim: z.number(), reduced: z.number(), summarized: z.number(), dropped: z.number(), withdrawn: z.number() })
    .openapi({
      description: "Estimated tokens of the record by what became of them in the view at the end; withdrawn: what a retry took back",
    }),
};

const called = {
  turns: z.int(),
  calls: z.int().openapi({ description: "Calls of turns that a model answered" }),
  tokens,
  summary_tokens: tokens,
  cost: costFigure,
  cached_share: share,
  peak_tokens: z.number(),
};

const policyRun = documents<PolicyRun>()(
  z
    .object({
      policy: policyChoiceView,
      effective_policy: policyView,
      ...called,
      relative_cost: z.number().nullable().openapi({ description: "Over sending everything each time; null: nothing was called" }),
      would_not_fit: z.int().openapi({ description: "Calls for which there would have been no room" }),
      breaks: z.int().openapi({ description: "Requests that do not begin with all of the one before, in the same epoch" }),
      verbatim_8k: share.openapi({ description: "Mean share of the newest 8,000 tokens that a request shows word for word" }),
      identifiers: z
        .object({
          needed: z.int(),
          out_of_view: z.int(),
          examples: z.array(z.object({ position, said_at: position })).readonly(),
        })
        .openapi({
          description:
            "Identifiers that later messages came back to, and those that the view no longer showed: a summary or memory must have them",
        }),
      ...changes,
    })
    .openapi("PolicyRun"),
);

const recorded = documents<Recorded>()(
  z
    .object({
      turns: z.int(),
      calls: z.int(),
      failed_calls: z.int(),
      tokens,
      summary_tokens: tokens,
      cached_share: share,
      cost: z.object({ usd: z.number(), summaries_usd: z.number(), unpriced_calls: z.int() }),
      ...changes,
    })
    .openapi({ description: "What really happened, summaries included, titles and comparisons not" }),
);

export const evaluationView = documents<Evaluation>()(
  z
    .object({
      session: id("ses"),
      model: z.string(),
      context_window: z.int().nullable(),
      unit: z.enum(["usd", "relative"]).openapi({ description: "relative: the prices are unknown, and plain input is 1" }),
      from_position: position.nullable(),
      messages: z.int(),
      messages_left_out: z.int(),
      everything: z.object(called).openapi({ description: "All of the history sent each time" }),
      recorded,
      current: policyRun,
      proposed: policyRun,
      ratio: z.number().nullable().openapi({ description: "Cost of `proposed` over that of `current`" }),
    })
    .openapi("Evaluation"),
);
