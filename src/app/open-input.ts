/** What a session is opened with: what is asked for, over the settings of its tenant, over those of the deployment. */
import type { GenerationChoice } from "../context/generation";
import { chainChoices, type PolicyChoice, parseLevel, toPolicyText } from "../context/policy-choice";
import type { ToolDefinition } from "../domain/message";
import type { OpenInput } from "./session-api";
import type { TenantSettings } from "./tenant-api";

/** A session as its client asks for it. What is absent comes from the settings. */
interface NewSession {
  readonly model?: string | undefined;
  readonly policy?: PolicyChoice | undefined;
  readonly system?: string | null | undefined;
  readonly title?: string | null | undefined;
  readonly summary_instructions?: string | null | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly generation?: GenerationChoice | undefined;
  readonly external_id?: string | null | undefined;
  readonly end_user?: string | null | undefined;
}

/** The defaults of a session whose request names nothing, and the definitions of the tools that it names. */
interface SessionDefaults extends TenantSettings {
  readonly deploymentPolicy: PolicyChoice;
  readonly tools: readonly ToolDefinition[] | null;
}

export function toOpenInput(input: NewSession, { tools, ...defaults }: SessionDefaults): OpenInput {
  return {
    model: input.model ?? defaults.default_model,
    policy: toPolicyText(chainChoices(defaults.deploymentPolicy, parseLevel(defaults.default_policy), input.policy)),
    system: input.system ?? null,
    tools,
    title: input.title ?? null,
    ...(input.summary_instructions != null && { summaryInstructions: input.summary_instructions }),
    metadata: input.metadata ?? {},
    ...(input.generation && { generation: input.generation }),
    external_id: input.external_id ?? null,
    end_user: input.end_user ?? null,
  };
}
