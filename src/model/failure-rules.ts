/**
 * The words by which a provider's failure is known, as rules in the order in which they are asked. Lower case, as `failure-text` has it.
 * Every repetition is bounded or of one character class that is not followed by what it could take: linear time, whatever the text.
 */
import type { FailureKind } from "../domain/model-call";

export type Rule = readonly [kind: FailureKind, pattern: RegExp];

/** Codes and types that say it all, without `_`, `-`, `.` and capitals. What is general (`invalid_request_error`) is not here. */
export const codes: readonly Rule[] = [
  [
    "overflow",
    /^(?:contextlengthexceeded(?:error)?|(?:model)?contextwindowexceeded(?:error)?|exceedcontextsizeerror|prompttoolong|modelmaxprompttokensexceeded|contextoverflow|1261)$/,
  ],
  [
    "quota",
    /^(?:insufficient(?:quota|balance|funds|credits?)|billing\w{0,40}|quotaexceeded|paymentrequired|credits?(?:exhausted|required|limit\w{0,20})|exceededcurrentquotaerror|arrearage|1113|1008)$/,
  ],
  ["rate_limit", /^(?:ratelimit\w{0,40}|toomanyrequests\w{0,20}|throttling\w{0,40}|requestlimitexceeded|130[2358]|1039)$/],
  [
    "auth",
    /^(?:invalid(?:api|authentication)\w{0,20}|authentication(?:error|failed)|permission(?:error|denied)|unauthenticated|unauthorized|forbidden|accessdenied\w{0,30}|2049)$/,
  ],
  [
    "refused",
    /^(?:contentfilter\w{0,30}|contentpolicyviolation|responsibleaipolicyviolation|moderation\w{0,30}|safety|invalidprompt|datainspectionfailed|prohibitedcontent|1301|102[67])$/,
  ],
  ["payload", /^(?:requesttoolarge|payloadtoolarge|requestentitytoolarge)$/],
  ["media", /^(?:(?:invalid|unsupported)(?:image|media|file)\w{0,40}|image\w{0,40})$/],
  [
    "invalid_param",
    /^(?:unsupported(?:parameter|value)|(?:string|array)abovemaxlength|unknownparameter|modelnotfound|missingrequiredparameter|integerbelowminvalue)$/,
  ],
  ["timeout", /^(?:timeout\w{0,20}|requesttimeout|gatewaytimeout|deadlineexceeded)$/],
  [
    "unavailable",
    /^(?:overloaded\w{0,20}|servererror|internal(?:server)?error|serviceunavailable\w{0,20}|unavailable|engineoverloaded\w{0,20}|apierror|cancelled)$/,
  ],
];

/** As types of OpenAI's 429 and Groq's 413 only: elsewhere they are words like any other. */
export const RATE_TYPES = /^(?:tokens|requests)$/;

/** Phrases for a rate or a quota: they name tokens and limits too, so they are asked about before the numbers are. */
export const limits: readonly Rule[] = [
  [
    "rate_limit",
    /\b[tr]p[mdhs]\b|(?:tokens?|requests?|queries)[ _]per[ _](?:sec|min|hour|day)|\bper[-_ ](?:minute|second|min)\b|_per_(?:minute|day)|(?:this|a|each) minute|(?:retry|try again) (?:in|after) \d|resource (?:has been )?exhausted/,
  ],
  [
    "quota",
    /\bquota\b|billing|(?:insufficient|out of|not enough|more|add|purchase) (?:credit|balance|fund)|credit balance|credits? (?:is|are|have been) (?:depleted|exhausted|used up)|no credits? (?:left|remaining|available)|upgrade your plan|(?:this|per|a) month|monthly|free allocation|in good standing|api usage limits?|extra usage is required|(?:key|spend|spending|credit) limit|余额|欠费|额度/,
  ],
  [
    "quota",
    /(?:token|usage|request) limit[^.]{0,40}(?:account|organi[sz]ation|workspace|project|subscription|your plan)|(?:daily|weekly|account|organi[sz]ation|plan) (?:token |usage |request )?(?:limit|cap)\b/,
  ],
  ["rate_limit", /rate.?limit|throttl|too many requests|please wait|concurren|slow down|限流|频率|并发|请求过于频繁/],
];

/** Nobody is there, whatever else is said. Asked of a server's failure, and of one inside a stream. */
export const unreachable: readonly Rule[] = [
  ["timeout", /time(?:d|s)?[ -]?out|deadline (?:exceeded|expired)/],
  [
    "unavailable",
    /overloaded|(?:service|server|model|currently|temporarily) (?:is )?unavailable|at capacity|capacity[^.]{0,16}exceeded|bad gateway|system memory/,
  ],
];

const CONTEXT = /context (?:length|window|limit|size)|max\w{0,4} (?:message|input|prompt) tokens/;

