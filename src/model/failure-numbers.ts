/**
 * What the numbers of an error message prove. Each number is given a role by the words around it (the window, what was sent, what was
 * asked for in reply); the comparison then needs no knowledge of the provider's wording.
 */

type Role = "limit" | "output_limit" | "output" | "input" | "part";

/** Of what the numbers say. */
interface NumbersVerdict {
  /** Null: they prove nothing. */
  readonly kind: "overflow" | "output_cap" | null;
  /** The most that a request may weigh, as the message says it; null: it does not. */
  readonly window: number | null;
  /** The most that any reply may weigh; null: it does not say. */
  readonly cap: number | null;
  /** What this request leaves of the window to its reply; null: it does not say. */
  readonly left: number | null;
}

/** Smaller limits are not context windows but ranges of some parameter. */
const SMALLEST_WINDOW = 256;
/** A request that fills less than this share of the window is not what has to shrink: the reply asked for is. */
const INPUT_SHARE = 1 / 4;
const WORDS_BEFORE = 128;
const WORDS_AFTER = 32;

/** Not part of a name or a version (`llama-3.3`, `70b`, `gpt-4-1106`). */
const NUMBER = /(?<![\w.-])(?:0|[1-9]\d{0,11})(?![\w-]|\.\d)/g;
const ABOUT_TOKENS =
  /token|context|prompt|input (?:is|length)|max\w{0,5}[ _](?:model|sequence|seq)[ _]len|(?:model|sequence) (?:max\w{0,4} )?length|length of the (?:messages|conversation)|request too large for model|n_ctx|输入/;
/** A number of what is no token. */
export const OTHER_UNIT =
  /\d ?(?:characters?|chars|bytes?|[km]b\b|mib|kib|pixels?|items|elements|seconds|pages|images|(?:content |prompt |input )?(?:messages|blocks|parts|turns|tools|functions|properties|documents|strings|entries|字符|字|文字)\b)|too many (?:[a-z_]{2,20} ){0,2}(?:messages|blocks|parts|turns|tools|functions|properties|documents|images|files|requests)\b/;
