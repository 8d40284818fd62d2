/**
 * The parts of a model's registry entry that shape a request. They are stored with each call of a turn, so that its request can be rebuilt.
 */
import { PROVIDERS } from "../context/model-input";
import { toQuirks } from "../context/model-quirks";
import type { AskedModel } from "../domain/model-call";
import type { ModelSpec } from "./ports";

export function toAskedModel(spec: ModelSpec): AskedModel {
  const { provider, upstream_id, base_url, source, context_window, max_output, capabilities, quirks } = spec;
  const known = { provider, upstream_id, base_url, source, context_window, max_output };
  return { ...known, ...(capabilities && { capabilities }), ...(quirks && { quirks }) };
}

/** The result can build a request, but not send one: whose key was used is not stored. Null when this build does not know the provider. */
export function toModelSpec(id: string, asked: AskedModel, ratio?: number): ModelSpec | null {
  const provider = PROVIDERS.find((each) => each === asked.provider);
  const { quirks, ...known } = asked;
  return provider ? { id, ...known, provider, ...(quirks && { quirks: toQuirks(quirks) }), ...(ratio !== undefined && { ratio }) } : null;
}
