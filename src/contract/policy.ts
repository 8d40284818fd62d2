/** The named policies and the description of their parameters. `context/policy` defines the parameters themselves. */
import { z } from "@hono/zod-openapi";
import { policySchema } from "../context/policy";
import { policyChoiceSchema } from "../context/policy-choice";
import type { PolicyParameter } from "../context/policy-parameters";
import { POLICY_NAMES } from "../context/presets";
import { domainShape } from "./domain-shape";

const shownName = z.object({
  name: z.enum(POLICY_NAMES),
  kind: z.enum(["profile", "preset"]).openapi({
    description:
      "`profile`: one of Longhand's own four. `preset`: the rules of an earlier system, for comparison and for sessions that rely on them",
  }),
  purpose: z.string().openapi({ description: "What it is for, in one line" }),
  compacts: z.string().openapi({ description: "When it compacts, in one sentence" }),
  keeps: z.string().openapi({ description: "What stays verbatim, in one sentence" }),
  figures: z.string().openapi({ description: "The page of the documentation that has its measured cost and what it keeps" }),
});

export const namedPolicyView = shownName.extend({ policy: policySchema.describe("All its values") }).openapi("Policy");
export type NamedPolicy = z.infer<typeof namedPolicyView>;

const listedPolicyView = shownName
  .extend({ policy: policySchema.optional().openapi({ description: "All its values. Only with `include=parameters`" }) })
  .openapi("ListedPolicy");

const parameterView = domainShape<PolicyParameter>()(
  z
    .object({
      path: z.string().openapi({ example: "keep.ratio" }),
      types: z.array(z.string()).readonly(),
      minimum: z.number().nullable(),
      maximum: z.number().nullable(),
      values: z.array(z.string()).readonly().nullable().openapi({ description: "The allowed values. Null if they cannot be listed" }),
      description: z.string(),
    })
    .openapi("PolicyParameter"),
);

export const policyListView = z.object({
  data: z.array(listedPolicyView).readonly(),
  has_more: z.boolean(),
  next_cursor: z.string().nullable(),
  parameters: z
    .array(parameterView)
    .readonly()
    .optional()
    .openapi({ description: "Every parameter with its bounds and its meaning. Only with `include=parameters`" }),
  deployment: policyChoiceSchema.describe("The policy of sessions that name none and whose tenant names none"),
});
