/** One `ChatModel` for all models: each call goes to its provider's adapter. */
import type { ChatModel, Credentials, ModelSpec } from "../app/ports";
import { assertNever } from "../lib/assert-never";
import { createEmbeddedModel } from "./embedded";
import type { EstimateTokens } from "./extract-summary";
import { createOpenAiCompatibleModel, type FetchFunction } from "./openai-compatible";

export interface ChatModelOptions {
  readonly credentials: Credentials;
  /** Called with `globalThis` as its `this`, as workerd demands. */
  readonly fetch?: FetchFunction;
  readonly estimate: EstimateTokens;
}

export function createChatModel({ credentials, estimate, fetch }: ChatModelOptions): ChatModel {
  const compatible = createOpenAiCompatibleModel({ credentials, fetch: fetch ?? ((url, init) => globalThis.fetch(url, init)) });
  const embedded = createEmbeddedModel(estimate);
  const adapterFor = ({ provider }: ModelSpec): ChatModel => {
    switch (provider) {
      case "embedded":
        return embedded;
      case "openai-compatible":
        return compatible;
      case "openai":
      case "openai-chat":
      case "anthropic":
      case "google":
      case "workers-ai":
        throw new TypeError(`No adapter for ${provider} yet.`);
      default:
        return assertNever(provider);
    }
  };
  return {
    stream: (request, options) => adapterFor(request.model).stream(request, options),
    render: (request) => adapterFor(request.model).render(request),
  };
}
