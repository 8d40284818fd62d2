/** One `ChatModel` for all models: each call goes to its provider's adapter. */
import type { ChatModel, Credentials, ModelSpec } from "../app/ports";
import { assertNever } from "../lib/assert-never";
import { createEmbeddedModel } from "./embedded";
import type { EstimateTokens } from "./extract-summary";
import { createOpenAiCompatibleModel } from "./openai-compatible";
import type { FetchFunction } from "./provider-link";
import { createProviderModel, type ProviderAdapter } from "./provider-model";
import { anthropic, google, openAi } from "./providers";
import { createWorkersAiModel } from "./workers-ai";

interface ChatModelOptions {
  /** Looked up for each call, whatever the model. It alone decides which key is sent where. */
  readonly credentials: Credentials;
  /** Called with `globalThis` as its `this`, as workerd demands. */
  readonly fetch?: FetchFunction;
  readonly estimate: EstimateTokens;
  /** The binding of Workers AI. Without it, calls of its models fail as `unavailable`. */
  readonly ai?: Ai | undefined;
}

export function createChatModel({
  credentials,
  estimate,
  ai,
  fetch = (url, init) => globalThis.fetch(url, init),
}: ChatModelOptions): ChatModel {
  const through = (adapter: ProviderAdapter): ChatModel => createProviderModel({ adapter, credentials, fetch });
  const chat = createOpenAiCompatibleModel({ credentials, fetch });
  const models = {
    openAi: through(openAi),
    anthropic: through(anthropic),
    google: through(google),
    embedded: createEmbeddedModel(estimate),
    workersAi: createWorkersAiModel(ai),
  };
  const adapterFor = ({ provider }: ModelSpec): ChatModel => {
    switch (provider) {
      case "embedded":
        return models.embedded;
      case "openai-compatible":
      case "openai-chat":
        return chat;
      case "openai":
        return models.openAi;
      case "anthropic":
        return models.anthropic;
      case "google":
        return models.google;
      case "workers-ai":
        return models.workersAi;
      default:
        return assertNever(provider);
    }
  };
  return {
    stream: (request, options) => adapterFor(request.model).stream(request, options),
    render: (request) => adapterFor(request.model).render(request),
  };
}
