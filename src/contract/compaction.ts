/** Compactions as clients see them. */
import { z } from "@hono/zod-openapi";
import type { BreakerView } from "../domain/breaker";
import type { CompactionFailure, CoveredRange } from "../domain/compaction-events";
import { domainShape } from "./domain-shape";
import { modelFailureKind } from "./model-call";

/** Positions, both included. */
export const coveredRange = domainShape<CoveredRange>()(z.object({ from: z.int(), to: z.int() }));

export const breakerView = domainShape<BreakerView>()(
  z
    .object({
      open: z.boolean().openapi({ description: "While the breaker is open, no model is asked for a summary" }),
      failures: z.int().openapi({ description: "Compactions that failed for good since the last one that made progress" }),
      fruitless: z.int().openapi({ description: "Consecutive summaries that freed less than a tenth" }),
      closes_after: z
        .int()
        .nullable()
        .openapi({ description: "Tokens (raw estimate) to be added before a model is asked again. Null if the breaker is closed" }),
    })
    .openapi("CompactionBreaker"),
);

export const compactionFailure = domainShape<CompactionFailure>()(
  z.enum([
    ...modelFailureKind.options,
    "empty",
    "cut_off",
    "too_long",
    "not_smaller",
    "sections_missing",
    "lease_expired",
    "unknown_model",
    "nothing_to_do",
    "superseded",
    "discarded",
    "internal",
  ]),
);
