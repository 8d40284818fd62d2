/**
 * The events of an import, down to their last field. A session's own rows are read with `event-shapes` alone, which looks at the first level:
 * this build wrote them. An export's file is written by anyone.
 *
 * One file, because the events share their parts, and the union at the end is compared with that of `domain/events`.
 */
import { z } from "@hono/zod-openapi";
import { MODEL_NAME, MODEL_NAME_RULE } from "../context/model-input";
import { isPolicyText } from "../context/policy-choice";
import {
  COMPACTION_TRIGGERS,
  type CompactionOptions,
  type EpochOp,
  type Overlay,
  type Reduced,
  type SummaryPlan,
} from "../domain/compaction-events";
import type { BranchLine, Event, QueuedMessage, SessionSettings, TurnFailure } from "../domain/events";
import type { BodyId } from "../domain/ids";
import { type ItemMeta, MAX_CALL_ID_UNITS, MAX_TOOL_NAME_UNITS, type NewItem, type TextRef } from "../domain/message";
import { CALL_PURPOSES, FAILURE_KINDS } from "../domain/model-call";
import type { Receipt } from "../domain/receipt";
import { MAX_ARTIFACTS, TOOL_FAILURES } from "../domain/tool-run";
import { findCronFault, isTimezone } from "../lib/cron";
import { domainShape } from "./domain-shape";
import { id, idOrNull, MAX_TIME } from "./ids";
import { clientId, itemKind } from "./item";
import { SCHEDULE_NAME, SCHEDULE_NAME_RULE } from "./schedule";

const time = z.int().min(0).max(MAX_TIME);
/** No session comes near. A sum of a million of them is still exact. */
const MAX_COUNT = 1_000_000_000;
const count = z.int().min(0).max(MAX_COUNT);
const place = z.int().min(1).max(MAX_COUNT);
const weight = z.number().min(0).max(MAX_COUNT);
const figure = z.number().min(-MAX_COUNT).max(MAX_COUNT);
const yes = z.literal(true);
/** A name that the backend, a provider or a platform gave. */
const name = z.string().max(512);
const bodyId = z
  .string()
  .regex(/^(?:bod|msg|ovl)_[0-7][0-9A-HJKMNP-TV-Z]{25}$/, "must be the id of a text")
  .transform((text): BodyId => text as BodyId);

const textFields = { body: bodyId, bytes: count, tokens: weight };
const textRef = domainShape<TextRef>()(z.strictObject(textFields));
const textOrNull = textRef.nullable();
const range = z.strictObject({ from: place, to: place }).refine(({ from, to }) => from <= to, "from must not be beyond to");
const ranges = z.array(range).readonly();
const summaryMode = z.enum(["transcript", "same_prefix"]);
const trigger = z.enum(COMPACTION_TRIGGERS);
const finishReasons = ["stop", "length", "tool_calls", "content_filter", "other"] as const;
const turnFailureKinds = [
  ...FAILURE_KINDS,
  ...(["cannot_fit", "round_limit", "no_progress", "budget", "suspended", "storage_full", "unknown_model", "crashed", "internal"] as const),
] as const;
const stopReason = z.enum(["requested", "interrupted_by_message", "superseded", "tools_expired"]);

const model = z.string().regex(MODEL_NAME, MODEL_NAME_RULE);
const policy = z.string().max(100_000).refine(isPolicyText, "must be a policy in its stored form");
const settingFields = {
  model,
  policy,
  system: textOrNull,
  tools: textOrNull,
  title: textOrNull,
  metadata: textOrNull,
  external_id: textOrNull.optional(),
  end_user: textOrNull.optional(),
  recall: z.boolean().optional(),
  recall_names_session: yes.optional(),
  summary_instructions: textOrNull.optional(),
  policy_instructions: textOrNull.optional(),
  generation: textOrNull.optional(),
  throwaway: yes.optional(),
};
const settings = domainShape<SessionSettings>()(z.strictObject(settingFields));
const changes = domainShape<Partial<SessionSettings>>()(z.strictObject(settingFields).partial());