/** A parameter or a file that is wrong in itself: no compaction makes it right. */
const faults: readonly Rule[] = [
  [
    "invalid_param",
    /(?:unsupported|unknown|unrecognized|missing) (?:required )?(?:parameter|argument|value|field|name)|not supported with this model|extra inputs are not permitted|(?:must|should) be (?:strictly )?(?:positive|greater than|at least)/,
  ],
  [
    "invalid_param",
    /(?:string|array|list|name|description|value|key|id) (?:is )?too (?:long|large|short)|expected (?:at most|an? (?:string|array))|(?:string|list|array) should have/,
  ],
];
const media: Rule = [
  "media",
  /(?:image|audio|video|file|pdf|media|attachment)s?\b[^.]{0,60}(?:too (?:large|big|many|long)|exceed|invalid|unsupported|not supported|could not|cannot|unable|failed|corrupt)|(?:unsupported|invalid|too many|unable to (?:process|download|decode)|could not (?:process|download|decode)|failed to (?:process|download|decode)|does(?: not|n't) support) (?:the |input |base64 )?(?:image|audio|video|file|pdf|media|mime type)|maximum of \d{1,6} (?:images?|pdfs?|files?|documents?)|pdf[^.]{0,40}pages/,
];

/** `media`: not where the window is what they exceed. */
export const faultOf = (text: string): FailureKind | null =>
  firstOf(faults, text) ?? (!CONTEXT.test(text) && media[1].test(text) ? "media" : null);

/** Too much was asked of the reply; the request itself may be small. */
export const outputs: readonly Rule[] = [
  [
    "output_cap",
    /(?<!input and )(?<!and maximum )(?:output|completion) (?:token|length)s?[^.]{0,24}(?:limit|exceed|too|maximum)|model output limit|too many (?:output|completion) tokens/,
  ],
  [
    "output_cap",
    /max_?(?:completion_?|output_?|new_?)?tokens\b(?![^.]{0,200}(?:context|prompt|input))[^.]{0,60}(?:too (?:large|high|big)|exceed|less than|at most|maximum|greater|lower than|above|range|<=)/,
  ],
  ["output_cap", /maximum tokens you requested exceed/],
];

const overflows: readonly RegExp[] = [
  /(?:exceed\w{0,4}|larger than|longer than|greater than|less than|more than|too (?:long|large|many)|not fit|beyond|overflow\w{0,4})[^.]{0,80}(?:context (?:length|window|size|limit)|max\w{0,4} (?:input|prompt|model|sequence|context) (?:length|limit|tokens|size)|number of tokens allowed|max tokens allowed)/,
  /context (?:length|window|size|limit)[^.]{0,60}(?:exceed|too (?:small|long)|overflow)|mid-generation context overflow/,
  /(?:prompt|input|inputs|conversation|chat history|messages|context)(?: tokens?)?(?: length)? (?:is |are |was |were )?too (?:long|large for)|message you submitted was too long/,
  /(?:prompt|input)(?: tokens?| token count| length){0,2} exceeds?\b/,
  /too many (?:input |prompt )?tokens|exceed\w{0,4} (?:the )?max\w{0,4} (?:number of (?:input )?|message )tokens|(?:prompt|input)[^.]{0,30} exceeds? \d{3,9} tokens/,
  /(?:ran|run|running) out of context|context window is full/,
  /exceed\w{0,4} [^.]{0,30}(?:model'?s?|input|prompt|context|maximum|the) token limit|(?:^|["':.-]) {0,2}["']? ?token limit exceeded/,
  /reduce the (?:length|size) of (?:the |your )?(?:messages|prompt|input|conversation|context)/,
  /range of input length|tokens to keep from the initial prompt|provide a shorter (?:input|prompt)|use a shorter (?:input|prompt)/,
  /(?:context_?length|context_?window)_?exceeded/,
  /(?:超出|超过|超過)[^。]{0,16}(?:token|长度|長度|上下文)|(?:prompt|输入|輸入|上下文)[^。]{0,12}(?:超|过长|過長)/,
];

export const isOverflow = (text: string): boolean => overflows.some((pattern) => pattern.test(text));

export const closings: readonly Rule[] = [
  [
    "payload",
    /(?:request entity|payload|body|request)(?: body)?(?: is| was)? too large|(?:request|payload|body) (?:payload |body )?size[^.]{0,40}(?:exceed|limit|maximum)|maximum (?:request|body|payload) size|length limit exceeded|number of bytes/,
  ],
  [
    "refused",
    /content (?:filter|policy|management|exists risk)|safety|flagged|moderation|violat\w{1,4} (?:our|the|usage)|inappropriate|high risk|prohibited|refused to|敏感|不安全/,
  ],
  ["auth", /api.?key|unauthori[sz]ed|authenticat|forbidden|permission|access denied|security token|don't have access|not allowed to use/],
];

export const firstOf = (rules: readonly Rule[], text: string): FailureKind | null =>
  rules.find(([, pattern]) => pattern.test(text))?.[0] ?? null;

/** Every pattern that reads a text of a provider's: their shape is what keeps the time linear. */
export const textPatterns: readonly RegExp[] = [
  ...[...codes, ...limits, ...unreachable, ...faults, media, ...outputs, ...closings].map(([, pattern]) => pattern),
  ...overflows,
];
