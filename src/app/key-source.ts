/** Decides which key a model is called with. Pure. This is the only place with that rule. */
import type { Provider } from "../context/model-input";
import { assertNever } from "../lib/assert-never";
import type { ModelSpec } from "./ports";

/** Which of the deployment's keys it is. Each is a separate secret. */
type DeploymentKey = "openai" | "anthropic" | "google" | "openai-compatible";

export type DeploymentKeys = Readonly<Record<DeploymentKey, string | undefined>>;

export type KeySource =
  /** The tenant's own credential, by name. */
  | { readonly from: "tenant"; readonly credential: string }
  | { readonly from: "deployment"; readonly key: DeploymentKey }
  /** Called without a key. */
  | { readonly from: "none" };

type KeyFacts = Pick<ModelSpec, "provider" | "base_url" | "credential" | "source">;

const NONE: KeySource = { from: "none" };

/**
 * The deployment's keys are for its own models at any address, and for a tenant's models at the provider's own address: a tenant's base URL
 * never receives one. A deployment's model never receives a tenant's credential.
 */
export function findKeySource({ provider, base_url, credential, source }: KeyFacts): KeySource {
  const key = toDeploymentKey(provider);
  if (key === null) return NONE;
  if (source === "tenant" && credential !== undefined) return { from: "tenant", credential };
  // An OpenAI-compatible endpoint is never the provider's own address.
  if (source === "tenant" && (base_url !== null || provider === "openai-compatible")) return NONE;
  return { from: "deployment", key };
}

/** Whether a call without a key must fail. It must at a provider's own address; another address may need no key. */
export const needsKey = (model: ModelSpec): boolean => model.base_url === null && findKeySource(model).from !== "none";

/** Whether the tenant pays for the model's calls: with its own credential, or at an address of its own that gets no key. */
export function isPaidByTenant(model: KeyFacts): boolean {
  const { from } = findKeySource(model);
  return from === "tenant" || (from === "none" && model.source === "tenant" && toDeploymentKey(model.provider) !== null);
}

/** Null: this provider is called without a key. */
function toDeploymentKey(provider: Provider): DeploymentKey | null {
  switch (provider) {
    case "openai":
    case "openai-chat":
      return "openai";
    case "anthropic":
    case "google":
    case "openai-compatible":
      return provider;
    case "embedded":
    case "workers-ai":
      return null;
    default:
      return assertNever(provider);
  }
}
