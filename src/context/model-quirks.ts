/**
 * Where endpoints of chat completions differ from OpenAI's. One table: the quirks, what a request is built by where nothing is said, and what a
 * refusal teaches. What the model's entry says goes first, then what a refusal taught, then the endpoint, then the model's family
 * (docs/quirks.md is made from this table).
 */
import { z } from "zod";

/** Maximum bytes of a request's body, whatever the endpoint takes (`request-bytes`). */
export const MAX_REQUEST_BYTES = 8_000_000;
/** The smallest bound that is learned: no endpoint takes less. */
export const LEAST_REQUEST_BYTES = 16_384;

const quirkShapes = {
  system: z
    .enum(["anywhere", "first", "merged", "developer"])
    .describe(
      "Where system messages may stand. first: one in front, and a later one is sent as a user's message that says so; merged: all in one message in front; developer: anywhere, in the role developer",
    ),
  alternate_roles: z.boolean().describe("A user's messages in a row, and replies in a row, are sent as one"),
  call_ids: z.enum(["as_is", "nine_characters"]).describe("The ids of tool calls: as they came, or nine letters and digits"),
  return_reasoning: z.boolean().describe("The model's thinking goes back with the calls that it led to"),
  strip_think_tags: z.boolean().describe("A reply that begins with <think> is thinking up to </think>"),
  stream_options: z.boolean().describe("Usage is asked for with stream_options. Without it, an endpoint that reports none is estimated"),
  output_limit: z.enum(["max_tokens", "max_completion_tokens"]).describe("The name of the reply's limit"),
  tool_choice: z.boolean().describe("tool_choice is sent"),
  parallel_tool_calls: z.boolean().describe("parallel_tool_calls is sent"),
  images: z
    .enum(["any", "url", "data"])
    .describe("How images are sent: by address and inside the request, only by address, or only inside it"),
  truncates_silently: z
    .boolean()
    .describe("The endpoint cuts what exceeds its window without saying so, so that nothing is tried that may not fit"),
  max_request_bytes: z.int().min(LEAST_REQUEST_BYTES).max(MAX_REQUEST_BYTES).describe("The most bytes of a request"),
};

const allQuirks = z.strictObject(quirkShapes);
export type AllQuirks = Readonly<z.infer<typeof allQuirks>>;
export type QuirkName = keyof AllQuirks;
/** An absent one is as usual. */
export type Quirks = Partial<AllQuirks>;

export const QUIRK_NAMES = allQuirks.keyof().options;
export const quirksSchema = allQuirks.partial();

/** Quirks that hold for every provider. The others are those of chat completions. */
const OF_ALL: ReadonlySet<QuirkName> = new Set(["truncates_silently", "max_request_bytes"]);
const CHAT: readonly string[] = ["openai-compatible", "openai-chat"];

/** Whether a model of this provider can have the quirk. */
export const hasQuirk = (provider: string, quirk: QuirkName): boolean => OF_ALL.has(quirk) || CHAT.includes(provider);

/** What holds where nothing else is known. */
export const USUAL: AllQuirks = {
  system: "anywhere",
  alternate_roles: false,
  call_ids: "as_is",
  return_reasoning: false,
  strip_think_tags: true,
  stream_options: true,
  output_limit: "max_tokens",
  tool_choice: true,
  parallel_tool_calls: true,
  images: "any",
  truncates_silently: false,
  max_request_bytes: MAX_REQUEST_BYTES,
};

interface Family {
  readonly name: string;
  /** Matches the provider's name for a model, behind the last slash. */
  readonly pattern: RegExp;
  readonly quirks: Quirks;
  /** The source of the rule. */
  readonly source: string;
}

