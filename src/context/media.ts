/**
 * What a model is sent of an image or a file: a reference to it, or text that names it. What is sent determines the
 * weight. The adapters (`model/`) follow the same rules; `test/contract` checks that both agree.
 */
import type { ItemMeta, MediaMeta, MediaPart, Part } from "../domain/message";
import type { View } from "../domain/state";
import { findFileType } from "./file-types";
import { estimateTokens, IMAGE_TOKENS } from "./tokens";

/** The facts about a model that decide which images and files it is sent. */
export interface MediaReader {
  readonly provider: string;
  readonly capabilities?: { readonly images: boolean; readonly files: boolean };
  /** How images reach the model: inside the request, by address, or both. Absent: both. */
  readonly quirks?: { readonly images?: "any" | "url" | "data" };
}

export function describeMediaPart(part: MediaPart): string {
  const { name, media_type } = part;
  return `[file: ${name ?? media_type} (${media_type})${"url" in part ? ` ${part.url}` : ""}]`;
}

export function toMediaMeta(part: MediaPart): MediaMeta {
  const { type, media_type } = part;
  const words = estimateTokens(describeMediaPart(part));
  if ("url" in part) return { type, media_type, scheme: URL.parse(part.url)?.protocol ?? null, words };
  const { file_id: id, bytes, tokens } = part;
  return { type, media_type, scheme: null, words, file: { id, bytes, tokens } };
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

/** Which providers read which stored files as data in the request. */
const READS_DATA: Readonly<Record<string, (media: Media) => boolean>> = {
  embedded: () => false,
  "workers-ai": () => false,
  "openai-compatible": isPicture,
  "openai-chat": isPicture,
};
const readsPicturesAndPdf = (media: Media): boolean => isPicture(media) || isPdf(media);

/**
 * The most bytes of one message's files that are sent inside the request. In base64 they are a third more, and leave room for the
 * conversation within the bound of every request (`request-bytes`). Anthropic takes images up to 5 MB in base64.
 */
const MAX_INLINE_BYTES = 3_750_000;

/**
 * How a model is sent an image or a file: `url` by its address, `data` inside the request in base64, `text` inside the request as text, `words`
 * by name only. A stored file that goes by `url` gets a signed address.
 */
export type MediaForm = "url" | "data" | "text" | "words";

const isReadable = ({ capabilities }: MediaReader, { type }: MediaMeta): boolean =>
  (type === "image" ? capabilities?.images : capabilities?.files) !== false;

const isFetched = (reader: MediaReader, media: MediaMeta): boolean => {
  if (reader.quirks?.images === "data") return false;
  const media_type = media.type === "image" && !isPicture(media) ? "image" : media.media_type;
  return isReadable(reader, media) && media.scheme !== null && (FETCHES[reader.provider]?.({ ...media, media_type }) ?? true);
};

function chooseStoredForm(reader: MediaReader, media: MediaMeta, isInline: boolean): MediaForm {
  if (findFileType(media.media_type)?.kind === "text") return isInline ? "text" : "words";
  if (!isReadable(reader, media)) return "words";
  if (isInline && reader.quirks?.images !== "url") return (READS_DATA[reader.provider] ?? readsPicturesAndPdf)(media) ? "data" : "words";
  // A signed address is https wherever the deployment has an address of its own.
  return readsPicturesAndPdf(media) && (FETCHES[reader.provider]?.({ ...media, scheme: "https:" }) ?? false) ? "url" : "words";
}

/**
 * The forms of one message's media, in order. A text file is read by every model. Files are sent inside the request while they are within the
 * bound of a message.
 */
export function chooseForms(reader: MediaReader, media: readonly MediaMeta[]): readonly MediaForm[] {
  let left = MAX_INLINE_BYTES;
  return media.map((each) => {
    if (!each.file) return isFetched(reader, each) ? "url" : "words";
    const form = chooseStoredForm(reader, each, each.file.bytes <= left);
    if (form === "data" || form === "text") left -= each.file.bytes;
    return form;
  });
}

const BASE64_SHARE = 4 / 3;
/** A text's quotes and line ends are escaped in a request. */
const ESCAPED_SHARE = 2;

/** The most bytes of an item's stored files inside a request. */
export function inlineBytes({ attached = [] }: ItemMeta, reader: MediaReader): number {
  if (!attached.some(({ file }) => file)) return 0;
  const forms = chooseForms(reader, attached);
  return attached.reduce((sum, { file }, index) => {
    const form = forms[index];
    if (!file || (form !== "data" && form !== "text")) return sum;
    return sum + Math.ceil(file.bytes * (form === "data" ? BASE64_SHARE : ESCAPED_SHARE));
  }, 0);
}

const readWeight = ({ file }: MediaMeta): number => file?.tokens ?? IMAGE_TOKENS;

/** Raw tokens of an item's images and files, as it was recorded. */
export const recordedMediaTokens = ({ attached, media = 0 }: ItemMeta): number =>
  attached ? attached.reduce((sum, each) => sum + readWeight(each), 0) : media * IMAGE_TOKENS;

/** Raw tokens that an item weighs less for this model than it was recorded with. */
function countSavedTokens({ attached = [] }: ItemMeta, reader: MediaReader): number {
  const forms = chooseForms(reader, attached);
  return attached.reduce((sum, media, index) => sum + (forms[index] === "words" ? readWeight(media) - media.words : 0), 0);
}

/** Raw tokens that a view weighs less for one model than was recorded. */
export interface Saved {
  readonly byPosition: ReadonlyMap<number, number>;
  readonly total: number;
  /** The part of `total` on system messages. */
  readonly system: number;
}

const NOTHING: Saved = { byPosition: new Map(), total: 0, system: 0 };

/** Caches the result, because views are immutable. Computed once for each view and model. */
const known = new WeakMap<View, WeakMap<MediaReader, Saved>>();

/** What the view weighs less for the model that will read it. Items that are shown shortened or replaced are weighed as such already. */
export function savedByWords(view: View, reader: MediaReader): Saved {
  if (view.media === 0) return NOTHING;
  const ofView = known.get(view) ?? new WeakMap<MediaReader, Saved>();
  known.set(view, ofView);
  const saved = ofView.get(reader) ?? countSaved(view, reader);
  ofView.set(reader, saved);
  return saved;
}

function countSaved(view: View, reader: MediaReader): Saved {
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
  return { byPosition, total, system };
}
