/** Completes a registered model: each figure that the registration leaves out is looked up, and carries its source. */

import { isPaidByTenant } from "../../app/key-source";
import type { ModelOverride } from "../../app/model-entry";
import type { ModelSpec } from "../../app/ports";
import type { Prices } from "../../context/economy";
import { findDefaults, findEndpoint, QUIRK_NAMES, type Quirks } from "../../context/model-quirks";
import type { FigureSource, FigureSources, KnownQuirk } from "../../contract/model";
import type { LearnedQuirk } from "./learned-quirks";
import { knownModel } from "./model-presets";

/** The max output when neither the tenant nor a preset names one. Only rows whose preset was removed later need it. */
const ASSUMED_MAX_OUTPUT = 4_096;

export interface DescribedModel {
  readonly spec: ModelSpec;
  readonly figures: FigureSources;
}

/** The price package's prices for a model, in US dollars per token. Null when it has none. */
export type FindPrices = (model: Pick<ModelOverride, "provider" | "upstream_id" | "base_url">) => Prices | null;

/** The deployment's prices for a model that is called with its own key, in US dollars per token. Null when it names none. */
export type FindDeploymentPrices = (model: Pick<ModelOverride, "provider" | "upstream_id" | "base_url">) => Prices | null;

interface Said {
  readonly id: string;
  readonly model: ModelOverride;
  readonly by: ModelSpec["source"];
}

/** The first value that is not undefined, with its source. */
function pick<T>(...from: readonly (readonly [T | undefined, FigureSource])[]): readonly [T | undefined, FigureSource] {
  return from.find(([value]) => value !== undefined) ?? [undefined, "unknown"];
}

interface PriceLists {
  readonly deployment: FindDeploymentPrices;
  readonly published: FindPrices;
}

/** The side that pays for a call names its price. A tenant's prices hold only for calls with its own credential or at its own address. */
function findPrices({ model, by }: Said, lists: PriceLists): readonly [Prices | undefined, FigureSource] {
  const isOwn = by === "deployment" || isPaidByTenant({ ...model, source: by });
  const ofDeployment = (): Prices | undefined => lists.deployment(model) ?? undefined;
  const [said, from] = isOwn ? [model.prices, by] : [ofDeployment(), "deployment" as const];
  return said ? [said, from] : pick([lists.published(model) ?? undefined, "prices_package"]);
}

/** `learned`: what refusals taught about the model. */
export function describeModel(said: Said, learned: readonly LearnedQuirk[], lists: PriceLists): DescribedModel {
  const { id, model, by } = said;
  const known = knownModel(model);
  const [context_window = null, windowFrom] = pick([model.context_window, by], [known?.context_window, "preset"]);
  const [max_output = ASSUMED_MAX_OUTPUT, outputFrom] = pick([model.max_output, by], [known?.max_output, "preset"]);
  const [capabilities, capabilitiesFrom] = pick([model.capabilities, by], [known?.capabilities, "preset"]);
  const [ratio, ratioFrom] = pick([model.ratio, by]);
  const quirks = { ...findEndpoint(model.endpoint)?.quirks, ...toQuirks(learned), ...model.quirks };
  const [prices, pricesFrom] = findPrices(said, lists);
  const { provider, upstream_id, base_url, credential } = model;
  const spec: ModelSpec = {
    id,
    provider,
    upstream_id,
    base_url,
    context_window,
    max_output,
    ...(prices && { prices }),
    ...(capabilities && { capabilities }),
    ...(ratio !== undefined && { ratio }),
    ...(Object.keys(quirks).length > 0 && { quirks }),
    ...(credential !== undefined && by === "tenant" && { credential }),
    source: by,
  };
  const figures = {
    context_window: windowFrom,
    max_output: outputFrom,
    capabilities: capabilitiesFrom,
    ratio: ratioFrom,
    prices: pricesFrom,
  };
  return { spec, figures };
}

/** Where requests to the model are not as usual, and how that is known. */
export function listKnownQuirks({ model, by }: Said, learned: readonly LearnedQuirk[]): readonly KnownQuirk[] {
  const presets = { ...findDefaults(model), ...findEndpoint(model.endpoint)?.quirks };
  return QUIRK_NAMES.flatMap((quirk): KnownQuirk[] => {
    const lesson = learned.find((each) => each.quirk === quirk);
    const { value, source } =
      model.quirks?.[quirk] !== undefined
        ? { value: model.quirks[quirk], source: by }
        : lesson
          ? { value: lesson.value, source: "learned" as const }
          : { value: presets[quirk], source: "preset" as const };
    if (value === undefined) return [];
    return [{ quirk, value, source, until: source === "learned" && lesson ? lesson.until : null }];
  });
}

const toQuirks = (learned: readonly LearnedQuirk[]): Quirks => Object.fromEntries(learned.map(({ quirk, value }) => [quirk, value]));
