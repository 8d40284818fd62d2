/** A reply as `streamGenerateContent?alt=sse` streams it. Every event has the SDK's shape, or it does not compile. */
import {
  type Candidate,
  FinishReason,
  type GenerateContentResponse,
  type GenerateContentResponseUsageMetadata,
  type Part,
} from "@google/genai";
import { outputTokens, thinkingTokens } from "../reply-tokens.ts";
import { type Frame, type PromptUsage, type ScriptedReply, splitDeltas } from "../script.ts";
import { makeSignature, signedContent } from "./rules.ts";

/** Without the members that the SDK's class adds to the JSON. */
type WireResponse = Pick<GenerateContentResponse, "modelVersion"> &
  Partial<Pick<GenerateContentResponse, "candidates" | "promptFeedback" | "responseId" | "usageMetadata">>;

export interface EventsInput {
  readonly reply: ScriptedReply;
  readonly usage: PromptUsage;
  readonly model: string;
  readonly responseId: string;
  /** Thoughts are sent only when the request asks for them. */
  readonly withThoughts: boolean;
}

export const toFrame = (event: unknown): Frame => ({ data: `data: ${JSON.stringify(event)}\r\n\r\n` });

export function toFrames(input: EventsInput): readonly Frame[] {
  const parts = toParts(input);
  const frame = (held: readonly Part[], finish?: FinishReason): Frame => toFrame(toEvent(input, held, finish));
  return [...parts.map((part) => frame([part])), { ...frame([toLast(input)], toFinish(input.reply)), tail: true }];
}

/** The form of a stream without `alt=sse`: an array of events. */
export const toWhole = (input: EventsInput): readonly WireResponse[] => [
  toEvent(input, toParts(input)),
  toEvent(input, [toLast(input)], toFinish(input.reply)),
];

function toEvent(input: EventsInput, held: readonly Part[], finish?: FinishReason): WireResponse {
  const candidate: Candidate = { content: { role: "model", parts: [...held] }, index: 0, ...(finish ? { finishReason: finish } : {}) };
  return { candidates: [candidate], usageMetadata: toUsage(input), modelVersion: input.model, responseId: input.responseId };
}

const toLast = ({ reply }: EventsInput): Part => ({
  text: "",
  ...(reply.blocks.at(-1)?.type === "text" ? { thoughtSignature: makeSignature(signedContent({})) } : {}),
});

/** Calls arrive complete. The first call of a reply has the signature of the thinking before it. */
function toParts({ reply, withThoughts }: EventsInput): readonly Part[] {
  const first = reply.blocks.findIndex(({ type }) => type === "call");
  return reply.blocks.flatMap((block, place): Part[] => {
    if (block.type === "text") return splitDeltas(block.text).map((text) => ({ text }));
    if (block.type === "thinking") return withThoughts ? splitDeltas(block.text).map((text) => ({ text, thought: true })) : [];
    if (block.type === "redacted") return [];
    const functionCall = { name: block.name, args: JSON.parse(block.arguments) as Record<string, unknown> };
    return [{ functionCall, ...(place === first ? { thoughtSignature: makeSignature(signedContent({ functionCall })) } : {}) }];
  });
}

/** The finish reason is `STOP` with or without calls. */
function toFinish({ finish }: ScriptedReply): FinishReason {
  if (finish === "length") return FinishReason.MAX_TOKENS;
  return finish === "refused" ? FinishReason.SAFETY : FinishReason.STOP;
}

/** Thoughts are counted separately from the candidates. */
function toUsage({ reply, usage }: EventsInput): GenerateContentResponseUsageMetadata {
  const thoughts = thinkingTokens(reply);
  const said = outputTokens(reply) - thoughts;
  return {
    promptTokenCount: usage.input,
    candidatesTokenCount: said,
    totalTokenCount: usage.input + said + thoughts,
    ...(usage.cacheRead > 0 ? { cachedContentTokenCount: usage.cacheRead } : {}),
    ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
  };
}
