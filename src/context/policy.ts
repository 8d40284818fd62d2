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
    .describe("When the policy considers a compaction: in the background after a response, before a turn, or before each model call"),
  window_ratio: share
    .min(0.1)
    .max(0.95)
    .nullable()
    .describe("Compact when the next request would exceed this share of the window; null: no such bound"),
  usable_ratio: share
    .min(0.1)
    .nullable()
    .describe(
      "Compact when the next request would exceed this share of the usable window (the window less the reserve); null: no such bound",
    ),
  bound: z.enum(["exceeded", "reached"]).describe("Whether a request must exceed the threshold (`exceeded`) or only reach it (`reached`)"),
  rent_factor: z
    .number()
    .min(0.1)
    .max(100)
    .nullable()
    .describe(
      "Compact when the cost of re-reading what a compaction would remove has reached this many times the price of the compaction, within this epoch; null: never for this reason",
    ),
  rent_free_tokens: z
    .int()
    .min(0)
    .describe("The newest tokens that count as wanted verbatim: re-reading them adds nothing to the cache read cost"),
  min_gain_ratio: share.describe("Least share of the next request that a compaction triggered by the cache read cost must free"),
});

const keep = z.strictObject({
  ratio: share.min(0.01).max(0.9).describe("Share of what `keep.of` names that the newest messages may take up, verbatim"),
  of: z.enum(["window", "usable"]).describe("What `ratio` refers to: the window, or the usable window (the window less the reserve)"),
  max_tokens: z.int().min(256).nullable().describe("Maximum tokens that stay verbatim; null: only `ratio` applies"),
  min_tokens: z.int().min(0).describe("Minimum tokens that stay verbatim, if the window allows it"),
  messages: z
    .int()
    .min(1)
    .nullable()
    .describe(
      "Number of newest messages that stay verbatim, instead of a share, rounded up to whole exchange groups; null: `ratio` applies",
    ),
  emergency_ratio: share
    .min(0.05)
    .max(0.5)
    .describe("Share of the window that stays verbatim after a provider refused a request as too long"),
  manual_tokens: z.int().min(256).nullable().describe("Tokens that stay verbatim in a manual compaction; null: `ratio` applies"),
  cut: z
    .enum(["fits", "fills", "next_user"])
    .describe(
      "Where the tail begins: `fits`, the longest tail within the budget; `fills`, the shortest that reaches it; both may extend the tail by up to a quarter to begin with a user message; `next_user`, the first user message after the budget is exceeded",
    ),
  split_turn_messages: z
    .int()
    .min(2)
    .nullable()
    .describe("Minimum messages at the beginning of a cut turn for which that beginning gets its own summary; null: never"),
  system_messages: z.boolean().describe("Whether system messages inside the conversation stay verbatim, in front of the kept messages"),
});

/** Maximum number of tools that a policy may name. */
const MAX_NAMED_TOOLS = 64;
const toolName = z.string().min(1).max(MAX_TOOL_NAME_UNITS);

const results = z.strictObject({
  max_chars: z.int().min(100).max(1_000_000).describe("Maximum characters of a recorded tool result; a longer result is truncated"),
  cut: z
    .enum(["head", "head_tail"])
    .describe(
      "Which part of a longer result is recorded: its beginning and a marker (`head`), or a notice and both ends (`head_tail`), cut between JSON elements, lines or characters",
    ),
  clear: z
    .enum(["never", "at_epoch", "each_call"])
    .describe("When old tool results are replaced by a placeholder: never, together when an epoch ends, or before each model call"),
  keep_full: z.int().min(0).describe("Number of newest tool results that are never cleared"),
  clear_gain_ratio: share.describe("With `clear: at_epoch`: clearing alone is enough when it frees this share of the next request"),
  preview_beyond: z
    .int()
    .min(0)
    .nullable()
    .describe("When an epoch ends, results in the tail beyond this number of newest ones are shortened to both ends; null: they stay"),
  preview_chars: z.int().min(40).describe("Characters of a shortened result at each end"),
  keep_tools: z
    .record(toolName, z.int().min(0).max(10_000))
    .refine((tools) => Object.keys(tools).length <= MAX_NAMED_TOOLS, `at most ${MAX_NAMED_TOOLS} tools`)
    .describe(
      "By tool name: the number of its newest results that are neither cleared nor shortened. `keep_full` and `preview_beyond` then count only other tools' results. At most 64 tools",
    ),
  exclude_tools: z
    .array(toolName)
    .max(MAX_NAMED_TOOLS)
    .describe("Tools whose results are never cleared or shortened, except by the guard when nothing else helps. At most 64"),
});

