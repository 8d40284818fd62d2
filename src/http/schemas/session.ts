import { z } from "@hono/zod-openapi";
import { SESSION_ORDERS, type SessionFilter } from "../../app/read-api";
import type { PatchInput } from "../../app/session-api";
import { instructionsText } from "../../context/policy";
import { findPolicyFault, type PolicyFault } from "../../context/policy-check";
import { type PolicyChoice, parsePolicyText, policyChoiceSchema } from "../../context/policy-choice";
import { endUser, externalId, sessionTitle } from "../../contract/label";
import type { ToolDefinition } from "../../domain/message";
import { defined } from "./defined";
import { generationInput, turnChoices } from "./generation";
import { modelName } from "./model";
import { limitQuery } from "./page";
import { toolsInput } from "./tool";
import { instant, moment } from "./usage";

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
  title: sessionTitle.nullable().optional(),
  summary_instructions: instructionsText.nullable().optional().openapi({
    description:
      "What each summary should pay attention to and how to word it, at most 4,000 characters. It is added to the summariser's rules, which stay in force, and takes precedence over summary.instructions of the policy",
  }),
  metadata: metadataInput.optional(),
  generation: generationInput.optional(),
  end_user: endUser.nullable().optional(),
};

export const createInput = z.strictObject({ ...fields, external_id: externalId.nullable().optional() }).openapi("CreateSession");
export type CreateBody = z.infer<typeof createInput>;
/** The external id is in the path. */
export const putInput = z.strictObject(fields).openapi("PutSession");
export const patchInput = z
  .strictObject({
    ...fields,
    policy: policyChoiceSchema.nullable().optional(),
    generation: turnChoices.generation.openapi({ description: "Each field that is named changes; null clears all of them" }),
  })
  .openapi("PatchSession");

/** Metadata in a query: `metadata[colour]=red`, once an entry. */
const METADATA_FIELD = /^metadata\[(.*)\]$/su;

export const archivedQuery = z
  .enum(["true", "false", "any"])
  .openapi({ description: "`false`: without archived sessions; `true`: only these; `any`: both" });

const bound = (description: string) => moment.optional().openapi({ ...instant, description });

const listFields = z.looseObject({
  ...limitQuery,
  after: z.string().min(1).max(512).optional().openapi({ description: "next_cursor of the page before, with the same order" }),
  order_by: z.enum(SESSION_ORDERS).default("updated_at").openapi({ description: "The time by which the sessions are ordered" }),
  order: z.enum(["asc", "desc"]).default("desc").openapi({ description: "`desc`: the latest first" }),
  archived: archivedQuery.default("false"),
  external_id: externalId.optional(),
  end_user: endUser.optional(),
  metadata: metadataInput.optional().openapi({
    description: "Only sessions with these entries: `metadata[colour]=red`",
    param: { style: "deepObject", explode: true },
  }),
  created_after: bound("Only sessions that were created after this moment: epoch milliseconds, or a day, which stands for its beginning"),
  created_before: bound("Only sessions that were created before this moment"),
  updated_after: bound("Only sessions that changed after this moment"),
  updated_before: bound("Only sessions that did not change since this moment"),
});

export const listQuery = listFields.transform(({ metadata: _, ...query }, context) => {
  const fields = Object.entries(query).filter(([name]) => !(name in listFields.shape));
  const entries = fields.flatMap(([name, value]) => {
    const entry = METADATA_FIELD.exec(name)?.[1];
    return entry === undefined ? [] : [[entry, value] as const];
  });
  const keys = fields.map(([name]) => name).filter((name) => !METADATA_FIELD.test(name));
  if (keys.length > 0) context.issues.push({ code: "unrecognized_keys", keys, input: query });
  const metadata = metadataInput.safeParse(Object.fromEntries(entries));
  if (metadata.success) return { ...query, metadata: metadata.data };
  for (const { message, path } of metadata.error.issues) context.addIssue({ code: "custom", message, path: ["metadata", ...path] });
  return z.NEVER;
});

type Selecting = { readonly archived?: z.infer<typeof archivedQuery> | undefined } & {
  readonly [F in SelectingField]?: z.infer<typeof listQuery>[F] | undefined;
};
type SelectingField = "external_id" | "end_user" | "metadata" | "created_after" | "created_before" | "updated_after" | "updated_before";

export const toFilter = (asked: Selecting): SessionFilter => ({
  externalId: asked.external_id ?? null,
  endUser: asked.end_user ?? null,
  metadata: asked.metadata ?? {},
  createdAfter: asked.created_after ?? null,
  createdBefore: asked.created_before ?? null,
  updatedAfter: asked.updated_after ?? null,
  updatedBefore: asked.updated_before ?? null,
  archived: asked.archived === undefined || asked.archived === "any" ? null : asked.archived === "true",
});

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
