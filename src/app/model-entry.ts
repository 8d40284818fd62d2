/** A model in the registry: what was configured, what applies, and the source of each figure. */
import type { Prices } from "../context/economy";
import type { ModelCapabilities, Provider } from "../context/model-input";
import type { EndpointId, Quirks } from "../context/model-quirks";
import type { FigureSources, KnownQuirk, LimitSuggestion } from "../contract/model";
import type { ModelSpec } from "./ports";

/** What a tenant or the deployment configures for a model. An absent figure is filled in from what is known of a model of its name. */
export interface ModelOverride {
  readonly provider: Provider;
  readonly upstream_id: string;
  readonly base_url: string | null;
  /** Null: configured as unknown. */
  readonly context_window?: number | null;
  readonly max_output?: number;
  readonly capabilities?: ModelCapabilities;
  readonly ratio?: number;
  /** US dollars per token. */
  readonly prices?: Prices;
  readonly credential?: string;
  /** The endpoint by name, which names its quirks. */
  readonly endpoint?: EndpointId;
  readonly quirks?: Quirks;
}

/** What another source reported about a model and the registry does not have: limits, or quirks of its endpoint. */
export interface SuggestedLimit {
  readonly model: string;
  readonly context_window?: number;
  readonly max_output?: number;
  readonly quirks?: Quirks;
  readonly source: LimitSuggestion["source"];
}

export interface ModelEntry extends ModelSpec {
  readonly figures: FigureSources;
  readonly endpoint?: EndpointId;
  /** Where the endpoint is not as usual, and how that is known. */
  readonly known_quirks: readonly KnownQuirk[];
  /** Only those that differ from the figures that apply. */
  readonly suggestions: readonly LimitSuggestion[];
  /** The model names a credential that the tenant does not have. */
  readonly credential_missing: boolean;
  /** The model needs the deployment's key of its provider, and there is none. */
  readonly key_missing: boolean;
}
