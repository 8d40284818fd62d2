/** Builds the prompt of a chat completion for any compatible endpoint. What the models wrote is sent back byte for byte. */
import type { ModelRequest, ModelSpec } from "../app/ports";
import { findQuirks } from "../context/model-quirks";
import { type ProviderMetadata, type ToolCallPart, thoughtSignature } from "../domain/message";
import { toGenerationOptions } from "./generation-options";
import { type PromptRules, type SdkAssistantPart, type SdkCall, toSdkPrompt } from "./sdk-prompt";
import { CallIds, toWireName, WireIds } from "./wire-names";

/**
 * The camel case of this name is the key under which the SDK reads a part's own options and spreads them over the wire
 * object.
 */
export const PROVIDER_NAME = "openaiCompatible";

/** Marks thinking that goes back. It counts as signed: for the model that wrote it, and within the turn's own tokens. */
const RETURNED: ProviderMetadata = { [PROVIDER_NAME]: {} };
/** In place of the thinking of a call that has none (any more). An empty one counts as absent. */
const NO_THINKING = ".";

/** Models that refuse a call without the thinking that led to it, from the second round of tools on and in every later request. */
const returnsThinking = (model: ModelSpec): boolean => model.capabilities?.reasoning !== false && findQuirks(model).return_reasoning;

const isOfCalls: PromptRules["takesBack"] = (part, among) =>
  part.provider_metadata?.[PROVIDER_NAME] !== undefined && among.some(({ type }) => type === "tool_call");

/** What the thinking of a reply is kept with. Null: it does not go back. */
export const markThinking = (model: ModelSpec): ProviderMetadata | null => (returnsThinking(model) ? RETURNED : null);

const rules: PromptRules = {
  key: null,
  // Images and video are sent by URL.
  takesUrl: (mediaType) => /^(?:image|video)(?:\/|$)/.test(mediaType),
  // Many endpoints refuse a `reasoning_content`.
  takesBack: () => false,
  toCall: (part, id) => toCall(part, { id, signed: false }),
  toName: toWireName,
  ids: null,
  systemInFront: false,
  userInFront: false,
  // OpenAI answers such a conversation. Some other endpoints refuse it.
  userAtEnd: true,
  joinsReplies: false,
  refusesBlank: false,
  callsNeedTools: false,
};

/**
 * The SDK would parse `input` and write text that is not JSON as a JSON string. The part's own options are spread
 * over the wire object instead, so that the arguments go back byte for byte as the model wrote them.
 */
function toCall(part: ToolCallPart, { id, signed }: { readonly id: string; readonly signed: boolean }): SdkAssistantPart {
  const signature = signed ? thoughtSignature(part) : null;
  const name = toWireName(part.name);
  return {
    type: "tool-call",
    toolCallId: id,
    toolName: name,
    input: {},
    providerOptions: {
      [PROVIDER_NAME]: { function: { name, arguments: part.arguments } },
      ...(signature === null ? {} : { google: { thoughtSignature: signature } }),
    },
  };
}

/** Maximum length of a call's id at OpenAI itself. Other endpoints state no maximum. */
const OPENAI_ID_UNITS = 40;

/** Gemini needs its thought signatures, wherever it is served. Other endpoints may refuse a field that they do not know. */
const readsSignatures = ({ upstream_id, base_url }: ModelSpec): boolean =>
  /gemini/i.test(upstream_id) || (base_url !== null && (URL.parse(base_url)?.hostname.endsWith(".googleapis.com") ?? false));

function rulesFor({ model }: ModelRequest): PromptRules {
  const quirks = findQuirks(model);
  const isOpenAi = model.provider === "openai-chat";
  const isNine = quirks.call_ids === "nine_characters";
  return {
    ...rules,
    ...(isOpenAi && { userAtEnd: false }),
    ...(isNine ? { ids: new CallIds() } : isOpenAi && { ids: new WireIds(OPENAI_ID_UNITS) }),
    ...(quirks.system === "first" && { systemInFront: true, joinsSystem: "leading" }),
    ...(quirks.system === "merged" && { joinsSystem: "all" }),
    ...(quirks.alternate_roles && { joinsReplies: true, joinsUsers: true, userInFront: true }),
    ...(quirks.images === "data" && { takesUrl: () => false }),
    ...(returnsThinking(model) && { takesBack: isOfCalls, thinkingOfCalls: NO_THINKING }),
    ...(readsSignatures(model) && { toCall: (part: ToolCallPart, id: string) => toCall(part, { id, signed: true }) }),
  };
}

export function toCompatibleCall(request: ModelRequest): SdkCall {
  const { messages, tools } = toSdkPrompt(request, rulesFor(request));
  return {
    prompt: messages.map(({ message }) => message),
    tools: [...tools],
    ...(request.maxOutput === null ? {} : { maxOutputTokens: request.maxOutput }),
    ...toGenerationOptions(request, tools),
  };
}
