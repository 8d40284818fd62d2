/** A tenant's own models as rows: what the tenant registered, and nothing that was looked up. */
import { type ModelColumns, toModelColumns } from "../../app/model-columns";
import type { ModelOverride } from "../../app/model-entry";
import type { Prices } from "../../context/economy";
import { type ModelCapabilities, PROVIDERS } from "../../context/model-input";
import { endpointSchema, toQuirks } from "../../context/model-quirks";
import { toPerToken } from "../../context/price-units";
import type { SqlValue } from "../../lib/sql-row";

export type ModelRow = ModelColumns & {
  readonly id: string;
  readonly provider: string;
  readonly upstream_id: string;
  readonly base_url: string | null;
  readonly context_window: number | null;
  readonly max_output: number | null;
  readonly window_said: number;
};

export const MODEL_COLUMNS: readonly (keyof ModelRow)[] = [
  "id",
  "provider",
  "upstream_id",
  "base_url",
  "context_window",
  "max_output",
  "window_said",
  "capabilities",
  "ratio",
  "price_input",
  "price_output",
  "price_cached",
  "price_cache_write",
  "credential",
  "endpoint",
  "quirks",
];

/** The column values of a model, in the order of `MODEL_COLUMNS`. */
export function toModelValues(id: string, model: ModelOverride): readonly SqlValue[] {
  const row: ModelRow = {
    id,
    provider: model.provider,
    upstream_id: model.upstream_id,
    base_url: model.base_url,
    context_window: model.context_window ?? null,
    max_output: model.max_output ?? null,
    window_said: model.context_window === undefined ? 0 : 1,
    ...toModelColumns(model),
  };
  return MODEL_COLUMNS.map((column) => row[column]);
}

/** Null for a row of a newer build whose provider this build cannot call. */
export function toSaid(row: ModelRow): ModelOverride | null {
  const provider = PROVIDERS.find((known) => known === row.provider);
  if (!provider) return null;
  const prices = toPrices(row);
  const endpoint = endpointSchema.options.find((known) => known === row.endpoint);
  return {
    provider,
    upstream_id: row.upstream_id,
    base_url: row.base_url,
    ...(row.window_said === 1 && { context_window: row.context_window }),
    ...(row.max_output !== null && { max_output: row.max_output }),
    ...(row.capabilities !== null && { capabilities: toCapabilities(row.capabilities) }),
    ...(row.ratio !== null && { ratio: row.ratio }),
    ...(prices && { prices }),
    ...(row.credential !== null && { credential: row.credential }),
    ...(endpoint && { endpoint }),
    ...(row.quirks !== null && { quirks: toQuirks(JSON.parse(row.quirks) as Readonly<Record<string, unknown>>) }),
  };
}

function toPrices({ price_input, price_output, price_cached, price_cache_write }: ModelRow): Prices | null {
  if (price_input === null || price_output === null || price_cached === null || price_cache_write === null) return null;
  return toPerToken({ input: price_input, output: price_output, cached: price_cached, cache_write: price_cache_write });
}

function toCapabilities(stored: string): ModelCapabilities {
  const { tools, images, files, reasoning } = JSON.parse(stored) as Readonly<Record<string, unknown>>;
  return { tools: tools === true, images: images === true, files: files === true, reasoning: reasoning === true };
}