/** Families of models, at every endpoint that serves them. */
export const FAMILIES: readonly Family[] = [
  {
    name: "DeepSeek",
    pattern: /^deepseek/i,
    quirks: { return_reasoning: true },
    source: "https://api-docs.deepseek.com/guides/thinking_mode",
  },
  {
    name: "Kimi",
    pattern: /^kimi/i,
    quirks: { return_reasoning: true },
    source: "https://platform.moonshot.ai/docs/guide/use-kimi-k2-thinking-model",
  },
  {
    name: "Mistral",
    pattern: /^(?:mistral|ministral|mixtral|codestral|devstral|magistral|pixtral)/i,
    quirks: { call_ids: "nine_characters" },
    source: "https://github.com/langchain-ai/langchain/pull/24668",
  },
  {
    name: "Qwen",
    pattern: /^(?:qwen|qwq)/i,
    quirks: { system: "first" },
    source: "https://github.com/vllm-project/vllm/issues/41114",
  },
  {
    name: "Gemma",
    pattern: /^gemma/i,
    quirks: { system: "first", alternate_roles: true },
    source: "https://github.com/suitenumerique/conversations/issues/197",
  },
  { name: "MiniMax", pattern: /^minimax/i, quirks: { system: "first" }, source: "https://github.com/can1357/oh-my-pi/issues/958" },
];

const endpointIds = [
  "openai",
  "azure",
  "openrouter",
  "deepseek",
  "moonshot",
  "qwen",
  "mistral",
  "groq",
  "xai",
  "together",
  "fireworks",
  "cerebras",
  "vercel",
  "cloudflare",
  "vllm",
  "llama-cpp",
  "ollama",
  "lm-studio",
  "litellm",
] as const;
export type EndpointId = (typeof endpointIds)[number];
export const endpointSchema = z.enum(endpointIds);

export interface Endpoint {
  readonly id: EndpointId;
  readonly name: string;
  readonly provider: "openai" | "openai-compatible";
  /** Null: the provider's own. `{…}` stands for what the account or the server names. */
  readonly base_url: string | null;
  /** Matches the host of the base URL. Null: the endpoint has no host of its own. */
  readonly host: RegExp | null;
  readonly quirks: Quirks;
}

const at = (id: EndpointId, name: string, base_url: string, host: RegExp | null, quirks: Quirks = {}): Endpoint => ({
  id,
  name,
  provider: "openai-compatible",
  base_url,
  host,
  quirks,
});

/** Endpoints that are known by name. */
export const ENDPOINTS: readonly Endpoint[] = [
  { id: "openai", name: "OpenAI", provider: "openai", base_url: null, host: /^api\.openai\.com$/, quirks: {} },
  at("azure", "Azure OpenAI", "https://{resource}.openai.azure.com/openai/v1", /\.openai\.azure\.com$/, {
    output_limit: "max_completion_tokens",
  }),
  at("openrouter", "OpenRouter", "https://openrouter.ai/api/v1", /^openrouter\.ai$/),
  at("deepseek", "DeepSeek", "https://api.deepseek.com/v1", /(?:^|\.)deepseek\.com$/, { return_reasoning: true }),
  at("moonshot", "Moonshot", "https://api.moonshot.ai/v1", /(?:^|\.)moonshot\.(?:ai|cn)$/, {
    return_reasoning: true,
    max_request_bytes: 2_097_152,
  }),
  at("qwen", "Qwen (Alibaba Cloud)", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", /dashscope[a-z-]*\.aliyuncs\.com$/, {
    system: "first",
  }),
  at("mistral", "Mistral", "https://api.mistral.ai/v1", /(?:^|\.)mistral\.ai$/, { call_ids: "nine_characters", stream_options: false }),
  at("groq", "Groq", "https://api.groq.com/openai/v1", /(?:^|\.)groq\.com$/),
  at("xai", "xAI", "https://api.x.ai/v1", /(?:^|\.)x\.ai$/),
  at("together", "Together", "https://api.together.xyz/v1", /(?:^|\.)together\.(?:xyz|ai)$/),
  at("fireworks", "Fireworks", "https://api.fireworks.ai/inference/v1", /(?:^|\.)fireworks\.ai$/),
  at("cerebras", "Cerebras", "https://api.cerebras.ai/v1", /(?:^|\.)cerebras\.ai$/, { output_limit: "max_completion_tokens" }),
  at("vercel", "Vercel AI Gateway", "https://ai-gateway.vercel.sh/v1", /^ai-gateway\.vercel\.sh$/),
  at(
    "cloudflare",
    "Cloudflare AI Gateway",
    "https://gateway.ai.cloudflare.com/v1/{account}/{gateway}/compat",
    /^gateway\.ai\.cloudflare\.com$/,
  ),
  at("vllm", "vLLM", "http://localhost:8000/v1", null),
  at("llama-cpp", "llama.cpp", "http://localhost:8080/v1", null),
  at("ollama", "Ollama", "http://localhost:11434/v1", null, { truncates_silently: true }),
  at("lm-studio", "LM Studio", "http://localhost:1234/v1", null, { truncates_silently: true }),
  at("litellm", "LiteLLM", "http://localhost:4000/v1", null),
];

