/**
 * The policy: when and how far a conversation is compacted, and how its summaries are written. One schema, validated at
 * the edge and settable for a deployment, a tenant and a session. `GET /v1/policies` shows its descriptions. Presets
 * are values of it (`presets`); docs/policy.md explains the rules behind the numbers.
 */
import { z } from "zod";
import { MAX_TOOL_NAME_UNITS } from "../domain/message";

const share = z.number().min(0).max(1);

const trigger = z.strictObject({
  at: z
    .enum(["after_response", "before_turn", "each_call"])
    .describe("When the soft trigger is looked at: in the background after a response, before a turn, or before each model call"),
  window_ratio: share
    .min(0.1)
    .max(0.95)
    .nullable()
    .describe("Compact when the next request would exceed this share of the window; null: no such bound"),
  usable_ratio: share
    .min(0.1)
    .nullable()
    .describe("Compact when it would exceed this share of what a request may weigh (window less reserve); null: no such bound"),
  bound: z
    .enum(["exceeded", "reached"])
    .describe("Whether exactly so many tokens are not enough for that (`exceeded`), or are (`reached`)"),
  rent_factor: z
    .number()
    .min(0.1)
    .max(100)
    .nullable()
    .describe(
      "Compact when re-reading what a compaction would remove has cost this many times its price in this epoch; null: never for that reason",
    ),
  rent_free_tokens: z
    .int()
    .min(0)
    .describe("So many of the newest tokens are wanted word for word: while they are in view anyway, reading them again is no rent"),
  min_gain_ratio: share.describe("Least share of the next request that a compaction by rent must free"),
});

const keep = z.strictObject({
  ratio: share.min(0.01).max(0.9).describe("The newest messages stay verbatim up to this share"),
  of: z.enum(["window", "usable"]).describe("What `ratio` is a share of: the window, or the window less the reserve"),
  max_tokens: z.int().min(256).nullable().describe("Tokens that stay verbatim at most; null: as `ratio` says"),
  min_tokens: z.int().min(0).describe("Tokens that stay verbatim at least, where the window allows it"),
  messages: z
    .int()
    .min(1)
    .nullable()
    .describe("Keep this many of the newest messages instead of a share, rounded outward to whole groups; null: by share"),
  emergency_ratio: share
    .min(0.05)
    .max(0.5)
    .describe("Share of the window that stays verbatim after a provider refused a request as too long"),
  manual_tokens: z.int().min(256).nullable().describe("Tokens that stay verbatim when asked for by hand; null: as `ratio` says"),
  cut: z
    .enum(["fits", "fills", "next_user"])
    .describe(
      "Where the tail begins: `fits`, the longest tail within the budget; `fills`, the shortest that reaches it; both moved back to a message of the user within a quarter of it; `next_user`, the first message of the user after the budget is exceeded",
    ),
  split_turn_messages: z
    .int()
    .min(2)
    .nullable()
    .describe("A turn that is cut gets a summary of its own for its beginning when that has at least so many messages; null: never"),
  system_messages: z.boolean().describe("System messages inside the conversation stay verbatim in front"),
});

/** Maximum number of tools that a policy may name. */
const MAX_NAMED_TOOLS = 64;
const toolName = z.string().min(1).max(MAX_TOOL_NAME_UNITS);

const results = z.strictObject({
  max_chars: z.int().min(100).max(1_000_000).describe("A tool result is cut at this many characters when it is recorded"),
  cut: z
    .enum(["head", "head_tail"])
    .describe(
      "What is recorded of a longer one: its beginning and RFC-011's marker, or a notice and both its ends, cut between elements of JSON, at a line's end, or between characters",
    ),
  clear: z
    .enum(["never", "at_epoch", "each_call"])
    .describe("When old tool results are replaced by a placeholder: never, in one go when the view changes anyway, or before each call"),
  keep_full: z.int().min(0).describe("So many of the newest tool results are never cleared"),
  clear_gain_ratio: share.describe("At an epoch: clearing alone is enough when it frees this share of the next request"),
  preview_beyond: z
    .int()
    .min(0)
    .nullable()
    .describe("When the view changes anyway, results in the tail beyond so many of the newest show both their ends only; null: they stay"),
  preview_chars: z.int().min(40).describe("Characters of such a preview at each end"),
  keep_tools: z
    .record(toolName, z.int().min(0).max(10_000))
    .refine((tools) => Object.keys(tools).length <= MAX_NAMED_TOOLS, `at most ${MAX_NAMED_TOOLS} tools`)
    .describe(
      "By a tool's name: so many of its newest results are neither cleared nor shown by their ends, in place of `keep_full` and `preview_beyond`, which count the other tools' alone; at most 64",
    ),
  exclude_tools: z
    .array(toolName)
    .max(MAX_NAMED_TOOLS)
    .describe(
      "Tools whose results are never cleared nor shown by their ends; only the guard shortens them, when nothing else helps. At most 64",
    ),
});

