import { z } from "@hono/zod-openapi";
import type { OpenInput, PatchInput } from "../../app/session-api";
import type { TenantSettings } from "../../app/tenant-api";
import { instructionsText } from "../../context/policy";
import { findPolicyFault, type PolicyFault } from "../../context/policy-check";
import {
  chainChoices,
  type PolicyChoice,
  parseLevel,
  parsePolicyText,
  policyChoiceSchema,
  toPolicyText,
} from "../../context/policy-choice";
import type { ToolDefinition } from "../../domain/message";
import { defined } from "./defined";
import { modelName } from "./model";
import { toolsInput } from "./tool";

const MAX_TITLE = 200;
const MAX_METADATA = 16;

export const metadataInput = z
  .record(z.string().min(1).max(64), z.string().max(512))
  .refine((metadata) => Object.keys(metadata).length <= MAX_METADATA, `at most ${MAX_METADATA} entries`)
  .openapi({ description: `At most ${MAX_METADATA} entries; names of 64, values of 512 characters` });

const fields = {
  model: modelName.optional(),
  policy: policyChoiceSchema.optional(),
  system: z.string().min(1).nullable().optional(),
  tools: toolsInput.nullable().optional(),
  title: z.string().min(1).max(MAX_TITLE).nullable().optional(),
  summary_instructions: instructionsText.nullable().optional().openapi({
    description:
      "What each summary should pay attention to and how to word it, at most 4,000 characters. It is added to the summariser's rules, which stay in force, and takes precedence over summary.instructions of the policy",
  }),
  metadata: metadataInput.optional(),
};

export const createInput = z.strictObject(fields).openapi("CreateSession");
export const patchInput = z.strictObject({ ...fields, policy: policyChoiceSchema.nullable().optional() }).openapi("PatchSession");

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
    ...(input.summary_instructions != null && { summaryInstructions: input.summary_instructions }),
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
  { tools: named, policy: asked, summary_instructions: summaryInstructions, ...rest }: z.infer<typeof patchInput>,
  { policy, tools }: { readonly policy: PolicyChoice | undefined; readonly tools: readonly ToolDefinition[] | null },
): PatchInput {
  const restored = asked === null && { restoresPolicy: true as const };
  return defined({ ...rest, policy, summaryInstructions, ...restored, ...(named !== undefined && { tools }) });
}
