/**
 * What a model is sent of an image or a file: a reference to it, or text that names it. What is sent determines the
 * weight. The adapters (`model/`) follow the same rules; `test/contract` checks that both agree.
 */
import type { ItemMeta, MediaMeta, MediaPart, Part } from "../domain/message";
import type { MediaReader, SessionState, View } from "../domain/state";
import { estimateTokens, IMAGE_TOKENS } from "./tokens";

export const describeMediaPart = ({ name, media_type, url }: MediaPart): string => `[file: ${name ?? media_type} (${media_type}) ${url}]`;

export function toMediaMeta(part: MediaPart): MediaMeta {
  const { type, media_type } = part;
  return { type, media_type, scheme: URL.parse(part.url)?.protocol ?? null, words: estimateTokens(describeMediaPart(part)) };
}

export const listMedia = (parts: readonly Part[]): MediaMeta[] =>
  parts.flatMap((part) => (part.type === "image" || part.type === "file" ? [toMediaMeta(part)] : []));

type Media = Pick<MediaMeta, "media_type" | "scheme">;

const isPicture = ({ media_type }: Media): boolean => /^image(?:\/|$)/.test(media_type);
const isPdf = ({ media_type }: Media): boolean => media_type === "application/pdf";

/**
 * Which providers fetch which media by URL. Google fetches only its own files and videos, which the scheme does not
 * show, so its media are weighed as fetched: rather too much than too little.
 */
const FETCHES: Readonly<Record<string, (media: Media) => boolean>> = {
  embedded: () => false,
  "workers-ai": () => false,
  "openai-compatible": ({ media_type }) => /^(?:image|video)(?:\/|$)/.test(media_type),
  "openai-chat": ({ media_type }) => /^(?:image|video)(?:\/|$)/.test(media_type),
  openai: (media) => isPicture(media) || isPdf(media),
  anthropic: (media) => media.scheme === "https:" && (isPicture(media) || isPdf(media)),
};

/** Whether the model is sent the file itself. True for a provider without rules here. */
export function isRead({ provider, capabilities }: MediaReader, media: MediaMeta): boolean {
  const readable = media.type === "image" ? capabilities?.images !== false : capabilities?.files !== false;
  const media_type = media.type === "image" && !isPicture(media) ? "image" : media.media_type;
  return readable && media.scheme !== null && (FETCHES[provider]?.({ ...media, media_type }) ?? true);
}

/** Raw tokens that an item weighs less for this model than it was recorded with. */
const countSavedTokens = ({ attached = [] }: ItemMeta, reader: MediaReader): number =>
  attached.reduce((sum, media) => sum + (isRead(reader, media) ? 0 : IMAGE_TOKENS - media.words), 0);

interface Saved {
  readonly reader: MediaReader;
  readonly byPosition: ReadonlyMap<number, number>;
  readonly total: number;
  /** The part of `total` on system messages. */
  readonly system: number;
}

const NOTHING: Omit<Saved, "reader"> = { byPosition: new Map(), total: 0, system: 0 };

/** Caches the result, because views are immutable. Computed once for each view as long as the model is the same. */
const known = new WeakMap<View, Saved>();

/**
 * Raw tokens that the view weighs less for the model that will read it than was recorded, per item. Items that are
 * shown shortened or replaced are weighed as such already.
 */
export function savedByWords({ view, reader }: Pick<SessionState, "view" | "reader">): Omit<Saved, "reader"> {
  if (!reader || view.media === 0) return NOTHING;
  const found = known.get(view);
  if (found?.reader === reader) return found;
  const reduced = new Set(view.reduced.map(({ position }) => position));
  const byPosition = new Map<number, number>();
  let [total, system] = [0, 0];
  for (const item of view.items) {
    const tokens = item.attached && !reduced.has(item.position) ? countSavedTokens(item, reader) : 0;
    if (tokens === 0) continue;
    byPosition.set(item.position, tokens);
    total += tokens;
    if (item.kind === "system") system += tokens;
  }
  const made = { reader, byPosition, total, system };
  known.set(view, made);
  return made;
}
