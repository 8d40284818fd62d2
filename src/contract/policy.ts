/** The named policies and the description of their parameters. `context/policy` defines the parameters themselves. */
import { z } from "@hono/zod-openapi";
import { policySchema } from "../context/policy";
import { policyChoiceSchema } from "../context/policy-choice";
import type { PolicyParameter } from "../context/policy-parameters";
import { POLICY_NAMES } from "../context/presets";
import { domainShape } from "./domain-shape";

export const namedPolicyView = z.object({ name: z.enum(POLICY_NAMES), purpose: z.string(), policy: policySchema }).openapi("Policy");

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
  data: z.array(namedPolicyView).readonly(),
  has_more: z.boolean(),
  next_cursor: z.string().nullable(),
  parameters: z.array(parameterView).readonly(),
  deployment: policyChoiceSchema.describe("The policy of sessions that name none and whose tenant names none"),
});
