/** How each provider's wire differs, where the AI SDK leaves it to the caller. */
import type { JSONObject } from "@ai-sdk/provider";
import type { Part, ReasoningPart, ToolCallPart } from "../domain/message";
import { optionsOf, ownMetadata, type PromptRules, type SdkAssistantPart } from "./sdk-prompt";
import { asText } from "./wire-chunk";
import { toWireName, WireIds } from "./wire-names";

/** Patterns of URLs that a provider fetches itself, by media type: `image/*`, `application/pdf`, `*`. The SDK's own list. */
export type SupportedUrls = Readonly<Record<string, readonly RegExp[]>>;

export function takesUrl(supported: SupportedUrls, mediaType: string, url: URL): boolean {
  const topLevel = mediaType.split("/")[0];
  const patterns = Object.entries(supported).filter(([type]) => type === "*" || type === mediaType || type === `${topLevel}/*`);
  return patterns.some(([, urls]) => urls.some((pattern) => pattern.test(url.href)));
}

/** The arguments as a wire takes them that wants an object: what is none is sent as one that says so, with every character of it. */
function toArgumentsObject(text: string): JSONObject {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as JSONObject;
  } catch {
    // Not JSON at all.
  }
  return { invalid_arguments: text };
}

/** An object's text goes back as the model wrote it; anything else as for the wires that want an object. */
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

const callOf = (key: string, input: (text: string) => unknown): PromptRules["toCall"] =>
  function toCall(part: ToolCallPart, id: string): SdkAssistantPart {
    return { type: "tool-call", toolCallId: id, toolName: toWireName(part.name), input: input(part.arguments), ...optionsOf(part, key) };
  };

/** A reasoning item may be of several parts, of which the last carries what it is sealed with: all of them go back, or none. */
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
  toCall: callOf("openai", toArgumentsText),
  systemInFront: false,
  userInFront: false,
  joinsReplies: false,
  refusesBlank: false,
  callsNeedTools: false,
});

export const anthropicRules = (supported: SupportedUrls): PromptRules => ({
  ...shared(supported),
  // The SDK's list allows http, the API does not.
  takesUrl: (mediaType, url) => url.protocol === "https:" && takesUrl(supported, mediaType, url),
  key: "anthropic",
  takesBack(part) {
    const own = ownMetadata(part, "anthropic");
    return asText(own?.signature) !== null || asText(own?.redactedData) !== null;
  },
  toCall: callOf("anthropic", toArgumentsObject),
  systemInFront: true,
  userInFront: true,
  joinsReplies: false,
  refusesBlank: true,
  callsNeedTools: true,
});

export const googleRules = (supported: SupportedUrls): PromptRules => ({
  ...shared(supported),
  key: "google",
  takesBack: (part) => asText(ownMetadata(part, "google")?.thoughtSignature) !== null,
  toCall: callOf("google", toArgumentsObject),
  systemInFront: true,
  userInFront: true,
  joinsReplies: true,
  refusesBlank: true,
  callsNeedTools: false,
});

/** Its models sign nothing; thinking stays here. */
export const workersAiRules = (): PromptRules => ({
  ...shared({}),
  key: null,
  takesBack: () => false,
  toCall: callOf("workers-ai", toArgumentsObject),
  systemInFront: false,
  userInFront: false,
  joinsReplies: false,
  refusesBlank: false,
  callsNeedTools: false,
});