const LIMIT_BEFORE =
  /(?:max(?:imum)?|limit|context (?:length|window|size)|at most|up to|cannot exceed|not exceed|(?:less|fewer|no (?:more|longer|larger|greater)) than|\bbelow|\bwithin|supports?|supported|\bonly|tokens available|<=|≤|最大|上限|不超过|n_ctx)[^0-9]{0,40}$|(?:model|for (?:the|this|its))(?:'s)? context(?: is | of | ?\()$/;
const LIMIT_AFTER = /^[ )'"`]{0,3}(?:tokens? )?(?:max(?:imum)?\b|limit\b|or (?:fewer|less)|context)/;
const OUTPUT_AFTER =
  /^\W{0,3}(?:(?:output|completion|new|generated)(?: tokens?)?\b|(?:tokens? )?(?:in|for) the (?:completion|output)|max_new_tokens)/;
/** The reply's cap by name, as what a number after it is of. */
const OUTPUT_NAME =
  /max(?:imum)?[_ ]?(?:completion[_ ]?|output[_ ]?|new[_ ]?)?tokens\b|maximum tokens you requested|maximum (?:output|completion) (?:length|tokens)/;
/** `inputs + max_new_tokens`, `input and maximum output tokens`: both together, which is the window's matter. */
const TOGETHER = /(?:\+|plus|and) ?[`'"]?(?:max(?:imum)?[_ ](?:new_|output |completion )?tokens|output tokens)/;
/** How far it is over is no size, and neither is the number of the error, which MiniMax puts in brackets. */
const NO_SIZE_BEFORE =
  /\bby (?:about )?$|window exceeds limit \($|\b(?:http|status|code|(?:request |trace |log )?id)['"]?\s?[:=]?\s?['"]?$/;
/** "got N", "requested: N": what was sent, though a limit is named before it. */
const SENT_BEFORE =
  /(?<!max |maximum |allowed )number of (?:prompt|input) tokens(?: is)?\W{0,3}$|(?:context|window|length)[:;,] (?:input|prompt) $|(?:got|received|given|actual|requested|contains|passed|needs?|ha[sd]|have)\W{0,3}$/;
/** "N of text input, N of tool input", "N in the messages, N in the functions": one request in pieces, whose sum counts. */
const PART_AFTER = /^ (?:tokens? )?(?:of \w{1,12} input|(?:in|from) (?:the|your) (?:input )?(?:messages|prompt|functions|tools|input))\b/;
/** "the sum of prompt length (N) and query length (N)": every piece counts. */
const SUM_OF = /\bsum of\b/;
/** "and max_tokens N": the reply's, though both are spoken of. */
const OUTPUT_NAMED = /max_(?:completion_|output_|new_)?tokens['"`]? ?[(=:]{0,1} ?$/;
/** "completion tokens (N)": the reply's. */
const OUTPUT_BEFORE = /(?:completion|output|new|generated) tokens?(?: is| of)?\W{0,3}$/;
const INPUT_NEAR =
  /token|prompt|input|length|request|message|given|received|resulted|content|contains|provided|got|\bhas\b|\bis\b|have|with|当前/;
/** `A + B > C`: Anthropic's way of saying input + max_tokens > window. `A tokens > C`: its other way. */
const SUM = /(?<![\d.])(\d{1,12}) ?\+ ?(\d{1,12}) ?> ?(\d{1,12})/;
const GREATER = /(?<![\d.])(\d{1,12})\)?(?: tokens?)? ?>=? ?(?:[a-z_]{1,20}[:=]? ?\(?)?(\d{1,12})(?!\d| ?-)/;
/** Less than nothing is left for the reply: what was sent has filled the window, whatever else the numbers are. */
const NEGATIVE_ROOM =
  /(?:tokens?|_len|length|room|space)\b[^0-9.]{0,24}[( =:]-\d{1,9}(?!\d|\.\d)|(?:max_?\w{0,12}tokens?)[^.]{0,60} got:? -\d{1,9}(?!\d|\.\d)/;
/** `[1, 8192]`; `between 1 and 8192`; `from 1 (inclusive) to 65537 (exclusive)`. */
const RANGE = /\[ ?\d{1,3}, ?(\d{1,12}) ?\]/;
const RANGE_IN_WORDS = /(?:from|between|range) \d{1,3}(?: \(inclusive\))? (?:to|and|-) (\d{1,12})(?: \((inclusive|exclusive)\))?/;
const INPUT_NAME = /(?<!max_|min_)(?:input|prompt|context|messages?)[ _](?:token )?(?:length|tokens?|size)/;

interface Figures {
  /** What was sent. */
  input: number | null;
  output: number | null;
  limit: number | null;
  outputLimit: number | null;
}

const NOTHING: NumbersVerdict = { kind: null, window: null, cap: null, left: null };

/** `default_max_tokens (-152)`, `must be at least 1, got -152`. */
export const isRoomNegative = (text: string): boolean => NEGATIVE_ROOM.test(text);

/** `text` as `failure-text` has it. */
export function judgeNumbers(text: string): NumbersVerdict {
  if ((!ABOUT_TOKENS.test(text) && !OUTPUT_NAME.test(text)) || OTHER_UNIT.test(text)) return NOTHING;
  const range = readRange(text);
  if (range) return range;
  const sum = SUM.exec(text);
  if (sum) return judge({ input: Number(sum[1]), output: Number(sum[2]), limit: Number(sum[3]), outputLimit: null });
  const figures = readFigures(text);
  const greater = GREATER.exec(text);
  if (!greater) return judge(figures);
  const [asked, most] = [Number(greater[1]), Number(greater[2])];
  const before = text.slice(Math.max(0, greater.index - WORDS_BEFORE), greater.index);
  if (OUTPUT_NAME.test(before) && !TOGETHER.test(before)) return judge({ input: null, output: asked, limit: null, outputLimit: most });
  return figures.output === null ? judge({ input: asked, output: null, limit: most, outputLimit: null }) : judge(figures);
}

/** A range that the reply's cap, or the request's length, must lie in: what was asked for was not in it. */
function readRange(text: string): NumbersVerdict | null {
  const found = RANGE.exec(text) ?? RANGE_IN_WORDS.exec(text);
  if (!found) return null;
  const most = Number(found[1]) - (found[2] === "exclusive" ? 1 : 0);
  const before = text.slice(Math.max(0, found.index - WORDS_BEFORE), found.index);
  if (OUTPUT_NAME.test(before)) return { ...NOTHING, kind: "output_cap", cap: most };
  return INPUT_NAME.test(before) && most >= SMALLEST_WINDOW ? { ...NOTHING, kind: "overflow", window: most } : null;
}

function judge(figures: Figures): NumbersVerdict {
  const { input, output, limit, outputLimit } = figures;
  const window = limit !== null && limit >= SMALLEST_WINDOW ? limit : null;
  const left = window !== null && input !== null && input < window ? window - input : window;
  const verdict = (kind: NumbersVerdict["kind"]): NumbersVerdict => ({ kind, window, cap: outputLimit, left });
  const byWindow = window === null ? null : judgeWindow(figures, window);
  if (byWindow) return verdict(byWindow);
  if (outputLimit === null) return verdict(null);
  // Of one number beside the reply's own limit, and no window, it is the reply's: "at most 32768, got 40000".
  const asked = output ?? (window === null ? input : null);
  const isAlone = asked === null && window === null;
  return verdict(isAlone || (asked !== null && asked > outputLimit) ? "output_cap" : null);
}

function judgeWindow({ input, output }: Figures, window: number): "overflow" | "output_cap" | null {
  if (input !== null && input >= window) return "overflow";
  if (output !== null && output >= window) return "output_cap";
  if (input === null || output === null || input + output <= window) return null;
  return input >= window * INPUT_SHARE ? "overflow" : "output_cap";
}

function readFigures(text: string): Figures {
  const figures: Figures = { input: null, output: null, limit: null, outputLimit: null };
  const sent: number[] = [];
  const parts: number[] = [];
  const numbers = [...text.matchAll(NUMBER)];
  for (const [place, found] of numbers.entries()) {
    const start = found.index;
    const end = start + found[0].length;
    const before = text.slice(Math.max(endOf(numbers[place - 1]), start - WORDS_BEFORE), start);
    const after = text.slice(end, Math.min(numbers[place + 1]?.index ?? text.length, end + WORDS_AFTER));
    const value = Number(found[0]);
    const role = roleOf(before, after);
    if (role === "limit") figures.limit ??= value;
    else if (role === "output_limit") figures.outputLimit ??= value;
    else if (role === "output") figures.output ??= value;
    else if (role === "part") parts.push(value);
    else if (role === "input") sent.push(value);
  }
  return { ...figures, input: sizeSent(figures, { sent, parts, summed: SUM_OF.test(text) }) };
}

interface Sent {
  readonly sent: readonly number[];
  readonly parts: readonly number[];
  readonly summed: boolean;
}

/**
 * Of several numbers for one request: the sum of its parts; else the largest, without the reply where that is counted in. A number that
 * repeats the reply's, or the limit where there are others, is no further one.
 */
function sizeSent({ output, limit }: Figures, { sent, parts, summed }: Sent): number | null {
  if (parts.length > 0) return sumOf(parts);
  const numbers = sent.filter((each) => each !== output);
  if (numbers.length === 0) return null;
  if (summed) return sumOf(numbers);
  const most = Math.max(...numbers);
  if (output !== null && numbers.includes(most - output)) return most - output;
  const others = numbers.filter((each) => each !== limit);
  return others.length > 0 ? Math.max(...others) : most;
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0);

const endOf = (found: RegExpExecArray | undefined): number => (found ? found.index + found[0].length : 0);

function roleOf(before: string, after: string): Role | null {
  if (NO_SIZE_BEFORE.test(before)) return null;
  const limit = LIMIT_BEFORE.test(before);
  const ofReply = roleOfReply({ before, after, limit });
  if (ofReply) return ofReply;
  if (PART_AFTER.test(after)) return "part";
  if (SENT_BEFORE.test(before) || isOfBoth(before)) return "input";
  if (limit || LIMIT_AFTER.test(after)) return "limit";
  return INPUT_NEAR.test(before) || INPUT_NEAR.test(after) ? "input" : null;
}

/** Of a number that is the reply's; null: it is not. */
function roleOfReply({ before, after, limit }: { before: string; after: string; limit: boolean }): "output" | "output_limit" | null {
  const together = TOGETHER.test(before) && !OUTPUT_NAMED.test(before);
  if (OUTPUT_AFTER.test(after)) return limit && !together ? "output_limit" : "output";
  if (OUTPUT_NAME.test(before) && !together) return isLimitOfReply(before) ? "output_limit" : "output";
  if (!OUTPUT_BEFORE.test(before) || isOfBoth(before)) return null;
  return limit ? "output_limit" : "output";
}

/** "max_tokens must be less than or equal to N"; in "max_tokens (N)" and "max_tokens = N" the number is what was asked for. */
const CAPPED =
  /(?:at most|less than|<=|up to|cannot exceed|not exceed|maximum (?:value|allowed|output|completion)|limit of|lower than|supports?|above maximum|maximum (?:is|of))[^0-9]{0,48}$/;
const isLimitOfReply = (before: string): boolean => CAPPED.test(before);

/** "The number of input and maximum output tokens (N)": what was asked for, though it names a maximum. */
const isOfBoth = (before: string): boolean =>
  /(?:input|prompt) (?:tokens )?(?:and|plus|\+) max(?:imum)? output tokens \W{0,2}$/.test(before);

/** Every pattern above: their shape is what keeps the time linear. */
export const numberPatterns: readonly RegExp[] = [
  NUMBER,
  ABOUT_TOKENS,
  OTHER_UNIT,
  LIMIT_BEFORE,
  LIMIT_AFTER,
  OUTPUT_AFTER,
  OUTPUT_NAME,
  TOGETHER,
  NO_SIZE_BEFORE,
  SENT_BEFORE,
  PART_AFTER,
  SUM_OF,
  OUTPUT_NAMED,
  OUTPUT_BEFORE,
  INPUT_NEAR,
  SUM,
  GREATER,
  NEGATIVE_ROOM,
  RANGE,
  RANGE_IN_WORDS,
  INPUT_NAME,
  CAPPED,
];
