/** A model in the registry: what was said of it, what holds, and where each figure comes from. */
import type { Prices } from "../context/economy";
import type { ModelCapabilities, ModelSpec, Provider } from "./ports";

/** What a tenant or the deployment says of a model. Absent: what is known of a model of its name. */
export interface ModelOverride {
  readonly provider: Provider;
  readonly upstream_id: string;
  readonly base_url: string | null;
  /** Null: it is said to be unknown. */
  readonly context_window?: number | null;
  readonly max_output?: number;
  readonly capabilities?: ModelCapabilities;
  readonly ratio?: number;
  /** US dollars per token. */
  readonly prices?: Prices;
  readonly credential?: string;
}

export const FIGURE_SOURCES = ["tenant", "deployment", "preset", "prices_package", "unknown"] as const;
/** Who said a figure: the tenant, the deployment, the presets of known names, the package of prices, or nobody. */
export type FigureSource = (typeof FIGURE_SOURCES)[number];

export const FIGURES = ["context_window", "max_output", "capabilities", "ratio", "prices"] as const;
export type Figure = (typeof FIGURES)[number];
export type FigureSources = Readonly<Record<Figure, FigureSource>>;

export const SUGGESTION_SOURCES = ["provider_endpoint", "provider_error"] as const;
/** `provider_endpoint`: the provider's list of models, when it was asked; `provider_error`: the number in a refusal. */
type SuggestionSource = (typeof SUGGESTION_SOURCES)[number];
type LimitFigure = "context_window" | "max_output";

/** A limit that somebody else names and the registry does not. */
export interface LimitSuggestion {
  readonly figure: LimitFigure;
  readonly tokens: number;
  readonly source: SuggestionSource;
  /** When it was last heard, epoch milliseconds. */
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
  /** Only those that differ from what holds. */
  readonly suggestions: readonly LimitSuggestion[];
  /** It names a credential that the tenant does not have. */
  readonly credential_missing: boolean;
  /** It is called with the deployment's key of its provider, needs one, and there is none. */
  readonly key_missing: boolean;
}
