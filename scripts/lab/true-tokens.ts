/** The true tokenizer of the lab and the estimates. Results are cached, because every policy reads the same texts. */
import { encode as cl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { encode as o200k } from "gpt-tokenizer/encoding/o200k_base";
import { Segments } from "../../src/evaluate/segments";

const TOKENIZERS = { o200k, cl100k };

export type Tokenizer = keyof typeof TOKENIZERS;

export const TOKENIZER_NAMES = Object.keys(TOKENIZERS) as readonly Tokenizer[];

let encode = o200k;
const known = new Map<string, readonly number[]>();

/** From now on another tokenizer than o200k counts. */
export function countBy(tokenizer: Tokenizer): void {
  encode = TOKENIZERS[tokenizer];
  known.clear();
}

/** Text that looks like a control token is counted as plain text. */
function encodeText(text: string): readonly number[] {
  const found = known.get(text);
  if (found) return found;
  const made = encode(text, { allowedSpecial: new Set(), disallowedSpecial: new Set() });
  known.set(text, made);
  return made;
}

export const countTokens = (text: string): number => encodeText(text).length;

function sharedTokens(left: string, right: string): number {
  const [one, other] = [encodeText(left), encodeText(right)];
  const most = Math.min(one.length, other.length);
  for (let index = 0; index < most; index++) if (one[index] !== other[index]) return index;
  return most;
}

export const trueTokens = new Segments({ count: countTokens, shared: sharedTokens });
