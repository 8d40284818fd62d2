/** Base64 (RFC 4648 §4) of bytes. Short texts only: each byte is a character on the way. */

export function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

/** Null: not base64. */
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