const toolRef = z.strictObject({
  execution: id("exe"),
  call_id: z.string().max(MAX_CALL_ID_UNITS),
  name: z.string().max(MAX_TOOL_NAME_UNITS),
  is_error: z.boolean().optional(),
});
const attached = z.strictObject({
  type: z.enum(["image", "file"]),
  media_type: name,
  scheme: name.nullable(),
  words: weight,
  file: z.strictObject({ id: id("fil"), bytes: count, tokens: weight }).optional(),
});
const itemFields = {
  id: id("msg"),
  kind: itemKind,
  turn: idOrNull("trn"),
  at: time,
  bytes: count,
  tokens: weight,
  rough: weight.optional(),
  media: count.optional(),
  attached: z.array(attached).readonly().optional(),
  tool: toolRef.optional(),
  signed: z.strictObject({ model: name, tokens: weight }).optional(),
  incomplete: yes.optional(),
  said_at: time.optional(),
  client_id: clientId.optional(),
  continues: yes.optional(),
  redacted: yes.optional(),
  expired: yes.optional(),
};
const isOfTool = ({ kind, tool }: { readonly kind: string; readonly tool?: unknown }): boolean =>
  (kind === "tool_call" || kind === "tool_result") === (tool !== undefined);
const TOOL_RULE = { path: ["tool"], message: "belongs to calls and results, and to all of them" };
const newItem = domainShape<NewItem>()(z.strictObject(itemFields).refine(isOfTool, TOOL_RULE));
const item = domainShape<ItemMeta>()(z.strictObject({ ...itemFields, position: place }).refine(isOfTool, TOOL_RULE));
const items = z.array(item).readonly();

const choiceFields = {
  generation: textRef.optional(),
  model: model.optional(),
  system: textRef.optional(),
  note: textRef.optional(),
  key: id("key").optional(),
  whole: yes.optional(),
};
const queued = domainShape<QueuedMessage>()(
  z.strictObject({
    item: newItem,
    rest: z.array(newItem).readonly(),
    turn: idOrNull("trn"),
    tools: textOrNull,
    interrupts: yes.optional(),
    ...choiceFields,
  }),
);

const byteFit = z.strictObject({ floor: count, limit: count });
const failure = domainShape<TurnFailure>()(
  z.strictObject({
    kind: z.enum(turnFailureKinds),
    status: z.int().min(0).max(999).nullable(),
    fit: z
      .strictObject({
        floor: weight,
        limit: weight,
        biggest: z.array(z.strictObject({ what: name, tokens: weight, bytes: weight.optional() })).readonly(),
        bytes: byteFit.optional(),
      })
      .optional(),
    bytes: byteFit.optional(),
    limit: weight.optional(),
    retry_after_ms: z.number().min(0).optional(),
    reported: z.strictObject({ code: name.optional(), type: name.optional(), param: name.optional() }).optional(),
  }),
);

const reduction = { position: place, tokens: weight };
const reductions = z.array(z.strictObject(reduction)).readonly();
const reduced = domainShape<Reduced>()(
  z.discriminatedUnion("how", [
    z.strictObject({ ...reduction, how: z.enum(["cleared", "evicted"]) }),
    z.strictObject({ ...reduction, how: z.literal("shortened"), chars: count }),
  ]),
);
const covers = { from: place, to: place, items: count };
const overlayFields = { ...covers, id: id("ovl"), tokens: weight };
const overlay = domainShape<Overlay>()(
  z
    .discriminatedUnion("kind", [
      z.strictObject({ ...overlayFields, kind: z.literal("summary"), boundary_timestamp: time, generation: count }),
      z.strictObject({ ...overlayFields, kind: z.literal("dropped") }),
    ])
    .refine(({ from, to }) => from <= to, "from must not be beyond to"),
);
const overlays = z.array(overlay).readonly();
const overlayIds = z.array(id("ovl")).readonly();
const positions = z.array(place).readonly();

const restored = { overlays, items, reduced: z.array(reduced).readonly(), to: z.int().min(0).max(MAX_COUNT) };
const epochOp = domainShape<EpochOp>()(
  z.discriminatedUnion("op", [
    z.strictObject({
      ...covers,
      op: z.literal("summarize"),
      overlay: id("ovl"),
      replaces: overlayIds,
      keeps: positions,
      tokens: weight,
      bytes: count,
      boundary_timestamp: time,
      generation: count,
      mode: summaryMode.nullable(),
      read: z.strictObject({ ranges, overlays: overlayIds }),
    }),
    z.strictObject({ ...covers, op: z.literal("drop"), overlay: id("ovl"), replaces: overlayIds }),
    z.strictObject({ op: z.literal("clear_results"), items: reductions }),
    z.strictObject({ op: z.literal("shorten"), items: reductions, chars: count }),
    z.strictObject({ op: z.literal("evict_media"), items: reductions }),
    z.strictObject({ ...restored, op: z.literal("revert"), compaction: id("cmp") }),
    z.strictObject({ ...restored, op: z.literal("reset") }),
  ]),
);

