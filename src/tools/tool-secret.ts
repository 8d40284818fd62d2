/** Opens a tenant's credential for a tool, and hides it in everything that the tool returns. */
import type { SecretHeader } from "../contract/registered-tool";
import { err, ok, type Result } from "../lib/result";
import type { Secret } from "./safe-fetch";

/**
 * Opens a credential by its name. Null when it is gone or cannot be opened. May throw when the tenant's object is out of
 * reach.
 */
export type OpenSecret = (credential: string) => Promise<string | null>;

export interface ToolSecret {
  readonly header: Secret;
  /** The credential without the header's prefix. */
  readonly value: string;
}

export async function openSecretHeader(header: SecretHeader | null, open: OpenSecret): Promise<Result<ToolSecret | null, "missing">> {
  if (!header) return ok(null);
  const value = await open(header.credential);
  return value === null ? err("missing") : ok({ header: { name: header.name, value: `${header.prefix}${value}` }, value });
}

/** Shorter credentials are not hidden, because they are part of ordinary words. */
const MIN_HIDDEN = 8;

const HIDDEN = "[secret]";

/**
 * Replaces the credential in a text. A service that repeats the request's headers would otherwise show it to the model, and
 * it would enter the record. Finds it in either case, with the escapes of JSON (`\/`, `\u002f`) and of URLs (`%2F`), and
 * inside base64. A service that wants to reveal it can write it in ways that this function does not find.
 */
export function hideSecret(text: string, secret: ToolSecret | null): string {
  if (!secret || secret.value.length < MIN_HIDDEN) return text;
  const plain = base64Forms(secret.value).reduce((shown, form) => shown.replaceAll(form, HIDDEN), text);
  const sought = Array.from(readLetters(secret.value), ({ letter }) => letter);
  return sought.length < MIN_HIDDEN ? plain : hideDecoded(plain, sought);
}

/**
 * The parts of a secret's base64 that do not depend on the text around the secret, one for each of its three places in a
 * group.
 */
function base64Forms(secret: string): readonly string[] {
  const forms = [0, 1, 2].map((before) => {
    const encoded = btoa("\0".repeat(before) + secret);
    const end = Math.floor(((before + secret.length) * 4) / 3);
    return encoded.slice(Math.ceil((before * 4) / 3), end);
  });
  const unpadded = forms.filter((form) => form.length >= MIN_HIDDEN);
  return [...new Set([...unpadded, ...unpadded.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"))])];
}

interface Letter {
  /** In lower case. */
  readonly letter: string;
  readonly from: number;
  readonly to: number;
}

const UNIT = /u([0-9a-f]{4})/iy;
const BYTE = /%([0-9a-f]{2})/iy;

/** The letters of a text with the escapes of JSON and URLs decoded, and without backslashes. */
function* readLetters(text: string): Generator<Letter> {
  for (let at = 0; at < text.length; ) {
    const from = at;
    while (text[at] === "\\") at += 1;
    const coded = at > from ? UNIT : BYTE;
    coded.lastIndex = at;
    const [whole, code] = coded.exec(text) ?? [];
    const letter = code === undefined ? (text[at] ?? "") : String.fromCharCode(Number.parseInt(code, 16));
    at += whole?.length ?? 1;
    if (letter !== "" && letter !== "\\") yield { letter: letter.toLowerCase(), from, to: at };
  }
}

/**
 * Searches in one pass (Knuth, Morris and Pratt). Comparing at each place would read a repetitive secret again at each of
 * them.
 */
function hideDecoded(text: string, sought: readonly string[]): string {
  const borders = computeBorders(sought);
  const starts: number[] = [];
  const shown: string[] = [];
  let hidden = 0;
  let matched = 0;
  let count = 0;
  for (const { letter, from, to } of readLetters(text)) {
    starts[count % sought.length] = from;
    count += 1;
    matched = grown(matched, letter, { sought, borders });
    if (matched < sought.length) continue;
    const start = starts[count % sought.length] ?? from;
    shown.push(text.slice(hidden, start), HIDDEN);
    hidden = to;
    matched = 0;
  }
  return shown.length === 0 ? text : shown.join("") + text.slice(hidden);
}

/** For each beginning of `sought`, the length of its longest proper beginning that is also its end. */
function computeBorders(sought: readonly string[]): readonly number[] {
  const borders = [0];
  for (let at = 1; at < sought.length; at++) borders.push(grown(borders[at - 1] ?? 0, sought[at] ?? "", { sought, borders }));
  return borders;
}

function grown(matched: number, letter: string, { sought, borders }: { sought: readonly string[]; borders: readonly number[] }): number {
  let kept = matched;
  while (kept > 0 && sought[kept] !== letter) kept = borders[kept - 1] ?? 0;
  return sought[kept] === letter ? kept + 1 : 0;
}
