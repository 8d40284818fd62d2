/** Who is called with which key. Pure: the whole rule is here, and nothing else decides. */
import { assertNever } from "../../lib/assert-never";
import type { ModelSpec, Provider } from "../ports";

/** Whose key of the deployment it is; each is a secret of its own. */
type DeploymentKey = "openai" | "anthropic" | "google" | "openai-compatible";

export type DeploymentKeys = Readonly<Record<DeploymentKey, string | undefined>>;

export type KeySource =
  /** The tenant's own, by its name. */
  | { readonly from: "tenant"; readonly credential: string }
  | { readonly from: "deployment"; readonly key: DeploymentKey }
  /** Called without a key. */
  | { readonly from: "none" };

type KeyFacts = Pick<ModelSpec, "provider" | "base_url" | "credential" | "source">;

const NONE: KeySource = { from: "none" };

/**
 * A tenant's base URL never sees a key of the deployment: it is for the deployment's own models, wherever they are, and
 * for a tenant's at the provider's own address. A deployment's model never sees a tenant's credential.
 */
export function keySourceOf({ provider, base_url, credential, source }: KeyFacts): KeySource {
  const key = deploymentKeyOf(provider);
  if (key === null) return NONE;
  if (source === "tenant" && credential !== undefined) return { from: "tenant", credential };
  // An OpenAI-compatible endpoint is never the provider's own address.
  if (source === "tenant" && (base_url !== null || provider === "openai-compatible")) return NONE;
  return { from: "deployment", key };
}

/** Whether a call without a key is in vain: at a provider's own address it is, at another one there may be none to show. */
export const needsKey = (model: ModelSpec): boolean => model.base_url === null && keySourceOf(model).from !== "none";

/** Whether the tenant pays for the model's calls: by its own credential, or at an address of its own that wants none. */
export function isPaidByTenant(model: KeyFacts): boolean {
  const { from } = keySourceOf(model);
  return from === "tenant" || (from === "none" && model.source === "tenant" && deploymentKeyOf(model.provider) !== null);
}

/** Null: called without a key. */
function deploymentKeyOf(provider: Provider): DeploymentKey | null {
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
