import { z } from "@hono/zod-openapi";
import type { SessionSummary } from "../../app/read-api";
import type { OpenInput, PatchInput } from "../../app/session-api";
import type { ErasureReceipt, SessionDescription } from "../../app/session-views";
import type { TenantSettings } from "../../app/tenant-api";
import { findPolicyFault, type PolicyFault } from "../../context/policy-check";
import { chainChoices, type PolicyChoice, parseLevel, parsePolicyText, toPolicyText } from "../../context/policy-choice";
import { breakerView } from "../../contract/compaction";
import { id, idOrNull, time } from "../../contract/ids";
import { turnFailure, turnStatus, usageSums } from "../../contract/model-call";
import { tokenFigure } from "../../contract/tokens";
import { toolCallView, toolDefinition } from "../../contract/tool";
import type { ToolDefinition } from "../../domain/message";
import { defined, documents } from "./documents";
import { modelName } from "./model";
import { policyChoiceInput, policyChoiceView, policyView } from "./policy";
import { toolsInput } from "./tool";

const MAX_TITLE = 200;
const MAX_METADATA = 16;

const metadataInput = z
  .record(z.string().min(1).max(64), z.string().max(512))
  .refine((metadata) => Object.keys(metadata).length <= MAX_METADATA, `at most ${MAX_METADATA} entries`)
  .openapi({ description: `At most ${MAX_METADATA} entries; names of 64, values of 512 characters` });

const fields = {
  model: modelName.optional(),
  policy: policyChoiceInput.optional(),
  system: z.string().min(1).nullable().optional(),
  tools: toolsInput.nullable().optional(),
  title: z.string().min(1).max(MAX_TITLE).nullable().optional(),
  metadata: metadataInput.optional(),
};

export const createInput = z.strictObject(fields).openapi("CreateSession");
export const patchInput = z.strictObject({ ...fields, policy: policyChoiceInput.nullable().optional() }).openapi("PatchSession");

/** The defaults of a session whose request names nothing. */
interface SessionDefaults extends TenantSettings {
  readonly deploymentPolicy: PolicyChoice;
}

/** What the request leaves out comes from the tenant's settings, and what those leave out comes from the deployment. */
export function toOpenInput(
  input: z.infer<typeof createInput>,
  { tools, ...defaults }: SessionDefaults & { readonly tools: readonly ToolDefinition[] | null },
): OpenInput {
  return {
    model: input.model ?? defaults.default_model,
    policy: toPolicyText(chainChoices(defaults.deploymentPolicy, parseLevel(defaults.default_policy), input.policy)),
    system: input.system ?? null,
    tools,
    title: input.title ?? null,
    metadata: input.metadata ?? {},
  };
}

/**
 * A contradiction in the policy, at the parameter that the client named. Null when the client named no policy: a fault of
 * the levels above is not the client's.
 */
export function faultOfPolicy(whole: string, named: PolicyChoice | undefined): PolicyFault | null {
  const fault = named === undefined ? null : findPolicyFault(parsePolicyText(whole), named);
  return fault && { ...fault, field: `policy.${fault.field}` };
}

/** `policy` is what the request names, or what its null stands for. `tools` are the definitions that were found. */
export function toPatchInput(
  { tools: named, ...rest }: z.infer<typeof patchInput>,
  { policy, tools }: { readonly policy: PolicyChoice | undefined; readonly tools: readonly ToolDefinition[] | null },
): PatchInput {
  return defined({ ...rest, policy, ...(named !== undefined && { tools }) });
}

export const sessionView = documents<SessionDescription>()(
  z
    .object({
      id: id("ses"),
      model: z.string(),
      policy: policyChoiceView,
      effective_policy: policyView,
      system: z.string().nullable(),
      tools: z.array(toolDefinition).readonly(),
      pins: z.array(z.string()).readonly().openapi({ description: "Texts that every request to the model repeats" }),
      title: z.string().nullable(),
      metadata: z.record(z.string(), z.string()).readonly(),
      created_at: time,
      updated_at: time,
      message_count: z.int(),
      epoch: z.int(),
      branch: z.int().openapi({ description: "The branch that goes on" }),
      branches: z.int(),
      forked_from: z.object({ session: id("ses"), at: z.int() }).nullable(),
      compacted_summary: z.string().nullable(),
      compact_boundary_timestamp: z.int().nullable(),
      context_window: z.int().nullable(),
      current_context_tokens: tokenFigure,
      total_tokens: z.number().openapi({
        description: "What all calls read and wrote together: a billing total; how full the window is, current_context_tokens says",
      }),
      usage: usageSums,
      breaker: breakerView,
      turn: z
        .object({
          id: id("trn"),
          phase: z.enum(["generating", "running_tools", "awaiting_tools"]),
          open_calls: z.array(toolCallView).readonly(),
        })
        .nullable(),
      last_turn: z.object({ id: id("trn"), status: turnStatus, failure: turnFailure.nullable() }).nullable(),
      queued: z.array(z.object({ message_id: id("msg"), turn_id: idOrNull("trn") })).readonly(),
      stream_offset: z.int().openapi({ description: "Offset of the newest frame of the live stream" }),
    })
    .openapi("Session"),
);

export const summaryView = documents<SessionSummary>()(
  z
    .object({
      id: id("ses"),
      title: z.string().nullable(),
      model: z.string(),
      message_count: z.int(),
      last_message_preview: z.string().nullable(),
      created_at: time,
      updated_at: time,
      compacted: z.boolean(),
    })
    .openapi("SessionSummary"),
);

export const erasureView = documents<ErasureReceipt>()(
  z
    .object({
      session: id("ses"),
      erased_at: time,
      stores: z
        .array(
          z.object({
            store: z.string().openapi({ description: "session, read_model, directory" }),
            status: z.enum(["erased", "pending"]),
            rows: z.int().nullable(),
          }),
        )
        .readonly(),
    })
    .openapi("ErasureReceipt"),
);
