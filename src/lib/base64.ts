/** Base64 (RFC 4648 §4) of bytes. */

/** Bytes per call of `String.fromCharCode`, well below the most arguments that a call may have. */
const AT_ONCE = 8_192;

export function toBase64(bytes: Uint8Array): string {
  let characters = "";
  for (let at = 0; at < bytes.length; at += AT_ONCE) characters += String.fromCharCode(...bytes.subarray(at, at + AT_ONCE));
  return btoa(characters);
}

/** Null when the text is not base64. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    const characters = atob(text);
    const bytes = new Uint8Array(characters.length);
    for (let index = 0; index < bytes.length; index++) bytes[index] = characters.charCodeAt(index);
    return bytes;
  } catch {
    return null;
  }
}
