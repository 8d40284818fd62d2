/** What the model will read and has read, and how two requests differ. */
import { z } from "@hono/zod-openapi";
import { policyChoiceSchema } from "../context/policy-choice";
import type { ChangedItem, DiffItem, DiffOverlay, ViewDiff } from "../context/view-diff";
import { COMPACTION_TRIGGERS } from "../domain/compaction-events";
import { domainShape } from "./domain-shape";
import { id, idOrNull, time } from "./ids";
import { itemKind } from "./item";
import { callOutcome } from "./model-call";
import { tokenFigure } from "./tokens";

const contextPart = z.object({
  part: z.enum(["system", "tools", "pins", "summary", "dropped", "message"]),
  position: z.int().nullable(),
  tokens: z.number(),
  source: z.enum(["reported", "estimated"]),
  error_bound: z.number().openapi({ description: "The largest error of `tokens`, in either direction" }),
});
export type ContextPart = z.infer<typeof contextPart>;

const contextWeights = z.object({
  context_window: z.int().nullable(),
  assumed_window: z.int().nullable().openapi({
    description: "The window that the policy assumes for an unknown one. Null if the window is known, or the policy assumes none",
  }),
  limit: z
    .number()
    .nullable()
    .openapi({ description: "The most tokens of a request: the window minus the reserve. Null without a known or assumed window" }),
  reserve: z.number().nullable(),
  total: tokenFigure,
  parts: z.array(contextPart).readonly().openapi({ description: "The parts of the request with their tokens" }),
});
export type ContextWeights = z.infer<typeof contextWeights>;

const request = z.object({
  url: z.string().nullable().openapi({ description: "Without what may be a secret. Null if the address is the deployment's" }),
  body: z.string(),
});

export const contextReport = z
  .object({
    model: z.string(),
    policy: policyChoiceSchema,
    epoch: z.int(),
    ...contextWeights.shape,
    compaction_first: z
      .object({ trigger: z.enum(COMPACTION_TRIGGERS), expected: tokenFigure })
      .nullable()
      .openapi({
        description:
          "A model would be asked for a summary before this request. The rest of the report shows the request that is sent if no summary is available",
      }),
    request: request.openapi({ description: "The next request, byte for byte" }),
  })
  .openapi("Context");
export type ContextReport = z.infer<typeof contextReport>;

const digest = z.string().nullable().openapi({ description: "SHA-256 of the body that was sent, hexadecimal. Null if none was recorded" });

const turnCall = z.object({
  n: z.int(),
  seq: z.int().openapi({ description: "The seq of the event that recorded the call" }),
  purpose: z.literal("turn"),
  model: z.string(),
  epoch: z.int(),
  outcome: callOutcome,
  digest,
});
export type TurnCall = z.infer<typeof turnCall>;

const digestCheck = z.object({
  recorded: digest,
  rebuilt: z.string(),
  matches: z.boolean().nullable().openapi({ description: "Null if no digest was recorded" }),
  reason: z.enum(["redacted"]).nullable().openapi({
    description:
      "Why the digests differ. redacted: content of the request was redacted later; null: they match, or this build builds the request differently",
  }),
});
export type DigestCheck = z.infer<typeof digestCheck>;

const pastContext = z
  .object({
    turn_id: id("trn"),
    call: z.int().openapi({ description: "Which of `calls` this is, from 1" }),
    calls: z
      .array(turnCall)
      .readonly()
      .openapi({ description: "The turn's calls in order, including tool rounds, retries, fallback models and recoveries" }),
    model: z.string(),
    policy: policyChoiceSchema.describe("The policy at that time"),
    epoch: z.int(),
    seq: z.int().openapi({ description: "The last event that the request was built on" }),
    sent_at: time,
    ...contextWeights.shape,
    request: request.openapi({ description: "The request, rebuilt from the log" }),
    digest: digestCheck,
  })
  .openapi("PastContext");
export type PastContext = z.infer<typeof pastContext>;

/** The next request, or one that was sent. */
export const anyContext = z.union([contextReport, pastContext]);

const diffFields = { id: id("msg"), position: z.int(), kind: itemKind, tokens: z.number() };
const shownAs = z
  .enum(["whole", "shortened", "cleared", "evicted", "unsigned"])
  .openapi({ description: "unsigned: without the parts that only their own provider accepts, such as signed reasoning" });
const diffItem = domainShape<DiffItem>()(z.object(diffFields));
const changedItem = domainShape<ChangedItem>()(
  z.object({ ...diffFields, shown: shownAs, was: z.object({ shown: shownAs, tokens: z.number() }) }),
);
const diffOverlay = domainShape<DiffOverlay>()(
  z.object({
    id: id("ovl"),
    kind: z.enum(["summary", "dropped"]),
    from: z.int(),
    to: z.int(),
    items: z.int(),
    tokens: z.number(),
    by: idOrNull("cmp").openapi({
      description: "The compaction that added or removed it. Null if no recorded change between the two requests did",
    }),
  }),
);

const listed = <S extends z.ZodType>(schema: S) =>
  z
    .object({ count: z.int(), tokens: z.number(), data: z.array(schema).readonly() })
    .openapi({ description: "`count` and `tokens` cover all entries; `data` has the newest 200" });

const viewDiff = z.object({
  changed: z.object({ model: z.boolean(), policy: z.boolean(), system: z.boolean(), tools: z.boolean(), pins: z.boolean() }),
  prefix: z.object({ messages: z.int(), tokens: z.number() }).openapi({
    description:
      "The common beginning of both requests: what a provider's cache of the first could serve for the second, if the model is the same",
  }),
  both: z.object({ count: z.int(), tokens: z.number() }).openapi({ description: "Messages that both requests show alike" }),
  left: listed(diffItem),
  came: listed(diffItem),
  less: listed(changedItem),
  more: listed(changedItem),
  summaries: z.object({ left: listed(diffOverlay), came: listed(diffOverlay) }),
});
domainShape<ViewDiff>()(viewDiff);

const diffSide = z.object({
  turn_id: idOrNull("trn").openapi({ description: "Null: the next request" }),
  call: z.int().nullable(),
  seq: z.int(),
  model: z.string(),
  epoch: z.int(),
  tokens: z.number().openapi({ description: "Estimated, like all figures of a comparison, by one measure" }),
});
export type DiffSide = z.infer<typeof diffSide>;

const epochStep = z.object({
  seq: z.int(),
  at: time,
  epoch: z.int(),
  trigger: z.enum(COMPACTION_TRIGGERS),
  compaction_id: id("cmp").nullable(),
});
export type EpochStep = z.infer<typeof epochStep>;

export const contextDiff = z
  .object({
    from: diffSide,
    to: diffSide,
    ...viewDiff.shape,
    epochs: z.array(epochStep).readonly().openapi({ description: "Changes of the view between the two requests, at most the newest 200" }),
  })
  .openapi("ContextDiff");
export type ContextDiff = z.infer<typeof contextDiff>;
