/** The providers of the contract: each adapter with its stand-in, and the differences between them. */
import type { ModelSpec } from "../../src/app/ports";
import type { Provider } from "../../src/context/model-input";
import { createChatModel } from "../../src/model/chat-model";
import { ANTHROPIC_KEY, createAnthropic } from "../support/stand-in/providers/anthropic/anthropic.ts";
import { createGoogle, GOOGLE_KEY } from "../support/stand-in/providers/google/google.ts";
import { createChat } from "../support/stand-in/providers/openai/chat.ts";
import { OPENAI_KEY } from "../support/stand-in/providers/openai/errors.ts";
import { createResponses } from "../support/stand-in/providers/openai/responses.ts";
import { type ProviderStandIn, startProvider } from "../support/stand-in/providers/provider-server.ts";
import { startWorkersAi } from "../support/stand-in/providers/workers-ai/workers-ai.ts";
import { anthropicFailures } from "./failures/anthropic.ts";
import { compatibleFailures } from "./failures/compatible.ts";
import { googleFailures } from "./failures/google.ts";
import { chatFailures, responsesFailures } from "./failures/openai.ts";
import type { ProviderFailures } from "./failures/provider-failure.ts";
import { workersAiFailures } from "./failures/workers-ai.ts";

/** The window of every stand-in's model, in tokens. */
export const WINDOW = 60_000;
const MAX_OUTPUT = 8_192;

export interface ProviderUnderTest {
  readonly name: Provider;
  readonly upstreamId: string;
  readonly key: string;
  readonly start: () => Promise<ProviderStandIn & { readonly binding?: Ai }>;
  /** The place of the messages in the request, in the order of the wire. */
  readonly messages: "input" | "messages" | "contents";
  /** Whether the model's thinking is shown. */
  readonly showsThinking: boolean;
  /** Whether thinking, or its signature, is sent back with the calls that it led to. */
  readonly takesThinkingBack: boolean;
  /** The form of an image and of a PDF that the provider fetches itself. Null: the request names it in words. */
  readonly media: { readonly image: string | null; readonly pdf: string | null };
  /** An event that current readers may not know. */
  readonly news: unknown;
  /** Whether the provider reports what was written to the cache. */
  readonly reportsWrites: boolean;
  /** The minimum tokens of a cached prefix, and the step in which it grows. */
  readonly cache: { readonly least: number; readonly step: number };
  readonly failures: ProviderFailures;
}

export const PROVIDERS_UNDER_TEST: readonly ProviderUnderTest[] = [
  {
    name: "openai",
    upstreamId: "gpt-6-sol",
    key: OPENAI_KEY,
    start: () => startProvider(createResponses({ window: WINDOW })),
    messages: "input",
    showsThinking: false,
    takesThinkingBack: true,
    media: { image: '"type":"input_image"', pdf: '"type":"input_file"' },
    news: { type: "response.mood.delta", mood: "calm", output_index: 0 },
    reportsWrites: false,
    cache: { least: 1_024, step: 128 },
    failures: responsesFailures,
  },
  {
    name: "openai-chat",
    upstreamId: "gpt-4o",
    key: OPENAI_KEY,
    start: () => startProvider(createChat({ window: WINDOW, style: "openai" })),
    messages: "messages",
    showsThinking: false,
    takesThinkingBack: false,
    media: { image: '"type":"image_url"', pdf: null },
    news: { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m", choices: [], obfuscation: "k3s" },
    reportsWrites: false,
    cache: { least: 1_024, step: 128 },
    failures: chatFailures,
  },
  {
    name: "openai-compatible",
    upstreamId: "kimi-k3",
    key: OPENAI_KEY,
    start: () => startProvider(createChat({ window: WINDOW, style: "compatible" })),
    messages: "messages",
    showsThinking: true,
    takesThinkingBack: false,
    media: { image: '"type":"image_url"', pdf: null },
    news: { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m", choices: [], obfuscation: "k3s" },
    reportsWrites: false,
    cache: { least: 1_024, step: 128 },
    failures: compatibleFailures,
  },
  {
    name: "anthropic",
    upstreamId: "claude-sonnet-5-5",
    key: ANTHROPIC_KEY,
    start: () => startProvider(createAnthropic({ window: WINDOW, maxOutput: MAX_OUTPUT })),
    messages: "messages",
    showsThinking: true,
    takesThinkingBack: true,
    media: { image: '"type":"image"', pdf: '"type":"document"' },
    news: { type: "content_block_mood", index: 0, mood: "calm" },
    reportsWrites: true,
    cache: { least: 1_024, step: 1 },
    failures: anthropicFailures,
  },
  {
    name: "google",
    upstreamId: "gemini-3.5-flash",
    key: GOOGLE_KEY,
    start: () => startProvider(createGoogle({ window: WINDOW })),
    messages: "contents",
    showsThinking: false,
    takesThinkingBack: true,
    media: { image: '"fileData":', pdf: '"fileData":' },
    news: { usageMetadata: { promptTokenCount: 12, totalTokenCount: 12 }, modelVersion: "gemini-3.5-flash", mood: "calm" },
    reportsWrites: false,
    cache: { least: 1_024, step: 1 },
    failures: googleFailures,
  },
  {
    name: "workers-ai",
    upstreamId: "@cf/openai/gpt-oss-120b",
    key: "no key: the binding is the credential",
    start: async () => startWorkersAi({ window: WINDOW }),
    messages: "messages",
    showsThinking: true,
    takesThinkingBack: false,
    media: { image: null, pdf: null },
    news: { mood: "calm" },
    reportsWrites: false,
    cache: { least: 1_024, step: 128 },
    failures: workersAiFailures,
  },
];

export interface Bench extends ProviderUnderTest {
  readonly standIn: ProviderStandIn;
  readonly model: ReturnType<typeof createChatModel>;
  readonly spec: ModelSpec;
}

/** `fetch`: what stands between the adapter and the provider. Absent: nothing. */
export async function openBench(provider: ProviderUnderTest, fetch: typeof globalThis.fetch = globalThis.fetch): Promise<Bench> {
  const standIn = await provider.start();
  const model = createChatModel({ credentials: async () => provider.key, estimate: (text) => text.length, ai: standIn.binding, fetch });
  const spec: ModelSpec = {
    id: `test-${provider.name}`,
    provider: provider.name,
    upstream_id: provider.upstreamId,
    base_url: standIn.baseUrl,
    context_window: WINDOW,
    max_output: MAX_OUTPUT,
    capabilities: { tools: true, images: true, files: true, reasoning: provider.name !== "openai-chat" },
    source: "deployment",
  };
  return { ...provider, standIn, model, spec };
}
