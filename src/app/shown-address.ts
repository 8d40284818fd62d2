/**
 * What a tenant may see of a model's address. A deployment's base URL may contain credentials and internal host names, so no tenant sees
 * any part of it. A tenant sees its own base URL without the parts that could be secret.
 */
import type { StoredEvent } from "../domain/events";
import type { ModelSpec } from "./ports";

type Place = Pick<ModelSpec, "base_url" | "source">;

/** `url`: the model's base URL, or an address below it. Returns null when it must not be shown. */
export function shownAddress(url: string, { base_url, source }: Place): string | null {
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

/** An event in the form that its tenant may read. */
export function shownEvent(event: StoredEvent): StoredEvent {
  if (event.type !== "ModelCallFinished" || !event.asked) return event;
  const { asked } = event;
  const { base_url } = asked.model;
  if (base_url === null) return event;
  return { ...event, asked: { ...asked, model: { ...asked.model, base_url: shownAddress(base_url, asked.model) } } };
}
