/**
 * Policies as clients choose them and as they are shown. The parameters are those of `context/policy` and are not repeated
 * here.
 */
import { z } from "@hono/zod-openapi";
import { policySchema } from "../../context/policy";
import { policyChoiceSchema } from "../../context/policy-choice";
import { type PolicyParameter, policyParameters } from "../../context/policy-parameters";
import { POLICY_NAMES, type PolicyName, presets, purposes } from "../../context/presets";
import { documents } from "./documents";

export const policyChoiceInput = policyChoiceSchema;
/** The choice: a preset's name, or an object with the values that differ. */
export const policyChoiceView = policyChoiceSchema;
/** All values of a policy. */
export const policyView = policySchema;

export const namedPolicyView = z
  .object({
    name: z.enum(POLICY_NAMES),
    purpose: z.string(),
    policy: policyView,
  })
  .openapi("Policy");

const parameterView = documents<PolicyParameter>()(
  z
    .object({
      path: z.string().openapi({ example: "keep.ratio" }),
      types: z.array(z.string()).readonly(),
      minimum: z.number().nullable(),
      maximum: z.number().nullable(),
      values: z.array(z.string()).readonly().nullable().openapi({ description: "The only ones there are" }),
      description: z.string(),
    })
    .openapi("PolicyParameter"),
);

export const policyListView = z.object({
  data: z.array(namedPolicyView).readonly(),
  has_more: z.boolean(),
  next_cursor: z.string().nullable(),
  parameters: z.array(parameterView).readonly(),
  deployment: policyChoiceView.describe("What a session gets whose tenant and client name none"),
});

export const toNamedPolicy = (name: PolicyName) => ({ name, purpose: purposes[name], policy: presets[name] });

export const allPolicies = () => ({ data: POLICY_NAMES.map(toNamedPolicy), parameters: policyParameters() });
