/**
 * What the numbers of an error message prove. Each number is given a role by the words around it (the window, what
 * was sent, what was asked for in reply); the comparison then needs no knowledge of the provider's wording.
 */

type Role = "limit" | "output_limit" | "output" | "input";

/** Smaller limits are not context windows but ranges of some parameter. */
const SMALLEST_WINDOW = 256;
/** A request that fills less than this share of the window is not what has to shrink: the reply asked for is. */
const INPUT_SHARE = 1 / 4;
const WORDS_BEFORE = 64;
const WORDS_AFTER = 28;

/** Not part of a name or a version (`llama-3.3`, `70b`, `gpt-4-1106`). */
const NUMBER = /(?<![\w.-])\d[\d,_]*(?![\w-])/g;
const ABOUT_TOKENS = /token|context|prompt|input (?:is|length)|max\w* (?:model|sequence) len|request too large for model/;
const OTHER_UNIT = /characters?|bytes?\b|\d ?[km]b\b|pixels?|\bitems\b|\belements\b/;
const LIMIT_BEFORE =
  /(?:max(?:imum)?|limit|context (?:length|window|size)|at most|up to|cannot exceed|less than|not exceed|supports?)[^0-9]{0,40}$/;
const LIMIT_AFTER = /^\W{0,3}(?:tokens? )?(?:max(?:imum)?\b|limit\b|or (?:fewer|less)|context)/;
const OUTPUT_AFTER = /^\W{0,3}(?:(?:output|completion|new|generated)(?: tokens?)?\b|(?:tokens? )?(?:in|for) the (?:completion|output))/;
const OUTPUT_BEFORE = /max_(?:completion_|output_|new_)?tokens\b[^0-9]{0,40}$/;
const INPUT_NEAR =
  /token|prompt|input|length|request|message|given|received|resulted|content|contains|provided|got|\bhas\b|\bis\b|have|with/;
/** `A + B > C`: Anthropic's way of saying input + max_tokens > window. `A tokens > C`: its other way. */
const SUM = /(?<![\d,])(\d[\d,]{0,15}) ?\+ ?(\d[\d,]{0,15}) ?> ?(\d[\d,]{0,15})/;
const GREATER = /(?<![\d,])(\d[\d,]{0,15})(?: tokens?)? > (\d[\d,]{0,15})(?![\d,]| ?-)/;

interface Figures {
  input: number | null;
  output: number | null;
  limit: number | null;
  outputLimit: number | null;
}

const toNumber = (digits: string | undefined): number => Number((digits ?? "").replaceAll(/[,_]/g, ""));

/** `text` in lower case. Null: the numbers prove nothing. */
export function judgeNumbers(text: string): "overflow" | "output_cap" | null {
  if (!ABOUT_TOKENS.test(text)) return null;
  const sum = SUM.exec(text);
  if (sum) return judge({ input: toNumber(sum[1]), output: toNumber(sum[2]), limit: toNumber(sum[3]), outputLimit: null });
  if (OTHER_UNIT.test(text)) return null;
  const figures = readFigures(text);
  const greater = GREATER.exec(text);
  if (greater && figures.output === null) {
    return judge({ input: toNumber(greater[1]), output: null, limit: toNumber(greater[2]), outputLimit: null });
  }
  return judge(figures);
}

function judge(figures: Figures): "overflow" | "output_cap" | null {
  const { output, limit, outputLimit } = figures;
  if (limit !== null && limit >= SMALLEST_WINDOW) {
    const verdict = judgeWindow(figures, limit);
    if (verdict) return verdict;
  }
  return output !== null && outputLimit !== null && output > outputLimit ? "output_cap" : null;
}

function judgeWindow({ input, output }: Figures, limit: number): "overflow" | "output_cap" | null {
  if (input !== null && input >= limit) return "overflow";
  if (output !== null && output >= limit) return "output_cap";
  if (input === null || output === null || input + output <= limit) return null;
  return input >= limit * INPUT_SHARE ? "overflow" : "output_cap";
}

/** Of several numbers for what was sent, the smallest: the others are totals that count the reply too. */
function readFigures(text: string): Figures {
  const figures: Figures = { input: null, output: null, limit: null, outputLimit: null };
  const numbers = [...text.matchAll(NUMBER)];
  for (const [place, found] of numbers.entries()) {
    const start = found.index;
    const end = start + found[0].length;
    const before = text.slice(Math.max(endOf(numbers[place - 1]), start - WORDS_BEFORE), start);
    const after = text.slice(end, Math.min(numbers[place + 1]?.index ?? text.length, end + WORDS_AFTER));
    const value = toNumber(found[0]);
    const role = roleOf(before, after);
    if (role === "limit") figures.limit ??= value;
    else if (role === "output_limit") figures.outputLimit ??= value;
    else if (role === "output") figures.output ??= value;
    else if (role === "input") figures.input = Math.min(figures.input ?? value, value);
  }
  return figures;
}

const endOf = (found: RegExpExecArray | undefined): number => (found ? found.index + found[0].length : 0);

function roleOf(before: string, after: string): Role | null {
  const limit = LIMIT_BEFORE.test(before);
  if (OUTPUT_AFTER.test(after)) return limit ? "output_limit" : "output";
  if (OUTPUT_BEFORE.test(before)) return "output";
  if (limit || LIMIT_AFTER.test(after)) return "limit";
  return INPUT_NEAR.test(before) || INPUT_NEAR.test(after) ? "input" : null;
}
