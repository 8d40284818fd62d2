/** The true tokenizer (o200k) of the lab and the estimates. Results are cached, because every policy reads the same texts. */
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { Segments } from "../../src/evaluate/segments";

const known = new Map<string, readonly number[]>();

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
