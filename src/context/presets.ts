/**
 * The named policies. Four follow systems that came before Longhand, each with its own numbers; four are Longhand's
 * own, found by simulation. docs/policy.md says what holds where the sources contradict each other.
 */
import type { Policy } from "./policy";

export const POLICY_NAMES = ["oneclaw", "opal", "odincode", "yeoman", "balanced", "economy", "retain", "verbatim"] as const;
export type PolicyName = (typeof POLICY_NAMES)[number];
/** Longhand's own policies, the default first. */
export const PROFILE_NAMES = ["balanced", "economy", "retain", "verbatim"] as const satisfies readonly PolicyName[];

/** The default policy. It removes older messages from the view early, which `memory_query` can look up. */
export const DEFAULT_POLICY: PolicyName = "balanced";

const summaryCalls = { redact: "off", attempts: 2, models: [], timeout_ms: 15_000, instructions: null } satisfies Partial<
  Policy["summary"]
>;
const resultsInFull = {
  max_chars: 30_000,
  cut: "head",
  clear: "never",
  keep_full: 3,
  clear_gain_ratio: 0.2,
  preview_beyond: null,
  preview_chars: 240,
  keep_tools: {},
  exclude_tools: [],
} satisfies Policy["results"];

/** The policy of OneClaw (docs/policy.md, sources, for all four). */
const oneclaw: Policy = {
  trigger: {
    at: "after_response",
    window_ratio: 0.85,
    usable_ratio: null,
    bound: "exceeded",
    rent_factor: null,
    rent_free_tokens: 0,
    min_gain_ratio: 0,
  },
  keep: {
    ratio: 0.25,
    of: "window",
    max_tokens: null,
    min_tokens: 0,
    messages: null,
    emergency_ratio: 0.2,
    manual_tokens: null,
    cut: "fits",
    split_turn_messages: null,
    system_messages: false,
  },
  results: resultsInFull,
  summary: {
    form: "narrative",
    placement: "system-prefix",
    max_tokens: 2_048,
    chain_ratio: null,
    rebuild_after: null,
    mode: "transcript",
    ...summaryCalls,
  },
  tools: { max_rounds: 250 },
  recall: "offered",
  fallback_models: [],
  on_failure: "drop",
  unknown_window: null,
  estimator: "chars_4",
  guard_target_ratio: 0.75,
  title_model: null,
};

/** The policy of Opal. */
const opal: Policy = {
  ...oneclaw,
  trigger: { ...oneclaw.trigger, at: "before_turn", window_ratio: 0.8, bound: "reached" },
  keep: { ...oneclaw.keep, manual_tokens: 20_000, cut: "next_user", split_turn_messages: 5 },
  summary: { ...oneclaw.summary, form: "structured", placement: "user-message" },
  on_failure: "note",
  unknown_window: 128_000,
};

/** The policy of OdinCode: it clears old tool results and does nothing else. The guard keeps requests within the window. */
const odincode: Policy = {
  ...oneclaw,
  trigger: { ...oneclaw.trigger, at: "each_call", window_ratio: null },
  results: { ...resultsInFull, clear: "each_call", keep_full: 3 },
  summary: { ...oneclaw.summary, form: "none" },
};

/** The policy of Yeoman. */
const yeoman: Policy = {
  ...oneclaw,
  trigger: { ...oneclaw.trigger, at: "before_turn", window_ratio: 0.8 },
  keep: { ...oneclaw.keep, messages: 4, system_messages: true },
  summary: { ...oneclaw.summary, placement: "system-message", attempts: 1 },
  on_failure: "none",
  unknown_window: 8_192,
};

/** The default: compaction that pays for itself. docs/policy-figures.md shows what `npm run lab` measured. */
const balanced: Policy = {
  trigger: {
    at: "after_response",
    window_ratio: 0.85,
    usable_ratio: 0.9,
    bound: "exceeded",
    rent_factor: 0.5,
    rent_free_tokens: 8_500,
    min_gain_ratio: 0.2,
  },
  keep: {
    ratio: 0.21,
    of: "usable",
    max_tokens: 8_000,
    min_tokens: 2_000,
    messages: null,
    emergency_ratio: 0.2,
    manual_tokens: null,
    cut: "fills",
    split_turn_messages: 5,
    system_messages: true,
  },
  results: { ...resultsInFull, clear: "at_epoch", clear_gain_ratio: 0.5 },
  summary: {
    form: "structured",
    placement: "user-message",
    max_tokens: 2_000,
    chain_ratio: 0.1,
    rebuild_after: 16,
    mode: "cheaper",
    ...summaryCalls,
  },
  tools: { max_rounds: 250 },
  recall: "offered",
  fallback_models: [],
  on_failure: "drop",
  unknown_window: "conservative",
  estimator: "by_script",
  guard_target_ratio: 0.75,
  title_model: null,
};

/** How the other profiles treat older results of the kept messages. */
const previews = { ...balanced.results, preview_beyond: 10 } satisfies Policy["results"];

/** For bots and high volume. */
const economy: Policy = {
  ...balanced,
  trigger: { ...balanced.trigger, rent_factor: 0.9, rent_free_tokens: 0 },
  results: previews,
  keep: { ...balanced.keep, ratio: 0.15, max_tokens: 6_000, cut: "fits" },
  summary: { ...balanced.summary, max_tokens: 1_000, chain_ratio: 0.05, rebuild_after: null },
};

/** For assistants and coding. */
const retain: Policy = {
  ...balanced,
  trigger: { ...balanced.trigger, rent_factor: 1.5, rent_free_tokens: 0 },
  results: previews,
  keep: { ...balanced.keep, ratio: 0.28, max_tokens: 32_000 },
};

/** For conversations in which every word counts. */
const verbatim: Policy = {
  ...balanced,
  trigger: { ...balanced.trigger, usable_ratio: 0.95, rent_factor: null, rent_free_tokens: 0 },
  keep: { ...balanced.keep, ratio: 0.29, max_tokens: 64_000 },
  summary: { ...balanced.summary, max_tokens: 4_000 },
};

/** The purpose of each preset in one line, as `GET /v1/policies` shows it. */
export const purposes: Readonly<Record<PolicyName, string>> = {
  oneclaw: "OneClaw: summarised in the background above 0.85 of the window, the newest quarter stays",
  opal: "Opal compaction: a structured summary before a turn at 0.80 of the window; the beginning of a cut turn gets its own summary",
  odincode:
    "OdinCode: old tool results are cleared before each call, and there are no summaries; the guard keeps requests within the window",
  yeoman: "Yeoman: before a turn above 0.80 of the window, all but the last four messages become a context summary",
  balanced: "Compaction that pays for itself, for most chat",
  economy: "The cheapest profile: keeps less and compacts sooner, for bots and high volume",
  retain: "Keeps more verbatim, for assistants and coding",
  verbatim: "Compacts as late as possible, for conversations in which every word counts",
};

export const presets: Readonly<Record<PolicyName, Policy>> = { oneclaw, opal, odincode, yeoman, balanced, economy, retain, verbatim };
