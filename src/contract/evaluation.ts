/** The evaluation of a policy on a session's log. It holds positions, counts and sizes, but no content. */
import { z } from "@hono/zod-openapi";
import { policySchema } from "../context/policy";
import { policyChoiceSchema } from "../context/policy-choice";
import { COMPACTION_TRIGGERS } from "../domain/compaction-events";
import { coveredRange } from "./compaction";
import { id, time } from "./ids";
import { certainty } from "./tokens";

const tokenCounts = z.object({ input: z.number(), cached: z.number(), output: z.number() });
/** `input`: the whole prompt, cached tokens included. */
export type TokenCounts = z.infer<typeof tokenCounts>;

const share = z.number().openapi({ description: "0 to 1" });
const position = z.int();

const costFigure = z
  .object({
    amount: z.number(),
    summaries: z.number().openapi({ description: "The part of `amount` that summaries cost" }),
    source: z.enum(["reported", "estimated", "mixed"]),
    error_bound: z.number().openapi({ description: "The largest error of `amount`, in either direction" }),
  })
  .openapi({ description: "A cost in the `unit` of the response" });
export type CostFigure = z.infer<typeof costFigure>;

const evaluatedChange = z.object({
  trigger: z.enum(COMPACTION_TRIGGERS),
  after_position: position.openapi({ description: "The newest position when the change was made" }),
  turn: z.int(),
  at: time,
  range: coveredRange.nullable().openapi({
    description: "The positions that left the view. Null if none left it, and items are only shown cleared or shortened",
  }),
  rungs: z.array(z.string()).readonly(),
  tokens_before: z.number(),
  tokens_after: z.number(),
  measured: z.object({ before: certainty, after: certainty }).nullable(),
  expected: z.number().nullable().openapi({
    description: "Tokens of the next request, as the plan expected them. Null for a recorded change, which does not say",
  }),
});
export type EvaluatedChange = z.infer<typeof evaluatedChange>;

const recordShares = z
  .object({ verbatim: z.number(), reduced: z.number(), summarized: z.number(), dropped: z.number(), withdrawn: z.number() })
  .openapi({
    description:
      "Estimated tokens of the record, by how the view shows them at the end. reduced: cleared or shortened; withdrawn: neither shown nor covered, because a retry took them back or they are on another branch",
  });
export type RecordShares = z.infer<typeof recordShares>;

const changes = {
  compactions: z.int().openapi({ description: "The number of summaries" }),
  epochs: z.int().openapi({ description: "The number of changes of the view, including those without a summary" }),
  changes: z.array(evaluatedChange).readonly().openapi({ description: "The first changes, as many as a response may hold" }),
  changes_truncated: z.boolean(),
  record: recordShares,
};

const called = {
  turns: z.int(),
  calls: z.int().openapi({ description: "Calls of turns that a model answered" }),
  tokens: tokenCounts,
  summary_tokens: tokenCounts,
  cost: costFigure,
  cached_share: share,
  peak_tokens: z.number(),
};

const missedIdentifier = z.object({ position, said_at: position });
/** `position`: the item that came back to the identifier; `said_at`: where the identifier was mentioned last before that. */
export type MissedIdentifier = z.infer<typeof missedIdentifier>;

const policyRun = z
  .object({
    policy: policyChoiceSchema,
    effective_policy: policySchema,
    ...called,
    relative_cost: z.number().nullable().openapi({
      description: "The cost divided by the cost of sending the whole history each time. Null if the latter is 0",
    }),
    would_not_fit: z.int().openapi({ description: "Calls for which there would have been no room" }),
    breaks: z.int().openapi({ description: "Requests that do not begin with the whole previous request of the same epoch" }),
    verbatim_8k: share.openapi({ description: "The mean share of the newest 8,000 tokens that a request shows verbatim" }),
    identifiers: z.object({ needed: z.int(), out_of_view: z.int(), examples: z.array(missedIdentifier).readonly() }).openapi({
      description:
        "Identifiers that later messages came back to (needed), and those of them that the view no longer showed: only a summary or a look-up can supply these",
    }),
    ...changes,
  })
  .openapi("PolicyRun");
export type PolicyRun = z.infer<typeof policyRun>;

const recorded = z
  .object({
    turns: z.int(),
    calls: z.int(),
    failed_calls: z.int(),
    tokens: tokenCounts,
    summary_tokens: tokenCounts,
    cached_share: share,
    cost: z
      .object({ usd: z.number(), summaries_usd: z.number(), unpriced_calls: z.int() })
      .openapi({ description: "US dollars of the calls whose cost is known" }),
    ...changes,
  })
  .openapi({ description: "What really happened, as providers reported it. Summaries are included, titles and comparisons are not" });
export type Recorded = z.infer<typeof recorded>;

export const evaluation = z
  .object({
    session_id: id("ses"),
    model: z.string(),
    context_window: z.int().nullable(),
    unit: z.enum(["usd", "relative"]).openapi({ description: "relative: the prices are unknown, and a token of plain input costs 1" }),
    from_position: position.nullable().openapi({ description: "The position where the evaluated part begins" }),
    messages: z.int(),
    messages_left_out: z.int().openapi({ description: "Messages before the evaluated part" }),
    everything: z.object(called).openapi({ description: "The whole history sent each time, however large the window would have to be" }),
    recorded,
    current: policyRun,
    proposed: policyRun,
    ratio: z.number().nullable().openapi({ description: "The cost of `proposed` divided by that of `current`. Null if the latter is 0" }),
  })
  .openapi("Evaluation");
export type Evaluation = z.infer<typeof evaluation>;
