/**
 * Finds out what the numbers of an error message prove. The words around a number give it a role (the window, the size that
 * was sent, the reply that was asked for). Comparing the numbers then needs no knowledge of the provider's wording.
 */

type Role = "limit" | "output_limit" | "output" | "input" | "part";

/** What the numbers of a message prove. */
interface NumbersVerdict {
  /** Null when the numbers prove nothing. */
  readonly kind: "overflow" | "output_cap" | null;
  /** Maximum tokens of a request, as the message names it; null when it names none. */
  readonly window: number | null;
  /** Maximum tokens of any reply; null when the message names none. */
  readonly cap: number | null;
  /** Tokens of the window that this request leaves to its reply; null when the message names no window. */
  readonly left: number | null;
}

/** A smaller limit is not a context window but the range of some parameter. */
const SMALLEST_WINDOW = 256;
/** A request that fills less than this share of the window need not shrink: the requested reply is too long. */
const INPUT_SHARE = 1 / 4;
const WORDS_BEFORE = 128;
const WORDS_AFTER = 32;

/** Matches a number that is no part of a name or a version (`llama-3.3`, `70b`, `gpt-4-1106`). */
const NUMBER = /(?<![\w.-])(?:0|[1-9]\d{0,11})(?![\w-]|\.\d)/g;
const ABOUT_TOKENS =
  /token|context|prompt|input (?:is|length)|max\w{0,5}[ _](?:model|sequence|seq)[ _]len|(?:model|sequence) (?:max\w{0,4} )?length|length of the (?:messages|conversation)|request too large for model|n_ctx|输入/;
/** Matches a number of something other than tokens. */
export const OTHER_UNIT =
  /\d ?(?:characters?|chars|bytes?|[km]b\b|mib|kib|pixels?|items|elements|seconds|pages|images|(?:content |prompt |input )?(?:messages|blocks|parts|turns|tools|functions|properties|documents|strings|entries|字符|字|文字)\b)|too many (?:[a-z_]{2,20} ){0,2}(?:messages|blocks|parts|turns|tools|functions|properties|documents|images|files|requests)\b/;