const lastTurn = z.strictObject({
  id: id("trn"),
  status: z.enum(["completed", "failed", "stopped", "interrupted"]),
  failure: failure.nullable(),
  stop_reason: stopReason.nullable(),
  tools: textOrNull,
  ...choiceFields,
});
const line = domainShape<BranchLine>()(
  z.strictObject({
    branch: place,
    elsewhere: ranges,
    taken_back: ranges,
    messages: count,
    last_turn: lastTurn.nullable(),
    overlays,
    reduced: z.array(reduced).readonly(),
    keeps: ranges,
    continues: z.boolean(),
  }),
);

const usage = z.strictObject({ input: weight, output: weight, cached: weight, reasoning: weight, cache_write: weight.optional() });
const money = z.number().min(0).max(MAX_COUNT);
const asked = z.strictObject({
  seq: count,
  at: time,
  max_output: weight.nullable(),
  model: z.strictObject({
    provider: name,
    upstream_id: name,
    base_url: z.string().max(2_048).nullable(),
    source: z.enum(["deployment", "tenant"]),
    context_window: weight.nullable(),
    max_output: weight,
    capabilities: z.strictObject({ tools: z.boolean(), images: z.boolean(), files: z.boolean(), reasoning: z.boolean() }).optional(),
    quirks: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  }),
  left_out: z.array(name).readonly().optional(),
  plain: yes.optional(),
});

const options = domainShape<CompactionOptions>()(
  z.strictObject({
    keep_recent: weight.nullable(),
    up_to: count.nullable(),
    instructions: textOrNull,
    draft: yes.optional(),
    rebuild: yes.optional(),
    model: model.optional(),
    policy: policy.optional(),
    policy_instructions: textOrNull.optional(),
  }),
);
const planFields = {
  range,
  source: range,
  reread_from: place.optional(),
  replaces: overlayIds,
  keeps: positions,
  merge: z.boolean(),
  generation: count,
  split: place.nullable(),
  mode: summaryMode,
  instructions: textRef.optional(),
  instructions_left_out: yes.optional(),
};
domainShape<SummaryPlan>()(z.strictObject(planFields));
const chunkProgress = z.strictObject({
  summary: textRef,
  stage: z.enum(["history", "prefix"]),
  history: textOrNull,
  position: count,
  chars: count,
  parts: count,
});
const certainty = z.strictObject({ source: z.enum(["reported", "estimated", "mixed"]), error_bound: weight });
const receipt = domainShape<Receipt>()(
  z.strictObject({
    tokens_before: weight,
    tokens_after: weight,
    measured: z.strictObject({ before: certainty, after: certainty }),
    items_before: count,
    items_after: count,
    model: name.nullable(),
    usage: usage.nullable(),
    ms: z.number().min(0),
    cost: money.nullable(),
    economy: z.strictObject({ read_cost_before: figure, read_cost_after: figure, price: figure, cache_kept: figure }),
    rungs: z.array(z.strictObject({ rung: name, gain: figure, reason: name })).readonly(),
    mode: summaryMode.nullable(),
    attempts: count,
    breaker_open: z.boolean(),
    dropped_items: count,
    summary_instructions: z.enum(["applied", "left_out"]).optional(),
    redacted: count.optional(),
    edited: z.strictObject({ by: id("key"), at: time }).optional(),
  }),
);

const [turn, compaction, execution, token, incarnation, epoch] = [id("trn"), id("cmp"), id("exe"), place, name, count];
const key = id("key").optional();
const event = <T extends Event["type"], F extends z.ZodRawShape>(type: T, fields: F) =>
  z.strictObject({ type: z.literal(type), ...fields });
const compactionFailures = [
  ...FAILURE_KINDS,
  ...(["empty", "cut_off", "too_long", "not_smaller", "sections_missing", "lease_expired", "unknown_model"] as const),
  ...(["nothing_to_do", "budget", "superseded", "discarded", "internal"] as const),
] as const;
const cause = z.literal("retention").optional();
const ranTool = z.strictObject({
  ms: z.number().min(0).nullable(),
  exit_code: z.int().nullable(),
  failure: z.enum(TOOL_FAILURES).nullable(),
  artifacts: z
    .array(z.strictObject({ type: name, body: bodyId, bytes: count }))
    .max(MAX_ARTIFACTS)
    .readonly(),
  read: ranges.optional(),
});
const scheduleName = name.regex(SCHEDULE_NAME, SCHEDULE_NAME_RULE);
const cron = z
  .string()
  .max(128)
  .refine((text) => findCronFault(text, 0) === null, "must be five fields of a cron expression");
const timezone = z.string().max(64).refine(isTimezone, "must be a time zone of the IANA database");
const scheduleTime = z.union([z.strictObject({ cron, timezone }), z.strictObject({ at: time })]);
const skipped = z.enum(["busy", "limit", "budget", "suspended", "message_limit", "storage_full", "unavailable", "refused"]);

