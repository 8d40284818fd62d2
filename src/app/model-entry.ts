/** A model in the registry: what was configured, what applies, and the source of each figure. */
import type { Prices } from "../context/economy";
import type { ModelCapabilities, Provider } from "../context/model-input";
import type { FigureSources, LimitSuggestion } from "../contract/model";
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
}

/** A limit that another source reported and the registry does not have. */
export interface SuggestedLimit {
  readonly model: string;
  readonly context_window?: number;
  readonly max_output?: number;
  readonly source: LimitSuggestion["source"];
}

export interface ModelEntry extends ModelSpec {
  readonly figures: FigureSources;
  /** Only those that differ from the figures that apply. */
  readonly suggestions: readonly LimitSuggestion[];
  /** The model names a credential that the tenant does not have. */
  readonly credential_missing: boolean;
  /** The model needs the deployment's key of its provider, and there is none. */
  readonly key_missing: boolean;
}