/** Model ids of the registry. */
const modelIds = z.array(z.string().min(1).max(200)).max(4);

const summary = z.strictObject({
  form: z
    .enum(["narrative", "structured", "note", "none"])
    .describe(
      "A short narrative (RFC-011), fixed sections (Opal), a note with counts and files for which no model is asked (Opal, truncate), or no summary at all",
    ),
  placement: z
    .enum(["system-prefix", "system-message", "user-message"])
    .describe("Where the summary stands: in front of the system prompt, as a system message after it, or as a message of the user"),
  max_tokens: z.int().min(64).max(32_000).describe("Most tokens of one summary"),
  chain_ratio: share
    .nullable()
    .describe(
      "New summaries are appended to the earlier ones until together they exceed this share of what a request may weigh, and are then folded into one; null: always one",
    ),
  rebuild_after: z
    .int()
    .min(1)
    .nullable()
    .describe(
      "After so many folds the next one reads the newest messages that the summary stands for again, twice as much as is new at most, to put right what drifted; null: never",
    ),
  mode: z
    .enum(["transcript", "cheaper"])
    .describe(
      "How it is asked for: always as a transcript, or as the turn's own request with one instruction more when reading that from the cache is cheaper",
    ),
  attempts: z.int().min(1).max(5).describe("Summariser calls before the compaction has failed"),
  models: modelIds.describe(
    "Who is asked for a summary, one after the other as attempts fail, each read in parts of its own window; at most 4, and one that is unknown or too small is passed over. Empty: the session's model",
  ),
  timeout_ms: z.int().min(100).max(600_000).describe("One summariser call may take this long, in milliseconds"),
});

const tools = z.strictObject({
  max_rounds: z
    .int()
    .min(1)
    .max(1_000)
    .describe("Model calls of one turn at most, each with its round of tools; one more ends the turn as `round_limit`"),
});

export const policySchema = z.strictObject({
  trigger,
  keep,
  results,
  summary,
  tools,
  recall: z
    .enum(["offered", "off"])
    .describe("Whether the model is offered `memory_query` where something is out of its view, to look that up"),
  fallback_models: modelIds.describe(
    "Who is asked for an answer, in this order, when the session's model fails before its first word and asking again does not help; at most 4. One for which the conversation is too large as it stands is passed over",
  ),
  on_failure: z
    .enum(["drop", "note", "none"])
    .describe("When no summary can be had: the oldest messages leave the view, a note with counts takes their place, or nothing changes"),
  unknown_window: z
    .union([z.int().min(1_024), z.literal("conservative"), z.null()])
    .describe(
      "What a model of unknown window is taken to have, which the context then shows as `assumed_window`: a number of tokens, 32,768 (`conservative`), or null: never compact",
    ),
  estimator: z
    .enum(["by_script", "chars_4"])
    .describe(
      "How the trigger counts what the provider has not: by script and kind of text, padded; or characters over 4. The guard always counts by script",
    ),
  guard_target_ratio: share.min(0.1).describe("The guard, once it must drop, drops down to this share of what fits"),
  title_model: z
    .string()
    .min(1)
    .max(200)
    .nullable()
    .describe(
      "A model that names a session without a title after its first completed turn, in one short call; null: none does. A preset named nearer leaves it as it is",
    ),
});
export type Policy = z.infer<typeof policySchema>;
/** The window, in tokens, that `conservative` assumes for a model of unknown window. */
export const CONSERVATIVE_WINDOW = 32_768;
