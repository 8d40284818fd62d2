/** Files that a request brings in a `data:` URL (RFC 2397). Their bytes are in base64. */
import { fromBase64 } from "../lib/base64";

const SCHEME = "data:";

export const isDataUrl = (url: string | undefined): boolean => url?.slice(0, SCHEME.length).toLowerCase() === SCHEME;

interface DataUrl {
  /** In small letters, without its parameters. Empty when the URL names none. */
  readonly mediaType: string;
  /** Null when they are not base64. */
  readonly bytes: Uint8Array<ArrayBuffer> | null;
}

/** Null when it is another URL. */
export function readDataUrl(url: string | undefined): DataUrl | null {
  if (url === undefined || !isDataUrl(url)) return null;
  const [head = "", data] = splitOnce(url.slice(SCHEME.length), ",");
  const mediaType = head.split(";")[0]?.trim().toLowerCase() ?? "";
  return { mediaType, bytes: data === undefined ? null : fromBase64(data) };
}

function splitOnce(text: string, mark: string): readonly string[] {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + mark.length)];
}
