/**
 * What a tenant may see of where a model is. A deployment's base URL may hold credentials and names of its network: no tenant sees any
 * part of it. A tenant's own is shown to it without what could be a secret.
 */
import type { StoredEvent } from "../domain/events";
import type { ModelSpec } from "./ports";

type Place = Pick<ModelSpec, "base_url"> & { readonly source?: ModelSpec["source"] };

/** `url`: the model's base URL, or an address below it. Null: it is not to be shown. Unknown (older records do not say it) is the deployment's. */
export function shownAddress(url: string, { base_url, source = "deployment" }: Place): string | null {
  if (base_url === null) return url;
  return source === "tenant" ? withoutSecrets(url) : null;
}

function withoutSecrets(text: string): string | null {
  const url = URL.parse(text);
  if (!url) return null;
  if (!url.username && !url.password && !url.search && !url.hash) return text;
  url.username = "";
  url.password = "";
  url.search = "";
  url.hash = "";
  return url.href;
}

/** An event as its tenant reads it. */
export function shownEvent(event: StoredEvent): StoredEvent {
  if (event.type !== "ModelCallFinished" || !event.asked) return event;
  const { asked } = event;
  const { base_url } = asked.model;
  if (base_url === null) return event;
  return { ...event, asked: { ...asked, model: { ...asked.model, base_url: shownAddress(base_url, asked.model) } } };
}
