/** Content that a model cannot read as text. It is kept beside the output, which describes it in words. */
import type { ToolArtifact } from "../app/ports";

/** Larger content is only described and not kept: an artifact is one row of content in the session's object. */
const MAX_KEPT_BYTES = 524_288;

export interface Media {
  readonly media_type: string;
  readonly bytes: number;
  /** Null when the content is too large to be kept. */
  readonly base64: string | null;
}

const MAX_TYPE = 100;

/** `read` returns the content in base64. It is called only if the content is kept. */
export function toMedia(mediaType: string, bytes: number, read: () => string): Media {
  const type = (mediaType.split(";")[0] ?? "").trim().toLowerCase().slice(0, MAX_TYPE).toWellFormed();
  return { media_type: type || "application/octet-stream", bytes, base64: bytes <= MAX_KEPT_BYTES ? read() : null };
}

const KINDS = ["image", "audio", "video"];
const toMediaKind = (mediaType: string): string => KINDS.find((kind) => mediaType.startsWith(`${kind}/`)) ?? "file";

export function toArtifact({ media_type, bytes, base64 }: Media): ToolArtifact {
  return { type: toMediaKind(media_type), content: { media_type, bytes, ...(base64 !== null && { base64 }) } };
}

/** The description that the model reads. */
export const describeMedia = (media: Media): string =>
  inWords(media, media.base64 === null ? "too large to be kept" : "kept with the execution");

/** The description of content beyond the number of artifacts that are kept. */
export const droppedInWords = (media: Media): string => inWords(media, "not kept: there are too many");

function inWords({ media_type, bytes }: Media, kept: string): string {
  return `[${toMediaKind(media_type)}: ${media_type}, ${bytes} bytes, ${kept}; it cannot be shown here]`;
}
