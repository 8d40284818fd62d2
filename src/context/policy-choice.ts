/**
 * How a policy is chosen: a preset, or a preset with changes. Deployment, tenant and session may each choose; the
 * nearer level takes precedence.
 */
import { z } from "zod";
import { type Policy, policySchema } from "./policy";
import { DEFAULT_POLICY, POLICY_NAMES, type PolicyName, presets } from "./presets";

const {
  trigger,
  keep,
  results,
  summary,
  tools,
  recall,
  fallback_models,
  on_failure,
  unknown_window,
  estimator,
  guard_target_ratio,
  title_model,
} = policySchema.shape;

/** Names only what differs from the preset. */
const changes = z.strictObject({
  preset: z.enum(POLICY_NAMES).optional(),
  trigger: trigger.partial().optional(),
  keep: keep.partial().optional(),
  results: results.partial().optional(),
  summary: summary.partial().optional(),
  tools: tools.partial().optional(),
  recall: recall.optional(),
  fallback_models: fallback_models.optional(),
  on_failure: on_failure.optional(),
  unknown_window: unknown_window.optional(),
  estimator: estimator.optional(),
  guard_target_ratio: guard_target_ratio.optional(),
  title_model: title_model.optional(),
});

export const policyChoiceSchema = z.union(
  [z.enum(POLICY_NAMES), changes],
  `must be one of ${POLICY_NAMES.join(", ")}, or an object that says what differs from one`,
);
export type PolicyChoice = z.infer<typeof policyChoiceSchema>;
type PolicyChanges = z.infer<typeof changes>;

const toChanges = (choice: PolicyChoice): PolicyChanges => (typeof choice === "string" ? { preset: choice } : choice);

/**
 * Merges two levels. A preset in `nearer` replaces `farther` as a whole; without one, only the parameters that `nearer`
 * names change. Presets do not decide `title_model` and `summary.instructions`, so these stay until a level names them.
 */
export function mergeChoices(farther: PolicyChoice, nearer: PolicyChoice): PolicyChoice {
  const base = toChanges(farther);
  const over = toChanges(nearer);
  if (over.preset !== undefined) return keepUndecided(base, over) ?? nearer;
  return {
    ...base,
    ...over,
    ...(base.trigger || over.trigger ? { trigger: { ...base.trigger, ...over.trigger } } : {}),
    ...(base.keep || over.keep ? { keep: { ...base.keep, ...over.keep } } : {}),
    ...(base.results || over.results ? { results: { ...base.results, ...over.results } } : {}),
    ...(base.summary || over.summary ? { summary: { ...base.summary, ...over.summary } } : {}),
    ...(base.tools || over.tools ? { tools: { ...base.tools, ...over.tools } } : {}),
  };
}

/** `over` with what no preset decides and only `base` names. Null when there is nothing of the kind. */
function keepUndecided(base: PolicyChanges, over: PolicyChanges): PolicyChanges | null {
  const { title_model } = base;
  const instructions = base.summary?.instructions;
  const keepsTitle = title_model !== undefined && over.title_model === undefined;
  const keepsInstructions = instructions !== undefined && over.summary?.instructions === undefined;
  if (!keepsTitle && !keepsInstructions) return null;
  return { ...over, ...(keepsTitle && { title_model }), ...(keepsInstructions && { summary: { ...over.summary, instructions } }) };
}

/** Merges the choices of several levels, from the farthest to the nearest. Null: that level has no choice. */
export function chainChoices(...levels: readonly (PolicyChoice | null | undefined)[]): PolicyChoice {
  const named = levels.filter((level) => level != null);
  return named.reduce((farther, nearer) => mergeChoices(farther, nearer), DEFAULT_POLICY as PolicyChoice);
}

interface StoredPolicy {
  /** The choice without its instructions, as settings store it. */
  readonly text: string;
  readonly instructions: string | null;
}

/** Separates the instructions from the choice: they are content, and settings store them as a body. */
export function splitPolicy(choice: PolicyChoice): StoredPolicy {
  if (typeof choice === "string" || choice.summary?.instructions === undefined) return { text: toPolicyText(choice), instructions: null };
  const { summary, ...others } = choice;
  const { instructions = null, ...rules } = summary;
  const rest = Object.keys(rules).length > 0 ? { ...others, summary: rules } : others;
  return { text: toPolicyText(Object.keys(rest).length > 0 ? rest : DEFAULT_POLICY), instructions };
}

/** Joins what `splitPolicy` separated. */
export function joinPolicy({ text, instructions }: StoredPolicy): PolicyChoice {
  const choice = parsePolicyText(text);
  return instructions === null ? choice : mergeChoices(choice, { summary: { instructions } });
}

/** Whether the choice says something of the instructions. Null says that there are none. */
export const namesInstructions = (choice: PolicyChoice): boolean =>
  typeof choice !== "string" && choice.summary?.instructions !== undefined;

/** The choice as a level stores it: a bare name, or JSON. */
export function toPolicyText(choice: PolicyChoice): string {
  if (typeof choice === "string") return choice;
  const { preset, ...changes } = choice;
  const changed = Object.values(changes).some((value) => value !== undefined);
  return preset !== undefined && !changed ? preset : JSON.stringify(choice);
}

/** Parses a stored text. A text that is no valid choice in this build (another build wrote the log) becomes the default. */
export function parsePolicyText(text: string): PolicyChoice {
  const name = POLICY_NAMES.find((known) => known === text);
  if (name) return name;
  if (!text.startsWith("{")) return DEFAULT_POLICY;
  const parsed = policyChoiceSchema.safeParse(jsonIn(text));
  return parsed.success ? parsed.data : DEFAULT_POLICY;
}

/** Whether settings of this build may hold the text. Instructions are content, which settings hold apart. */
export function isPolicyText(text: string): boolean {
  const value = text.startsWith("{") ? jsonIn(text) : text;
  const parsed = policyChoiceSchema.safeParse(value);
  return parsed.success && (typeof parsed.data === "string" || parsed.data.summary?.instructions === undefined);
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Parses a stored text that may be empty. Null when the level has no choice. */
export const parseLevel = (text: string): PolicyChoice | null => (text === "" ? null : parsePolicyText(text));

/** The preset on which the choice builds. */
export const toPreset = (choice: PolicyChoice): PolicyName => toChanges(choice).preset ?? DEFAULT_POLICY;

export function resolvePolicy(choice: PolicyChoice): Policy {
  const { preset = DEFAULT_POLICY, ...over } = toChanges(choice);
  const base = presets[preset];
  const whole = {
    ...base,
    ...over,
    trigger: { ...base.trigger, ...over.trigger },
    keep: { ...base.keep, ...over.keep },
    results: { ...base.results, ...over.results },
    summary: { ...base.summary, ...over.summary },
    tools: { ...base.tools, ...over.tools },
  };
  return policySchema.parse(whole);
}

const resolved = new Map<string, Policy>();
/** Maximum number of resolved policies in the cache. A tenant has only a few. */
const REMEMBERED = 256;

/**
 * Whether the policy offers `memory_query`. Settings store the answer beside the policy's text, because a request's
 * tools must follow from the state alone.
 */
export const offersRecall = (text: string): boolean => toPolicy(text).recall === "offered";

/** The policy of a session's settings. */
export function toPolicy(text: string): Policy {
  const known = resolved.get(text);
  if (known) return known;
  const policy = resolvePolicy(parsePolicyText(text));
  if (resolved.size >= REMEMBERED) resolved.clear();
  resolved.set(text, policy);
  return policy;
}
