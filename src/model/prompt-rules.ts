/** The differences between the providers' wire formats that the AI SDK leaves to the caller. */
import type { JSONObject } from "@ai-sdk/provider";
import type { Part, ReasoningPart, ToolCallPart } from "../domain/message";
import { ownMetadata, type PromptRules, type SdkAssistantPart, toProviderOptions } from "./sdk-prompt";
import { asText } from "./wire-chunk";
import { toWireName, WireIds } from "./wire-names";

/** Patterns of URLs that a provider fetches itself, by media type (`image/*`, `application/pdf`, `*`), as the SDK lists them. */
export type SupportedUrls = Readonly<Record<string, readonly RegExp[]>>;

export function takesUrl(supported: SupportedUrls, mediaType: string, url: URL): boolean {
  const topLevel = mediaType.split("/")[0];
  const patterns = Object.entries(supported).filter(([type]) => type === "*" || type === mediaType || type === `${topLevel}/*`);
  return patterns.some(([, urls]) => urls.some((pattern) => pattern.test(url.href)));
}

/**
 * Converts arguments for a wire format that demands an object. Blank text becomes `{}`; text that is not a JSON object is
 * kept whole as `{invalid_arguments: text}`.
 */
function toArgumentsObject(text: string): JSONObject {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as JSONObject;
  } catch {
    // The text is not JSON: it is kept as `invalid_arguments`.
  }
  return { invalid_arguments: text };
}

/**
 * Converts arguments to text. The text of an object is sent exactly as the model wrote it; anything else is converted by
 * `toArgumentsObject`.
 */
function toArgumentsText(text: string): string {
  const object = toArgumentsObject(text);
  return text.trim() === "" || Object.hasOwn(object, "invalid_arguments") ? JSON.stringify(object) : text;
}

type Shared = Pick<PromptRules, "takesUrl" | "toName" | "ids">;

const shared = (supported: SupportedUrls): Shared => ({
  takesUrl: (mediaType, url) => takesUrl(supported, mediaType, url),
  toName: toWireName,
  ids: new WireIds(),
});

const buildCallRule = (key: string, input: (text: string) => unknown): PromptRules["toCall"] =>
  function toCall(part: ToolCallPart, id: string): SdkAssistantPart {
    return {
      type: "tool-call",
      toolCallId: id,
      toolName: toWireName(part.name),
      input: input(part.arguments),
      ...toProviderOptions(part, key),
    };
  };

/**
 * True when the reasoning item of this part has its encrypted content. An item may have several parts, and only the last one
 * carries the encrypted content: all parts are sent back, or none.
 */
function isSealed(part: ReasoningPart, among: readonly Part[]): boolean {
  const item = ownMetadata(part, "openai")?.itemId;
  return among.some((other) => {
    const own = other.type === "reasoning" ? ownMetadata(other, "openai") : undefined;
    return own !== undefined && own.itemId === item && asText(own.reasoningEncryptedContent) !== null;
  });
}

export const openAiRules = (supported: SupportedUrls): PromptRules => ({
  ...shared(supported),
  key: "openai",
  takesBack: isSealed,
  toCall: buildCallRule("openai", toArgumentsText),
  systemInFront: false,
  userInFront: false,
  userAtEnd: false,
  joinsReplies: false,
  refusesBlank: false,
  callsNeedTools: false,
});

export const anthropicRules = (supported: SupportedUrls): PromptRules => ({
  ...shared(supported),
  // The SDK's list allows http; the API does not.
  takesUrl: (mediaType, url) => url.protocol === "https:" && takesUrl(supported, mediaType, url),
  key: "anthropic",
  takesBack(part) {
    const own = ownMetadata(part, "anthropic");
    return asText(own?.signature) !== null || asText(own?.redactedData) !== null;
  },
  toCall: buildCallRule("anthropic", toArgumentsObject),
  systemInFront: true,
  userInFront: true,
  userAtEnd: true,
  joinsReplies: false,
  refusesBlank: true,
  callsNeedTools: true,
});

export const googleRules = (supported: SupportedUrls): PromptRules => ({
  ...shared(supported),
  key: "google",
  takesBack: (part) => asText(ownMetadata(part, "google")?.thoughtSignature) !== null,
  toCall: buildCallRule("google", toArgumentsObject),
  systemInFront: true,
  userInFront: true,
  userAtEnd: true,
  joinsReplies: true,
  refusesBlank: true,
  callsNeedTools: false,
});

/** Models of Workers AI sign nothing, so no thinking is sent back. */
export const workersAiRules = (): PromptRules => ({
  ...shared({}),
  key: null,
  takesBack: () => false,
  toCall: buildCallRule("workers-ai", toArgumentsObject),
  systemInFront: false,
  userInFront: false,
  userAtEnd: false,
  joinsReplies: false,
  refusesBlank: false,
  callsNeedTools: false,
});
