/** The packages that speak OpenAI's chat completions, each behind the few things that every application does with it. */
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { AIMessage, AIMessageChunk, type BaseMessage, HumanMessage, ToolMessage, type UsageMetadata } from "@langchain/core/messages";
import { tool as langChainTool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { APICallError, generateText, jsonSchema, type LanguageModel, Output, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";
import OpenAIv5 from "openai-v5";
import OpenAIv6 from "openai-v6";

/** Where a client connects. Without a session its requests are stateless. */
export interface Connecting {
  readonly baseURL: string;
  readonly apiKey: string;
  readonly session: string | null;
  readonly model: string;
  /** Asks for compaction where the request does not fit. */
  readonly compacts?: boolean;
}

interface Said {
  readonly role: "user" | "assistant";
  readonly content: string;
}
export type Transcript = readonly Said[];

export interface Answer {
  readonly text: string;
  readonly tokens: number;
}

interface ToolLoop {
  /** Runs one call of the tool `weather`. */
  readonly run: (city: string) => string;
  readonly streams: boolean;
}

export interface ChatClient {
  ask(transcript: Transcript): Promise<Answer>;
  stream(transcript: Transcript): Promise<Answer>;
  /** The client's own loop over calls and results. */
  useWeather(question: string, loop: ToolLoop): Promise<string>;
  /** An object with a city and its temperature. */
  extract(question: string): Promise<unknown>;
}

const TEXT = { type: "string" } as const;
export const WEATHER = { type: "object" as const, properties: { city: TEXT }, required: ["city"], additionalProperties: false };
export const REPORT = {
  type: "object" as const,
  properties: { city: TEXT, degrees: { type: "number" as const } },
  required: ["city", "degrees"],
  additionalProperties: false,
};

const COMPACTS = { context_management: [{ type: "compaction" }] };
const toHeaders = (session: string | null): Record<string, string> => (session === null ? {} : { "X-Session-Id": session });
const DESCRIPTION = "The weather in a city";
const readCity = (given: unknown): string =>
  typeof given === "object" && given !== null && "city" in given && typeof given.city === "string" ? given.city : "";

/** The majors have types of their own. What is called here is the same in all of them. */
type AnyOpenAI = new (options: { baseURL: string; apiKey: string; maxRetries: number; defaultHeaders: Record<string, string> }) => OpenAI;
const asOpenAI = (made: unknown): AnyOpenAI => made as AnyOpenAI;

const connectOpenAI =
  (Client: AnyOpenAI) =>
  ({ baseURL, apiKey, session, model, compacts }: Connecting): ChatClient => {
    const { completions } = new Client({ baseURL, apiKey, maxRetries: 0, defaultHeaders: toHeaders(session) }).chat;
    const more = compacts ? COMPACTS : {};
    return {
      async ask(messages) {
        const { choices, usage } = await completions.create({ model, messages: [...messages], ...more });
        return { text: choices[0]?.message.content ?? "", tokens: usage?.total_tokens ?? 0 };
      },
      async stream(messages) {
        const stream = completions.stream({ model, messages: [...messages], stream_options: { include_usage: true }, ...more });
        const { choices, usage } = await stream.finalChatCompletion();
        return { text: choices[0]?.message.content ?? "", tokens: usage?.total_tokens ?? 0 };
      },
      async useWeather(content, { run, streams }) {
        const weather = {
          name: "weather",
          description: DESCRIPTION,
          parameters: WEATHER,
          parse: (text: string): object => JSON.parse(text),
          function: (given: object) => run(readCity(given)),
        };
        const asked = { model, messages: [{ role: "user" as const, content }] };
        const runner = streams
          ? completions.runTools({ ...asked, tools: [{ type: "function", function: weather }], stream: true })
          : completions.runTools({ ...asked, tools: [{ type: "function", function: weather }] });
        return (await runner.finalContent()) ?? "";
      },
      async extract(content) {
        const json_schema = { name: "report", schema: REPORT, strict: true };
        const messages = [{ role: "user" as const, content }];
        const { choices } = await completions.create({ model, messages, response_format: { type: "json_schema", json_schema } });
        return JSON.parse(choices[0]?.message.content ?? "");
      },
    };
  };

const readReport = (value: unknown): { success: true; value: unknown } => ({ success: true, value });

const connectAiSdk =
  (toModel: (connecting: Connecting) => LanguageModel) =>
  (connecting: Connecting): ChatClient => {
    const model = toModel(connecting);
    const asked = { model, maxRetries: 0 };
    return {
      async ask(messages) {
        const { text, usage } = await generateText({ ...asked, messages: [...messages] });
        return { text, tokens: usage.totalTokens ?? 0 };
      },
      async stream(messages) {
        let fault: unknown = null;
        const onError = ({ error }: { readonly error: unknown }): void => {
          fault = error;
        };
        const streamed = streamText({ ...asked, messages: [...messages], onError });
        let text = "";
        for await (const delta of streamed.textStream) text += delta;
        if (fault !== null) throw fault;
        return { text, tokens: (await streamed.usage).totalTokens ?? 0 };
      },
      async useWeather(prompt, { run, streams }) {
        const execute = async (given: unknown) => run(readCity(given));
        const weather = tool({ description: DESCRIPTION, inputSchema: jsonSchema<{ city: string }>(WEATHER), execute });
        const looped = { ...asked, prompt, tools: { weather }, stopWhen: stepCountIs(5) };
        return streams ? await streamText(looped).text : (await generateText(looped)).text;
      },
      async extract(prompt) {
        const schema = jsonSchema(REPORT, { validate: readReport });
        const { output } = await generateText({ ...asked, prompt, output: Output.object({ schema }) });
        return output;
      },
    };
  };

const toOpenAiModel = ({ baseURL, apiKey, session, model }: Connecting): LanguageModel =>
  createOpenAI({ baseURL, apiKey, headers: toHeaders(session) }).chat(model);

const toCompatibleModel = ({ baseURL, apiKey, session, model, compacts }: Connecting): LanguageModel =>
  createOpenAICompatible({
    name: "longhand",
    baseURL,
    apiKey,
    headers: toHeaders(session),
    includeUsage: true,
    supportsStructuredOutputs: true,
    transformRequestBody: (body) => ({ ...body, ...(compacts && COMPACTS) }),
  }).chatModel(model);

const toLangChain = ({ role, content }: Said): BaseMessage => (role === "user" ? new HumanMessage(content) : new AIMessage(content));
const toAnswer = ({ text, usage_metadata }: Pick<AIMessageChunk, "text"> & { usage_metadata?: UsageMetadata | undefined }): Answer => ({
  text,
  tokens: usage_metadata?.total_tokens ?? 0,
});

function connectLangChain({ baseURL, apiKey, session, model, compacts }: Connecting): ChatClient {
  const configuration = { baseURL, defaultHeaders: toHeaders(session) };
  const modelKwargs = compacts ? COMPACTS : {};
  const chat = new ChatOpenAI({ model, apiKey, configuration, maxRetries: 0, modelKwargs, useResponsesApi: false });
  return {
    async ask(messages) {
      return toAnswer(await chat.invoke(messages.map(toLangChain)));
    },
    async stream(messages) {
      return toAnswer(await gather(await chat.stream(messages.map(toLangChain))));
    },
    async useWeather(question, { run, streams }) {
      const runTool = async (given: unknown) => run(readCity(given));
      const bound = chat.bindTools([langChainTool(runTool, { name: "weather", description: DESCRIPTION, schema: WEATHER })]);
      const invoke = async (messages: BaseMessage[]) => (streams ? gather(await bound.stream(messages)) : bound.invoke(messages));
      const asked = new HumanMessage(question);
      const called = await invoke([asked]);
      const calls = called.tool_calls ?? [];
      const results = calls.map(({ id = "", args }) => new ToolMessage({ tool_call_id: id, content: run(readCity(args)) }));
      return (await invoke([asked, called, ...results])).text;
    },
    extract: (question) => chat.withStructuredOutput(REPORT, { name: "report", method: "jsonSchema" }).invoke(question),
  };
}

async function gather(chunks: AsyncIterable<AIMessageChunk>): Promise<AIMessageChunk> {
  let whole: AIMessageChunk | null = null;
  for await (const chunk of chunks) whole = whole === null ? chunk : whole.concat(chunk);
  return whole ?? new AIMessageChunk("");
}

/** By package. */
export const CHAT_CLIENTS: readonly (readonly [name: string, connect: (connecting: Connecting) => ChatClient])[] = [
  ["openai", connectOpenAI(asOpenAI(OpenAI))],
  ["openai 6", connectOpenAI(asOpenAI(OpenAIv6))],
  ["openai 5", connectOpenAI(asOpenAI(OpenAIv5))],
  ["@ai-sdk/openai", connectAiSdk(toOpenAiModel)],
  ["@ai-sdk/openai-compatible", connectAiSdk(toCompatibleModel)],
  ["@langchain/openai", connectLangChain],
];

/** The status of a refusal, as each client shows it. */
export function readStatus(error: unknown): number | null {
  if (APICallError.isInstance(error)) return error.statusCode ?? null;
  return typeof error === "object" && error !== null && "status" in error && typeof error.status === "number" ? error.status : null;
}
