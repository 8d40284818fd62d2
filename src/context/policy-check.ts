/** Checks what a policy's schema cannot express: values that are each valid and together make no sense. */
import "../lib/plain-issues";
import { err, ok, type Result } from "../lib/result";
import type { Policy } from "./policy";
import { type PolicyChoice, policyChoiceSchema, resolvePolicy } from "./policy-choice";

/** `field`: the parameter's path in the policy, such as `keep.ratio`. */
export interface PolicyFault {
  readonly field: string;
  readonly detail: string;
}

interface Rule {
  /** The parameters that contradict each other, the most likely culprit first. */
  readonly fields: readonly string[];
  readonly broken: (policy: Policy) => boolean;
  readonly detail: string;
}

const lowestBound = ({ trigger }: Policy): number => Math.min(trigger.window_ratio ?? 1, trigger.usable_ratio ?? 1);

const rules: readonly Rule[] = [
  {
    fields: ["keep.ratio", "trigger.window_ratio", "trigger.usable_ratio"],
    broken: (policy) => policy.keep.ratio >= lowestBound(policy),
    detail: "what stays verbatim (keep.ratio) must be less than what starts a compaction (trigger.window_ratio, trigger.usable_ratio)",
  },
  {
    fields: ["summary.chain_ratio", "keep.ratio", "trigger.window_ratio", "trigger.usable_ratio"],
    broken: (policy) => policy.summary.chain_ratio !== null && policy.keep.ratio + policy.summary.chain_ratio >= lowestBound(policy),
    detail: "summaries and what stays verbatim (summary.chain_ratio, keep.ratio) must together be less than what starts a compaction",
  },
  {
    fields: ["keep.min_tokens", "keep.max_tokens"],
    broken: ({ keep }) => keep.max_tokens !== null && keep.min_tokens > keep.max_tokens,
    detail: "keep.min_tokens must not exceed keep.max_tokens",
  },
  {
    fields: ["results.preview_chars", "results.max_chars"],
    broken: ({ results }) => results.preview_beyond !== null && 2 * results.preview_chars >= results.max_chars,
    detail: "both ends of a preview (twice results.preview_chars) must be shorter than a result (results.max_chars)",
  },
];

/**
 * The first contradiction in the policy that `choice` resolves to, reported at a parameter that `named` (what the
 * client wrote) contains. Null when there is none.
 */
export function findPolicyFault(choice: PolicyChoice, named: PolicyChoice = choice): PolicyFault | null {
  const policy = resolvePolicy(choice);
  const rule = rules.find(({ broken }) => broken(policy));
  const [first] = rule?.fields ?? [];
  if (!rule || first === undefined) return null;
  return { field: rule.fields.find((field) => names(named, field)) ?? first, detail: rule.detail };
}

function names(choice: PolicyChoice, field: string): boolean {
  let at: unknown = choice;
  for (const key of field.split(".")) at = typeof at === "object" && at !== null ? Reflect.get(at, key) : undefined;
  return at !== undefined;
}

/** Parses a choice as a deployment's configuration writes it: a preset's name, or JSON. The error names the parameter. */
export function parsePolicyConfig(text: string): Result<PolicyChoice, string> {
  const [name, changes] = policyChoiceSchema.options;
  const isJson = text.trimStart().startsWith("{");
  const value = isJson ? parseJson(text) : text;
  if (value === undefined) return err("not JSON");
  const parsed = (isJson ? changes : name).safeParse(value);
  if (!parsed.success) return err(parsed.error.issues.map(({ path, message }) => `${path.join(".")} ${message}`.trim()).join("; "));
  const fault = findPolicyFault(parsed.data);
  return fault ? err(`${fault.field}: ${fault.detail}`) : ok(parsed.data);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
