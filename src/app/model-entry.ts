/** A model in the registry: what was configured, what applies, and the source of each figure. */
import type { Prices } from "../context/economy";
import type { ModelCapabilities, ModelSpec, Provider } from "./ports";

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

export const FIGURE_SOURCES = ["tenant", "deployment", "preset", "prices_package", "unknown"] as const;
/** The source of a figure: the tenant, the deployment, the presets of known names, the package of prices, or `unknown`. */
export type FigureSource = (typeof FIGURE_SOURCES)[number];

export const FIGURES = ["context_window", "max_output", "capabilities", "ratio", "prices"] as const;
export type Figure = (typeof FIGURES)[number];
export type FigureSources = Readonly<Record<Figure, FigureSource>>;

export const SUGGESTION_SOURCES = ["provider_endpoint", "provider_error"] as const;
/** `provider_endpoint`: the provider's list of models, when a client asked for it; `provider_error`: the number in a refusal. */
type SuggestionSource = (typeof SUGGESTION_SOURCES)[number];
type LimitFigure = "context_window" | "max_output";

/** A limit that another source reports and the registry does not have. */
export interface LimitSuggestion {
  readonly figure: LimitFigure;
  readonly tokens: number;
  readonly source: SuggestionSource;
  /** When it was last reported, epoch milliseconds. */
  readonly at: number;
}

export interface SuggestedLimit {
  readonly model: string;
  readonly context_window?: number;
  readonly max_output?: number;
  readonly source: SuggestionSource;
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
