/**
 * The parts of a model's registry entry that shape a request. They are stored with each call of a turn, so that its request can be rebuilt.
 */
import { PROVIDERS } from "../context/model-input";
import type { AskedModel } from "../domain/model-call";
import type { ModelSpec } from "./ports";

export function toAskedModel({ provider, upstream_id, base_url, source, context_window, max_output, capabilities }: ModelSpec): AskedModel {
  return { provider, upstream_id, base_url, source, context_window, max_output, ...(capabilities && { capabilities }) };
}

/** The result can build a request, but not send one: whose key was used is not stored. Null when this build does not know the provider. */
export function toModelSpec(id: string, asked: AskedModel, ratio?: number): ModelSpec | null {
  const provider = PROVIDERS.find((each) => each === asked.provider);
  return provider ? { id, ...asked, provider, ...(ratio !== undefined && { ratio }) } : null;
}