const LIMIT_BEFORE =
  /(?:max(?:imum)?|limit|context (?:length|window|size)|at most|up to|cannot exceed|not exceed|(?:less|fewer|no (?:more|longer|larger|greater)) than|\bbelow|\bwithin|supports?|supported|\bonly|tokens available|<=|≤|最大|上限|不超过|n_ctx)[^0-9]{0,40}$|(?:model|for (?:the|this|its))(?:'s)? context(?: is | of | ?\()$/;
const LIMIT_AFTER = /^[ )'"`]{0,3}(?:tokens? )?(?:max(?:imum)?\b|limit\b|or (?:fewer|less)|context)/;
const OUTPUT_AFTER =
  /^\W{0,3}(?:(?:output|completion|new|generated)(?: tokens?)?\b|(?:tokens? )?(?:in|for) the (?:completion|output)|max_new_tokens)/;
/** Names of the reply's limit. A number after such a name is about the reply. */
const OUTPUT_NAME =
  /max(?:imum)?[_ ]?(?:completion[_ ]?|output[_ ]?|new[_ ]?)?tokens\b|maximum tokens you requested|maximum (?:output|completion) (?:length|tokens)/;
/** `inputs + max_new_tokens`, `input and maximum output tokens`: the number is the sum of both, so it is about the window. */
const TOGETHER = /(?:\+|plus|and) ?[`'"]?(?:max(?:imum)?[_ ](?:new_|output |completion )?tokens|output tokens)/;
/**
 * Words before a number that is no size: by how much a limit was exceeded, or the number of the error, which MiniMax puts in
 * brackets.
 */
const NO_SIZE_BEFORE =
  /\bby (?:about )?$|window exceeds limit \($|\b(?:http|status|code|(?:request |trace |log )?id)['"]?\s?[:=]?\s?['"]?$/;
/** "got N", "requested: N": the number is what was sent, even if a limit is named before it. */
const SENT_BEFORE =
  /(?<!max |maximum |allowed )number of (?:prompt|input) tokens(?: is)?\W{0,3}$|(?:context|window|length)[:;,] (?:input|prompt) $|(?:got|received|given|actual|requested|contains|passed|needs?|ha[sd]|have)\W{0,3}$/;
/** "N tokens exceeds the limit of M": the first number is what was sent, whatever is named before it. */
const EXCEEDS_AFTER = /^[ )]{0,2}tokens? (?:exceeds|is (?:more|greater|larger|longer) than)\b/;
/** "N of text input, N of tool input", "N in the messages, N in the functions": the parts of one request, which are summed. */
const PART_AFTER = /^ (?:tokens? )?(?:of \w{1,12} input|(?:in|from) (?:the|your) (?:input )?(?:messages|prompt|functions|tools|input))\b/;
/** "the sum of prompt length (N) and query length (N)": all numbers are summed. */
const SUM_OF = /\bsum of\b/;
/** "and max_tokens N": the number is the reply's, although the text names input and reply together. */
const OUTPUT_NAMED = /max_(?:completion_|output_|new_)?tokens['"`]? ?[(=:]{0,1} ?$/;
/** "completion tokens (N)": the number is the reply's. */
const OUTPUT_BEFORE = /(?:completion|output|new|generated) tokens?(?: is| of)?\W{0,3}$/;
const INPUT_NEAR =
  /token|prompt|input|length|request|message|given|received|resulted|content|contains|provided|got|\bhas\b|\bis\b|have|with|当前/;
/** `A + B > C` is how Anthropic says input + max_tokens > window. `A tokens > C` is its other form. */
const SUM = /(?<![\d.])(\d{1,12}) ?\+ ?(\d{1,12}) ?> ?(\d{1,12})/;
const GREATER = /(?<![\d.])(\d{1,12})\)?(?: tokens?)? ?>=? ?(?:[a-z_]{1,20}[:=]? ?\(?)?(\d{1,12})(?!\d| ?-)/;
/** Matches a negative room for the reply: the request has filled the window, whatever the other numbers are. */
const NEGATIVE_ROOM =
  /(?:tokens?|_len|length|room|space)\b[^0-9.]{0,24}[( =:]-\d{1,9}(?!\d|\.\d)|(?:max_?\w{0,12}tokens?)[^.]{0,60} got:? -\d{1,9}(?!\d|\.\d)/;
/** Ranges: `[1, 8192]`; `between 1 and 8192`; `from 1 (inclusive) to 65537 (exclusive)`. */
const RANGE = /\[ ?\d{1,3}, ?(\d{1,12}) ?\]/;
const RANGE_IN_WORDS = /(?:from|between|range) \d{1,3}(?: \(inclusive\))? (?:to|and|-) (\d{1,12})(?: \((inclusive|exclusive)\))?/;
const INPUT_NAME = /(?<!max_|min_)(?:input|prompt|context|messages?)[ _](?:token )?(?:length|tokens?|size)/;

interface Figures {
  /** Size of the request. */
  input: number | null;
  output: number | null;
  limit: number | null;
  outputLimit: number | null;
}

const NOTHING: NumbersVerdict = { kind: null, window: null, cap: null, left: null };

/** True for texts such as `default_max_tokens (-152)` and `must be at least 1, got -152`. */
export const isRoomNegative = (text: string): boolean => NEGATIVE_ROOM.test(text);

/** `text` must be normalised by `failure-text`. */
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

/** Reads the range that the reply's limit, or the request's length, must lie in. The requested value was outside of it. */
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
  // A single number beside the reply's own limit, without a window, is the requested reply: "at most 32768, got 40000".
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
    const before = text.slice(Math.max(findEnd(numbers[place - 1]), start - WORDS_BEFORE), start);
    const after = text.slice(end, Math.min(numbers[place + 1]?.index ?? text.length, end + WORDS_AFTER));
    const value = Number(found[0]);
    const role = findRole(before, after);
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
 * The size of the request where several numbers name it: the sum of its parts; else the largest number, minus the reply
 * where that is included. Numbers that repeat the reply's are ignored, and so are those that repeat the limit if there are
 * others.
 */
function sizeSent({ output, limit }: Figures, { sent, parts, summed }: Sent): number | null {
  if (parts.length > 0) return sumNumbers(parts);
  const numbers = sent.filter((each) => each !== output);
  if (numbers.length === 0) return null;
  if (summed) return sumNumbers(numbers);
  const most = Math.max(...numbers);
  if (output !== null && numbers.includes(most - output)) return most - output;
  const others = numbers.filter((each) => each !== limit);
  return others.length > 0 ? Math.max(...others) : most;
}

const sumNumbers = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0);

const findEnd = (found: RegExpExecArray | undefined): number => (found ? found.index + found[0].length : 0);

function findRole(before: string, after: string): Role | null {
  if (NO_SIZE_BEFORE.test(before)) return null;
  const limit = LIMIT_BEFORE.test(before);
  const ofReply = roleOfReply({ before, after, limit });
  if (ofReply) return ofReply;
  if (PART_AFTER.test(after)) return "part";
  if (SENT_BEFORE.test(before) || EXCEEDS_AFTER.test(after) || isOfBoth(before)) return "input";
  if (limit || LIMIT_AFTER.test(after)) return "limit";
  return INPUT_NEAR.test(before) || INPUT_NEAR.test(after) ? "input" : null;
}

/** The role of a number that is the reply's; null when the number is not the reply's. */
function roleOfReply({ before, after, limit }: { before: string; after: string; limit: boolean }): "output" | "output_limit" | null {
  const together = TOGETHER.test(before) && !OUTPUT_NAMED.test(before);
  if (OUTPUT_AFTER.test(after)) return limit && !together ? "output_limit" : "output";
  if (OUTPUT_NAME.test(before) && !together) return isLimitOfReply(before) ? "output_limit" : "output";
  if (!OUTPUT_BEFORE.test(before) || isOfBoth(before)) return null;
  return limit ? "output_limit" : "output";
}

/**
 * "max_tokens must be less than or equal to N" names a limit. In "max_tokens (N)" and "max_tokens = N" the number is the
 * requested size.
 */
const CAPPED =
  /(?:at most|less than|<=|up to|cannot exceed|not exceed|maximum (?:value|allowed|output|completion)|limit of|lower than|supports?|above maximum|maximum (?:is|of))[^0-9]{0,48}$/;
const isLimitOfReply = (before: string): boolean => CAPPED.test(before);

/** "The number of input and maximum output tokens (N)": the number is what was requested, although the text says "maximum". */
const isOfBoth = (before: string): boolean =>
  /(?:input|prompt) (?:tokens )?(?:and|plus|\+) max(?:imum)? output tokens \W{0,2}$/.test(before);

/** Every pattern above. Their shape keeps the time linear (`test/linear-time.test.ts`). */
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
  EXCEEDS_AFTER,
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
