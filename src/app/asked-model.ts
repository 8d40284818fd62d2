/** Of a model as the registry knows it, what shapes a request: kept with each call of a turn, so that its request can be made again. */
import type { AskedModel } from "../domain/model-call";
import { type ModelSpec, PROVIDERS } from "./ports";

export function toAskedModel({ provider, upstream_id, base_url, source, context_window, max_output, capabilities }: ModelSpec): AskedModel {
  return { provider, upstream_id, base_url, source, context_window, max_output, ...(capabilities && { capabilities }) };
}

/** Good for building a request, not for sending one: whose key it went with is not kept. Null: a provider that this build does not know. */
export function toModelSpec(id: string, asked: AskedModel, ratio?: number): ModelSpec | null {
  const provider = PROVIDERS.find((each) => each === asked.provider);
  return provider ? { id, source: "deployment", ...asked, provider, ...(ratio !== undefined && { ratio }) } : null;
}
