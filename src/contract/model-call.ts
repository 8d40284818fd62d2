/** Model calls: their usage, outcomes and failures, and the ledger's sums. */
import { z } from "@hono/zod-openapi";
import type { CallOutcome, FitReport, TurnFailure, TurnFailureKind, TurnStatus } from "../domain/events";
import {
  CALL_PURPOSES,
  type CallUsage,
  FAILURE_KINDS,
  type FinishReason,
  type ReportedNames,
  type UsageSource,
} from "../domain/model-call";
import { domainShape } from "./domain-shape";
import { idOrNull, time } from "./ids";
import { dollars } from "./tokens";

export const callUsage = domainShape<CallUsage>()(
  z.object({
    input: z.int().openapi({ description: "Cached tokens included" }),
    output: z.int(),
    cached: z.int(),
    reasoning: z.int().openapi({ description: "Part of `output`. If it is larger than `output`, the provider counts it separately" }),
    cache_write: z.int().optional().openapi({ description: "Part of `input`. Absent if the provider did not report it" }),
  }),
);

export const modelFailureKind = z.enum(FAILURE_KINDS);

/** A failure of a turn with the words that explain it. */
export interface TurnFailureView extends Omit<TurnFailure, "reported"> {
  readonly reported?: ReportedNames & { readonly message?: string };
  readonly detail: string;
  readonly remedy: string;
}

const byteFit = z.object({ floor: z.int(), limit: z.int() });

export const fitReportView = domainShape<FitReport>()(
  z.object({
    floor: z.number().openapi({ description: "Tokens that no compaction can remove" }),
    limit: z.number().openapi({ description: "The most tokens of a request to the model" }),
    biggest: z
      .array(z.object({ what: z.string(), tokens: z.number(), bytes: z.int().optional() }))
      .readonly()
      .openapi({ description: "The largest parts of the request" }),
    bytes: byteFit.optional().openapi({
      description:
        "Present if bytes are the reason: the bytes that no compaction can remove, and the most bytes of a request. `limit` is then the same bound in tokens",
    }),
  }),
);

export const turnFailureKind = z.enum([
  ...modelFailureKind.options,
  "cannot_fit",
  "round_limit",
  "no_progress",
  "budget",
  "suspended",
  "storage_full",
  "unknown_model",
  "crashed",
  "internal",
]) satisfies z.ZodType<TurnFailureKind>;

export const turnFailure = domainShape<TurnFailureView>()(
  z.object({
    kind: turnFailureKind,
    status: z.int().nullable().openapi({ description: "The provider's HTTP status. Null if the provider did not answer" }),
    fit: fitReportView.optional(),
    bytes: byteFit.optional().openapi({
      description: "Present if the request was not sent because its body was too large: its bytes (floor) and the most bytes (limit)",
    }),
    limit: z
      .int()
      .optional()
      .openapi({ description: "Tokens that would fit, as the provider reported: of the request (overflow) or of the reply (output_cap)" }),
    retry_after_ms: z.int().optional().openapi({ description: "The wait that the provider asked for, on the last attempt" }),
    reported: z
      .object({
        code: z.string().optional(),
        type: z.string().optional(),
        param: z.string().optional(),
        message: z.string().optional().openapi({
          description:
            "The beginning of what the provider said, at most 300 characters, without secrets. Present only if the tenant's own credential or address was called, until the next redaction",
        }),
      })
      .optional()
      .openapi({
        description:
          "The provider's own code and type of the failure, and the part of the request that it names, where they are identifiers",
      }),
    detail: z.string().openapi({ description: "Why the turn failed, for people, by the class of the failure" }),
    remedy: z.string().openapi({ description: "What can be done, for people. The message is kept, so it must not be sent again" }),
  }),
);

export const turnStatus = z.enum(["completed", "failed", "stopped", "interrupted"]) satisfies z.ZodType<TurnStatus>;

export const finishReason = z.enum(["stop", "length", "tool_calls", "content_filter", "other"]) satisfies z.ZodType<FinishReason>;

export const callOutcome = z.enum([...finishReason.options, ...turnFailureKind.options, "stale"]) satisfies z.ZodType<CallOutcome>;

export const callPurpose = z.enum(CALL_PURPOSES);
export const callSource = z.enum(["turn", "context_compaction", "title", "comparison"]) satisfies z.ZodType<UsageSource>;

const tokens = {
  input: z.int().openapi({ description: "The sum of uncached, cached and cache_write" }),
  uncached: z.int(),
  cached: z.int().openapi({ description: "Read from the provider's cache" }),
  cache_write: z.int().openapi({ description: "Written to the provider's cache" }),
  output: z.int().openapi({ description: "Reasoning included" }),
  reasoning: z.int(),
};

export const usageSums = z.object({
  calls: z.int(),
  failed_calls: z.int().openapi({ description: "Calls that ended by a failure, a stop or a crash" }),
  ...tokens,
  cost: dollars.openapi({ description: "US dollars of the calls with a known cost. Null if no call has one" }),
  unpriced_calls: z.int().openapi({
    description: "Calls whose cost is unknown, because a price or a count is missing. `cost` leaves them out",
  }),
  cost_complete: z.boolean(),
});
export type UsageSums = z.infer<typeof usageSums>;

export const ledgerRow = z
  .object({
    seq: z.int(),
    at: time,
    turn_id: idOrNull("trn"),
    purpose: callPurpose,
    source: callSource,
    model: z.string(),
    key_id: idOrNull("key").openapi({ description: "The API key that asked. Null: none is known" }),
    end_user: z
      .string()
      .nullable()
      .openapi({ description: "The session's end user at the time. Null: it had none, or the name was forgotten" }),
    input: tokens.input.nullable(),
    uncached: tokens.uncached.nullable(),
    cached: tokens.cached.nullable(),
    cache_write: tokens.cache_write.nullable(),
    output: tokens.output.nullable(),
    reasoning: tokens.reasoning.nullable(),
    cost: dollars.openapi({ description: "US dollars, by the prices at the time of the call. Null if unknown" }),
    estimate: z.number().openapi({ description: "This service's own estimate of the request before it was sent, unscaled" }),
    outcome: callOutcome,
    ms: z.number(),
    left_out: z.array(z.string()).readonly().openapi({
      description: "Generation settings that were set and that this request left out, because the model cannot express them",
    }),
  })
  .openapi("ModelCall", { description: "One model call of a session. A count is null if the provider did not report it" });
export type LedgerRow = z.infer<typeof ledgerRow>;