/** Model ids of the registry. */
const modelIds = z.array(z.string().min(1).max(200)).max(4);

/** Maximum length of instructions for summaries, in UTF-16 units. */
const MAX_INSTRUCTIONS = 4_000;

/** What summaries should pay attention to, in a client's own words. */
export const instructionsText = z
  .string()
  .max(MAX_INSTRUCTIONS)
  .refine((text) => text.trim() !== "", "must not be empty");

const summary = z.strictObject({
  form: z
    .enum(["narrative", "structured", "note", "none"])
    .describe(
      "The form of a summary: a short narrative, fixed sections, a note with counts and files that is made without a model, or no summary",
    ),
  placement: z
    .enum(["system-prefix", "system-message", "user-message"])
    .describe("Where a request contains the summary: before the system prompt, as a system message after it, or as a user message"),
  max_tokens: z.int().min(64).max(32_000).describe("Maximum tokens of one summary"),
  chain_ratio: share
    .nullable()
    .describe(
      "New summaries are appended to the earlier ones. When all together exceed this share of the usable window, they are merged into one; null: there is always one summary",
    ),
  rebuild_after: z
    .int()
    .min(1)
    .nullable()
    .describe(
      "After this many merges, the next one also re-reads the newest of the summarised messages, at most twice the new tokens, to correct drift; null: never",
    ),
  mode: z
    .enum(["transcript", "cheaper"])
    .describe(
      "How a summary is requested: always as a transcript, or as the turn's own request with an added instruction when reading that from the provider's cache is cheaper",
    ),
  redact: z
    .enum(["off", "secrets"])
    .describe(
      "Whether secrets are replaced by `[secret:kind]` in what a summariser reads and in the summary that is kept: private keys, tokens, keys of known providers, passwords, card numbers. The record and the messages that stay in the view are not changed. `secrets`: every summary is requested as a transcript",
    ),
  attempts: z.int().min(1).max(5).describe("Maximum summariser calls before the compaction fails"),
  models: modelIds.describe(
    "Models that write summaries, in order: after a failed attempt the next one is called. A model that is unknown or whose window is too small is skipped. At most 4. Empty: the session's model",
  ),
  timeout_ms: z.int().min(100).max(600_000).describe("Timeout of one summariser call, in milliseconds"),
  instructions: instructionsText
    .nullable()
    .describe(
      "What summaries should pay attention to and how to word them, at most 4,000 characters. Added to the summariser's own rules, which stay in force; null: only those rules. The session's `summary_instructions` take precedence. Choosing a preset for a session or tenant does not change this parameter",
    ),
});

const tools = z.strictObject({
  max_rounds: z
    .int()
    .min(1)
    .max(1_000)
    .describe("Maximum model calls in one turn, each with its round of tools; the turn then ends as `round_limit`"),
});

export const policySchema = z.strictObject({
  trigger,
  keep,
  results,
  summary,
  tools,
  recall: z
    .enum(["offered", "off"])
    .describe("Whether the model is offered `memory_query` to search the record once something is out of its view"),
  fallback_models: modelIds.describe(
    "Models that answer, in this order, when the session's model fails before its first token and retries do not help. A model whose window is too small for the conversation is skipped. At most 4",
  ),
  on_failure: z
    .enum(["drop", "note", "none"])
    .describe("When no summary can be made: the oldest messages leave the view, a note with counts replaces them, or nothing changes"),
  unknown_window: z
    .union([z.int().min(1_024), z.literal("conservative"), z.null()])
    .describe(
      "The window assumed for a model whose window is unknown, reported as `assumed_window`: a number of tokens, or 32,768 (`conservative`); null: never compact",
    ),
  estimator: z
    .enum(["by_script", "chars_4"])
    .describe(
      "How the trigger estimates tokens that the provider has not counted: by script and kind of text, with padding; or characters divided by 4. The guard always uses the first",
    ),
  guard_target_ratio: share.min(0.1).describe("When the guard drops messages, it continues down to this share of the usable window"),
  title_model: z
    .string()
    .min(1)
    .max(200)
    .nullable()
    .describe(
      "The model that writes the title of a session without one after its first completed turn, in one short call; null: none. Choosing a preset for a session or tenant does not change this parameter",
    ),
});
export type Policy = z.infer<typeof policySchema>;
/** The window, in tokens, that `conservative` assumes for a model of unknown window. */
export const CONSERVATIVE_WINDOW = 32_768;
