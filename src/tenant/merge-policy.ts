/** Merges a tenant's default policy: new values replace earlier ones, and both override the deployment's. */
import type { TenantOutcome } from "../app/tenant-api";
import { findPolicyFault } from "../context/policy-check";
import { chainChoices, mergeChoices, type PolicyChoice, parseLevel, toPolicyText } from "../context/policy-choice";
import { err, ok } from "../lib/result";

interface PolicyLevels {
  /** The tenant's stored choice. Empty: none. */
  readonly present: string;
  readonly deployment: PolicyChoice;
}

/**
 * The text to store. It leaves out the deployment's own choice, so that a new deployment default reaches this tenant.
 * `named` null removes the tenant's choice.
 */
export function mergePolicy(named: PolicyChoice | null, { present, deployment }: PolicyLevels): TenantOutcome<string> {
  if (named === null) return ok("");
  const before = parseLevel(present);
  const choice = before === null ? named : mergeChoices(before, named);
  const fault = findPolicyFault(chainChoices(deployment, choice), named);
  if (fault) return err({ code: "invalid", field: `default_policy.${fault.field}`, detail: fault.detail });
  return ok(toPolicyText(choice));
}
