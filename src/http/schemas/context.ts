/** What the model sees and saw, and how two requests differ. */
import { z } from "@hono/zod-openapi";
import type { ContextDiff, PastContext } from "../../app/past-views";
import type { ContextReport } from "../../app/session-views";
import type { ChangedItem, DiffItem, DiffOverlay } from "../../context/view-diff";
import { id, time } from "../../contract/ids";
import { callOutcome } from "../../contract/model-call";
import { tokenFigure } from "../../contract/tokens";
import { COMPACTION_TRIGGERS } from "../../domain/compaction-events";
import { documents } from "./documents";
import { policyChoiceView } from "./policy";

const weights = {
  context_window: z.int().nullable(),
  assumed_window: z.int().nullable().openapi({ description: "What the policy takes an unknown window to be" }),
  limit: z.number().nullable().openapi({ description: "Window less reserve: what a request may weigh" }),
  reserve: z.number().nullable(),
  total: tokenFigure,
  parts: z
    .array(
      z.object({
        part: z.enum(["system", "tools", "pins", "summary", "dropped", "message"]),
        position: z.int().nullable(),
        tokens: z.number(),
        source: z.enum(["reported", "estimated"]),
        error_bound: z.number(),
      }),
    )
    .readonly(),
};

export const contextInput = z
  .strictObject({ content: z.string().refine((text) => text.trim() !== "", "must not be empty") })
  .openapi("NextMessage");

const request = z.object({
  url: z.string().nullable().openapi({ description: "Without what could be a secret; null: the address is the deployment's" }),
  body: z.string(),
});

export const contextView = documents<ContextReport>()(
  z
    .object({
      model: z.string(),
      policy: policyChoiceView,
      epoch: z.int(),
      ...weights,
      compaction_first: z
        .object({ trigger: z.enum(COMPACTION_TRIGGERS), expected: tokenFigure })
        .nullable()
        .openapi({
          description:
            "A summary is asked for before the request is sent, and what it will say cannot be known: then `request` is what is sent if none can be had",
        }),
      request: request.openapi({ description: "The next request, byte for byte" }),
    })
    .openapi("Context"),
);

const digest = z.string().nullable().openapi({ description: "SHA-256 of the body that was sent, hexadecimal; null: none is recorded" });

const pastContextView = documents<PastContext>()(
  z
    .object({
      turn_id: id("trn"),
      call: z.int().openapi({ description: "Which of `calls` this is, from 1" }),
      calls: z
        .array(
          z.object({
            n: z.int(),
            seq: z.int(),
            purpose: z.literal("turn"),
            model: z.string(),
            epoch: z.int(),
            outcome: callOutcome,
            digest,
          }),
        )
        .readonly()
        .openapi({ description: "The turn's calls in order: rounds, retries, other models, lives" }),
      model: z.string(),
      policy: policyChoiceView,
      epoch: z.int(),
      seq: z.int().openapi({ description: "The last event that it was built on" }),
      sent_at: time.nullable(),
      ...weights,
      request: request.openapi({ description: "The request, rebuilt by the code that sends" }),
      digest: z.object({
        recorded: digest,
        rebuilt: z.string(),
        matches: z.boolean().nullable().openapi({ description: "Null: no digest was recorded" }),
        reason: z
          .enum(["redacted", "not_recorded"])
          .nullable()
          .openapi({ description: "Why it does not match: redacted since, or asked by a build that did not record how" }),
      }),
    })
    .openapi("PastContext"),
);

/** Describes the next request, or one that was sent. */
export const anyContextView = z.union([contextView, pastContextView]);

const entry = {
  id: id("msg"),
  position: z.int(),
  kind: z.enum(["system", "user", "assistant", "tool_call", "tool_result"]),
  tokens: z.number(),
};
const shownAs = z
  .enum(["whole", "shortened", "cleared", "evicted", "unsigned"])
  .openapi({ description: "unsigned: what its provider signed, thinking among it, does not go back" });
const diffItem = documents<DiffItem>()(z.object(entry));
const changedItem = documents<ChangedItem>()(z.object({ ...entry, shown: shownAs, was: z.object({ shown: shownAs, tokens: z.number() }) }));
const diffOverlay = documents<DiffOverlay>()(
  z.object({
    id: id("ovl"),
    kind: z.enum(["summary", "dropped"]),
    from: z.int(),
    to: z.int(),
    items: z.int(),
    tokens: z.number(),
    by: id("cmp").nullable().openapi({ description: "The compaction that did it; null: none that is recorded between the two" }),
  }),
);

const listed = <S extends z.ZodType>(schema: S) =>
  z
    .object({ count: z.int(), tokens: z.number(), data: z.array(schema).readonly() })
    .openapi({ description: "count and tokens are of all; data is the newest 200 of them" });

const side = z.object({
  turn_id: id("trn").nullable().openapi({ description: "Null: the next request" }),
  call: z.int().nullable(),
  seq: z.int(),
  model: z.string(),
  epoch: z.int(),
  tokens: z.number().openapi({ description: "Estimated; so are all figures here, by one measure" }),
});

export const contextDiffView = documents<ContextDiff>()(
  z
    .object({
      from: side,
      to: side,
      changed: z.object({ model: z.boolean(), policy: z.boolean(), system: z.boolean(), tools: z.boolean(), pins: z.boolean() }),
      prefix: z.object({ messages: z.int(), tokens: z.number() }).openapi({
        description: "How far both begin alike: what a provider's cache of the first could serve the second, if the model is the same",
      }),
      both: z.object({ count: z.int(), tokens: z.number() }).openapi({ description: "Messages shown alike in both" }),
      left: listed(diffItem),
      came: listed(diffItem),
      less: listed(changedItem),
      more: listed(changedItem),
      summaries: z.object({ left: listed(diffOverlay), came: listed(diffOverlay) }),
      epochs: z
        .array(
          z.object({
            seq: z.int(),
            at: time,
            epoch: z.int(),
            trigger: z.enum(COMPACTION_TRIGGERS),
            compaction: id("cmp").nullable(),
          }),
        )
        .readonly()
        .openapi({ description: "Changes of the view between the two, the newest 200" }),
    })
    .openapi("ContextDiff"),
);