export const findEndpoint = (id: EndpointId | undefined): Endpoint | null => ENDPOINTS.find((endpoint) => endpoint.id === id) ?? null;

/** Reads stored quirks. What this build does not know is left out. */
export function toQuirks(stored: Readonly<Record<string, unknown>>): Quirks {
  const known = QUIRK_NAMES.filter((name) => quirkShapes[name].safeParse(stored[name]).success);
  return Object.fromEntries(known.map((name) => [name, stored[name]]));
}

interface QuirkyModel {
  readonly provider: string;
  readonly upstream_id: string;
  readonly base_url: string | null;
  readonly quirks?: Quirks;
}

/** What a model's requests are built by. */
export function findQuirks(model: QuirkyModel): AllQuirks {
  return { ...USUAL, ...findDefaults(model), ...model.quirks };
}

/** What is known of a model by its provider, its name and its address. */
export function findDefaults({ provider, upstream_id, base_url }: QuirkyModel): Quirks {
  if (provider === "openai-chat") return { output_limit: "max_completion_tokens" };
  if (provider !== "openai-compatible") return {};
  const name = upstream_id.slice(upstream_id.lastIndexOf("/") + 1);
  const host = (base_url === null ? null : URL.parse(base_url)?.hostname) ?? "";
  const families = FAMILIES.filter(({ pattern }) => pattern.test(name));
  const endpoints = ENDPOINTS.filter((endpoint) => endpoint.host?.test(host));
  return Object.assign({}, ...[...families, ...endpoints].map(({ quirks }) => quirks));
}

/** What a provider's refusal points at. `history`: the conversation itself, which a plainer rendering may mend. `setting`: what the client chose. */
export type RefusedPart =
  | "system"
  | "alternate_roles"
  | "call_ids"
  | "reasoning_wanted"
  | "reasoning_unknown"
  | "stream_options"
  | "max_tokens"
  | "max_completion_tokens"
  | "tool_choice"
  | "parallel_tool_calls"
  | "history"
  | "setting";

const LESSONS: Readonly<Partial<Record<RefusedPart, (now: AllQuirks) => Quirks>>> = {
  system: ({ system }) => ({ system: system === "first" ? "merged" : "first" }),
  alternate_roles: () => ({ alternate_roles: true, system: "first" }),
  call_ids: () => ({ call_ids: "nine_characters" }),
  reasoning_wanted: () => ({ return_reasoning: true }),
  reasoning_unknown: () => ({ return_reasoning: false }),
  stream_options: () => ({ stream_options: false }),
  max_tokens: () => ({ output_limit: "max_completion_tokens" }),
  max_completion_tokens: () => ({ output_limit: "max_tokens" }),
  tool_choice: () => ({ tool_choice: false }),
  parallel_tool_calls: () => ({ parallel_tool_calls: false }),
};

/** What a refusal teaches about the model. Null: nothing that its next request does not respect already. */
export function findLesson(model: QuirkyModel, refused: RefusedPart): Quirks | null {
  if (!CHAT.includes(model.provider)) return null;
  const now = findQuirks(model);
  const lesson = LESSONS[refused]?.(now);
  return lesson && !isKnown(lesson, now) ? lesson : null;
}

const isKnown = (lesson: Quirks, now: AllQuirks): boolean =>
  QUIRK_NAMES.every((name) => lesson[name] === undefined || lesson[name] === now[name]);

/** The model with what was learned about it. */
export function withQuirks<Model extends QuirkyModel>(model: Model, learned: Quirks | null | undefined): Model {
  return learned ? { ...model, quirks: { ...model.quirks, ...learned } } : model;
}