/** By type. An event of a type that is missing here does not compile. */
export const storedEvent = domainShape<Event>()(
  z.discriminatedUnion("type", [
    event("SessionOpened", { tenant_id: id("ten"), session: id("ses"), settings }),
    event("SettingsChanged", { changes }),
    event("PinsSet", { pins: z.array(z.strictObject({ ...textFields, from: positions.optional() })).readonly() }),
    event("SessionForked", {
      from: id("ses"),
      position: count,
      view: z
        .strictObject({
          overlays,
          reduced: z.array(reduced).readonly(),
          reads: z.array(z.strictObject({ overlay: id("ovl"), ranges })).readonly(),
          title_read_to: place.optional(),
        })
        .optional(),
      line: z.strictObject({ elsewhere: ranges, shown: ranges, seq: count.optional() }).optional(),
    }),
    event("ForkCompleted", {}),
    event("SessionArchived", { cause }),
    event("SessionUnarchived", {}),
    event("SessionErased", { cause }),
    event("MessagesAppended", { items, dequeued: z.array(id("msg")).readonly(), aside: yes.optional() }),
    event("MessageQueued", { message: queued, front: z.boolean() }),
    event("QueuedMessageCancelled", { message: id("msg"), turn: idOrNull("trn") }),
    event("MessageRedacted", { item: id("msg"), position: place, texts: overlayIds, tokens: weight, cause }),
    event("HistoryRewound", { to: count, items, line }),
    event("BranchSwitched", { items, line }),
    event("TurnStarted", {
      ...{ turn, incarnation, attempt: place, item: item.nullable(), tools: textOrNull, retry_of: idOrNull("trn") },
      ...choiceFields,
    }),
    event("ModelCallFinished", {
      turn: idOrNull("trn"),
      purpose: z.enum(CALL_PURPOSES),
      model: name,
      epoch,
      up_to: count,
      usage: usage.nullable(),
      estimate: weight,
      request_digest: name.nullable(),
      outcome: z.enum([...finishReasons, ...turnFailureKinds, "stale"]),
      ms: z.number().min(0).max(MAX_TIME),
      rent: figure.optional(),
      lease: place.nullable(),
      ratio: z.number().positive().max(1_000).optional(),
      cost: money.optional(),
      asked: asked.optional(),
      key,
      end_user: bodyId.optional(),
      reservation: z.strictObject({ id: z.int(), free: yes.optional() }).optional(),
    }),
    event("AssistantReplied", { turn, item }),
    event("ToolCalled", { turn, item, server: yes.optional(), cut: yes.optional() }),
    event("ToolStarted", { turn, execution, incarnation }),
    event("ToolResultRecorded", { turn, item, incarnation, ran: ranTool.optional() }),
    event("ApprovalRequested", { turn, execution }),
    event("ApprovalResolved", { turn, execution, approved: z.boolean(), incarnation }),
    event("TurnCompleted", { turn, finish: z.enum(finishReasons) }),
    event("TurnFailed", { turn, failure }),
    event("TurnStopped", { turn, reason: stopReason }),
    event("TurnInterrupted", { turn }),
    event("CompactionRequested", { compaction, trigger, base_epoch: epoch, options: options.optional(), key }),
    event("CompactionProgressed", { compaction, token, expires_at: time, part: chunkProgress }),
    event("CompactionStarted", {
      ...{ compaction, token, attempt: place, expires_at: time, base_epoch: epoch },
      inline: z.strictObject({ trigger, incarnation }).optional(),
      ...planFields,
    }),
    event("CompactionFailed", {
      compaction,
      token: token.nullable(),
      attempt: count,
      failure: z.enum(compactionFailures),
      final: z.boolean(),
    }),
    event("EpochChanged", {
      ...{ base_epoch: epoch, epoch, trigger, compaction: idOrNull("cmp") },
      ...{ ops: z.array(epochOp).readonly(), receipt },
    }),
    event("CompactionDrafted", { compaction, token, overlay: id("ovl"), summary: textRef }),
    event("DraftEdited", { compaction, summary: textRef, by: id("key") }),
    event("ScheduleSet", { name: scheduleName, message: textRef, next_at: time, time: scheduleTime, key }),
    event("ScheduleRan", {
      name: scheduleName,
      due_at: time,
      turn: idOrNull("trn"),
      skipped: skipped.nullable(),
      next_at: time.nullable(),
    }),
    event("ScheduleRemoved", { name: scheduleName }),
  ]),
);
