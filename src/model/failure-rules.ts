/**
 * Regular expressions that recognise the kind of a provider's failure by its text, in the order in which they are tried.
 * They expect the text as `failure-text` normalises it (lower case). Every repetition is bounded, or repeats one character
 * class that cannot match what follows it, so matching takes linear time on any text.
 */
import type { FailureKind } from "../domain/model-call";
import { OTHER_UNIT } from "./failure-numbers";

export type Rule = readonly [kind: FailureKind, pattern: RegExp];

/**
 * Codes and types that identify the kind by themselves, compared in lower case without `_`, `-`, `.` and spaces. General
 * ones (`invalid_request_error`) are not listed.
 */
export const codes: readonly Rule[] = [
  [
    "overflow",
    /^(?!\w{0,64}(?:deadline|rate|quota|budget|credit|output|completion|image|file|media|time|cache))(?=\w{0,64}(?:context|prompt|inputtoken|inputlength))\w{0,64}(?:exceed|toolong|toolarge|overflow|limitreached)\w{0,16}$|^(?:tokenslimitreached|(?:tokens|characters|conversation|input)toolong|1261)$/,
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
    /^(?:unsupported(?:parameter|value)|(?:string|array)abovemaxlength|unknownparameter|missingrequiredparameter|integerbelowminvalue)$/,
  ],
  ["not_found", /^(?:modelnotfound|modelnotavailable|unknownmodel|invalidmodel|deploymentnotfound|notfounderror)$/],
  ["region", /^(?:unsupportedcountry\w{0,40}|regionnotsupported)$/],
  ["timeout", /^(?:timeout\w{0,20}|requesttimeout|gatewaytimeout|deadlineexceeded)$/],
  [
    "unavailable",
    /^(?:overloaded\w{0,20}|servererror|internal(?:server)?error|serviceunavailable\w{0,20}|unavailable|engineoverloaded\w{0,20}|apierror|cancelled)$/,
  ],
];

/**
 * Types that mean a rate limit in OpenAI's 429 and Groq's 413. They are compared with a whole code or type only: inside a
 * message they are ordinary words.
 */
export const RATE_TYPES = /^(?:tokens|requests)$/;

/**
 * Phrases for a rate limit or a quota. Such texts name tokens and limits too, so these rules are tried before the numbers
 * are read.
 */
export const limits: readonly Rule[] = [
  [
    "rate_limit",
    /\b[tr]p[mdhs]\b|(?:tokens?|requests?|queries)[ _]per[ _](?:sec|min|hour|day)|\bper[-_ ](?:minute|second|min)\b|_per_(?:minute|day)|(?:this|a|each|last|past) (?:second|minute|hour)\b|hourly|parallel requests|\d \w{0,12} ?\w{1,12} ?\/ ?(?:sec|min|hour)|(?:retry|try again) (?:in|after) \d|back-?off|resource (?:has been )?exhausted|tokens? rates?\b|concurren|par (?:minute|seconde|jour)\b|pro (?:minute|sekunde|tag)\b|por (?:minuto|segundo|día)|每(?:个)?(?:分钟|分鐘|秒|小时|小時|日|天)|速率|[分秒日]あたり|時間あたり|분당|초당/,
  ],
  [
    "quota",
    /\bquota\b|billing|(?:insufficient|out of|not enough|more|add|purchase) (?:credit|balance|fund)|credit balance|credits? (?:is|are|have been) (?:depleted|exhausted|used up)|no credits? (?:left|remaining|available)|upgrade your plan|(?:this|per|a) month|monthly|free allocation|in good standing|api usage limits?|extra usage is required|(?:key|spend|spending|credit) limit|(?:max|total|cost|spend\w{0,3}|(?<!thinking |reasoning )token) ?budget\b|\bbudget (?:has been |is |was )?exceeded|free[- ](?:tier|trial)|\btrial\b|paid (?:plan|basis|tier)|prepaid|余额|餘額|欠费|欠費|额度|額度|配额|配額|套餐|充值|当月|當月|本月|利用枠|月あたり|월별|할당량/,
  ],
  [
    "quota",
    /(?:token|usage|request) limit[^.]{0,40}(?:account|organi[sz]ation|workspace|project|subscription|your plan)|(?:daily|weekly|account|organi[sz]ation|workspace|project|subscription|plan|tier|team|user|key)(?:'s)? (?:(?:max\w{0,4}|input|prompt|total|output|usage|request|tokens?) ){0,3}(?:limit|cap|allowance)\b/,
  ],
  [
    "rate_limit",
    /rate.?limit|throttl|too many requests|please wait|slow down|in flight|限流|频率|頻率|并发|並發|请求过于频繁|レート|리밋|요청이 너무/,
  ],
];

/**
 * Phrases for a provider that does not respond or is overloaded, whatever else the text says. Tried for a status of 500 and
 * above, and for a failure without a status (inside a stream).
 */
export const unreachable: readonly Rule[] = [
  ["timeout", /time(?:d|s)?[ -]?out|deadline (?:exceeded|expired)/],
  [
    "unavailable",
    /overloaded|(?:service|server|model|currently|temporarily) (?:is )?unavailable|at capacity|capacity[^.]{0,16}exceeded|bad gateway|system memory/,
  ],
];

/** A plan that takes no long request. Waiting never helps, although the status says that a rate was exceeded; a smaller request does. */
export const longRequests: readonly Rule[] = [["overflow", /extra usage is required for long context/]];

/** The provider does not serve the place from where the request came. */
export const places: readonly Rule[] = [
  [
    "region",
    /(?:country|region|territory|location)[^.]{0,60} (?:is )?not (?:supported|available|allowed)|not (?:available|supported) in your (?:country|region|location)/,
  ],
];

/** The provider has no model of this name, or nothing at this address. */
export const absences: readonly Rule[] = [
  [
    "not_found",
    /\bmodel\b[^.]{0,100}(?:does not exist|not found|do(?:es)? not have access|is not available|not a valid model|unknown)|(?:invalid|unknown|no such) model\b|not a valid model id|resource not found/,
  ],
];

/** Go's words for an expired deadline, which gateways send under any status. The `context` in them is not a model's context. */
export const deadlines: readonly Rule[] = [["timeout", /context deadline exceeded|\bdeadlineexceeded/]];

const CONTEXT = /context (?:length|window|limit|size)|max\w{0,4} (?:message|input|prompt) tokens/;

/** Errors in one parameter or one file. No compaction can fix them. */
const faults: readonly Rule[] = [
  ["refused", /safety (?:threshold|system|filter|setting|polic)|content (?:filter|policy)/],
  [
    "invalid_param",
    /(?:unsupported|unknown|unrecognized|missing) (?:required )?(?:parameter|argument|value|field|name)|not supported with this model|no endpoints found|extra inputs are not permitted|(?:must|should) be (?:strictly )?(?:positive|greater than|at least|>=?|≥)|\b(?:max|min)_(?:input|prompt|context)_\w{3,8} (?:must|should) be|vocabulary|(?:token[_ ]id|\bseed|temperature|top_[kp])['"`]? (?:\d|must|should|cannot|may not)|(?:parse|parsing|malformed|invalid|decode) (?:\w{1,12} )?json|\bat (?:offset|position|line|column) \d/,
  ],
  [
    "invalid_param",
    /(?:string|array|list|name|description|value|key|id|(?<!input |prompt )token) (?:is )?too (?:long|large|short)|expected (?:at most|an? (?:string|array))|(?:string|list|array) should have/,
  ],
];
const media: Rule = [
  "media",
  /(?:image|audio|video|file|pdf|media|attachment)s?\b[^.]{0,60}(?:too (?:large|big|many|long)|exceed|invalid|not valid|unsupported|not supported|not meet|could not|cannot|unable|failed|corrupt)|(?:unsupported|invalid|too many|unable to (?:process|download|decode)|could not (?:process|download|decode)|failed to (?:process|download|decode)|does(?: not|n't) support) (?:the |input |base64 )?(?:image|audio|video|file|pdf|media|mime type)|(?:maximum of|at most|up to|only|passed|number of) (?:\d{1,6} )?(?:images?|audios?|videos?|pdfs?|files?|documents?)(?:\b(?! tokens?)|\(s\))|pdf[^.]{0,40}pages|(?:fetch|download|retrieve)\w{0,3} [^.]{0,40}\burls?\b|(?:图片|图像|圖片|圖像|音频|音訊|视频|影片|文件|画像|動画|音声|ファイル|이미지)[^。]{0,20}(?:超|过大|過大|无效|無效|無効|失败|失敗|大きすぎ|초과)/,
];

/** Errors in tool definitions, reply formats and chunks, and in the limit on thinking. A shorter history does not fix them. */
const settings: Rule = [
  "invalid_param",
  /(?:(?:tool|function)s? (?:schema|definition|declaration|description|name|parameter)s?|(?:json|response|reply) schema|response_format|chunk(?:s|_size\w{0,12})?|(?:tool|function) (?:result|output|response)|predict(?:ed|ion) (?:output|content)|(?:thinking|reasoning|budget)[_ ](?:budget|tokens))[^.]{0,80}(?:too (?:large|long|big|many)|exceed|invalid|at most|limit|>|out of range)|tokens (?:per|for (?:a|one|each) (?:single )?) ?(?:chunk|block|document|message|item|tool|function|file)\b/,
];

/** The kind of a fault in the request itself. `media` and `settings` do not apply to a text that names the context window. */
export const findFailureKind = (text: string): FailureKind | null =>
  matchFirstRule(faults, text) ?? (CONTEXT.test(text) ? null : matchFirstRule([media, settings], text));

/** Phrases for a reply limit that is too high. The request itself may be small. */
export const outputs: readonly Rule[] = [
  [
    "output_cap",
    /(?<!input (?:and|or) )(?<!and maximum )(?:output|completion) (?:token|length)s?[^.]{0,24}(?:limit|exceed|too|maximum)|model output limit|too many (?:output|completion) tokens/,
  ],
  [
    "output_cap",
    /max_?(?:completion_?|output_?|new_?)?tokens\b(?![^.]{0,200}(?:context|prompt|input))[^.]{0,60}(?:too (?:large|high|big)|exceed|less than|at most|maximum|greater|lower than|above|range|<=)/,
  ],
  [
    "output_cap",
    /maximum tokens you requested exceed|(?:输出|輸出|出力|출력)[^。]{0,16}(?:超|过长|過長|上限|초과)|(?:超出|超过|超過)[^。]{0,12}(?:输出|輸出|出力)/,
  ],
];

const overflows: readonly RegExp[] = [
  /(?:exceed\w{0,4}|larger than|longer than|greater than|less than|more than|too (?:long|large|many)|not fit|beyond|overflow\w{0,4})[^.]{0,80}(?:context (?:length|window|size|limit)|max\w{0,4} (?:input|prompt|model|sequence|context) (?:length|limit|tokens|size)|number of tokens allowed|max tokens allowed|model'?s? context\b|max(?:imum)? context\b|model (?:token )?limit)/,
  /context (?:length|window|size|limit)[^.]{0,60}(?:exceed|too (?:small|long)|overflow)|mid-generation context overflow/,
  /(?:prompt|input|inputs|conversation|chat history|messages|context)(?: tokens?)?(?: length)? (?:is |are |was |were )?too (?:long|large for)|message you submitted was too long/,
  /(?:prompt|input|context)(?: tokens?| token count| content| length| limit){0,2} (?:was |is |has been )?exceed(?:s|ed)?\b/,
  /max\w{0,4} (?:number of |input |prompt |context ){1,2}tokens? (?:was |is |has been )?exceeded|(?:model|context|prompt|input|sequence)\W{0,2} max\w{0,4} length (?:was |is |has been )?exceeded/,
  /(?:conversation|history|messages|prompt|input|tokens)[^.]{0,40}(?:beyond|over|above)[^.]{0,24}(?:model|context|supported \d|token limit)/,
  /too many (?:input|prompt) tokens|too many tokens(?::| in (?:the |your )?(?:prompt|input|request|messages))|exceed\w{0,4} (?:the )?max\w{0,4} (?:number of (?:input )?|message )tokens|(?:prompt|input)[^.]{0,30} exceeds? \d{3,9} tokens/,
  /(?:ran|run|running|insufficient|not enough) (?:out of )?context|context (?:window |size )?is (?:full|too (?:large|long))|context shift is disabled/,
  /exceed\w{0,4} [^.]{0,30}(?:model'?s?|input|prompt|context|maximum|the) token limit|(?:input|prompt|context)(?: token)? limit[^.]{0,30} exceeded/,
  /reduce the (?:length|size) of (?:the |your )?(?:messages|prompt|input|conversation|context)/,
  /range of input length|tokens to keep from the initial prompt|provide a shorter (?:input|prompt)|use a shorter (?:input|prompt)/,
  /(?:context|prompt|input)_?(?:length|window|size|tokens?|limit)?_?(?:limit_?)?(?:exceeded|overflow|too_(?:long|large))/,
  /(?:too (?:long|large|big)|longer|larger|bigger|greater) (?:for|than) [^.]{0,24}(?:model|context)\b/,
  /too (?:large|long)[^!?]{0,48}(?:max|limit)[^.]{0,24}\d{3,9} tokens|(?:messages|prompt|input|conversation|request)[^.]{0,40} (?:larger|longer|more|greater) than (?:this|the) model|(?:tokens|conversation|prompt)[^.]{0,40} exceeds? (?:this |the )?model'?s? (?:limit|max)/,
  /(?:超出|超过|超過)[^。]{0,16}(?:上下文|(?:模型|最大|输入|輸入)[^。]{0,8}token|(?:模型|输入|輸入|token)[^。]{0,10}(?:长度|長度))/,
  /(?:prompt|(?:输入|輸入)(?!参数|參數|的)|上下文|提示词|提示詞)[^。]{0,12}(?:超(?!时|時)|过长|過長)|tokens?[^。]{0,8}(?:超出|超过|超過)[^。]{0,10}(?:限制|最大|上限|长度|長度|模型)/,
  /(?:コンテキスト|トークン|プロンプト|入力)[^。]{0,40}(?:超え|超過|長すぎ)|(?:컨텍스트|토큰|프롬프트|입력)[^.]{0,40}(?:초과|너무 (?:깁|길|긴))/,
  /(?:supera|excede|sobrepasa|überschreite|übersteigt|превыша)[^.]{0,60}(?:contexto|kontext|contesto|контекст)|(?:contexto|kontext|contesto|контекст)[^.]{0,60}(?:supera|excede|sobrepasa|überschr|übersteigt|превы)/,
  /(?:longueur|fenêtre|taille) (?:de|du) contexte[^.]{0,60}(?:dépass|excèd)|(?:dépass|excèd)[^.]{0,60}(?:longueur|fenêtre|taille) (?:de|du) contexte/,
];

/** Matches a refusal that only names the maximum length of a request. */
const namedLimit =
  /(?:max(?:imum)?|longest|largest|supports?(?: only)?) (?:\w{1,12} ){0,2}(?:context|prompt|input|sequence)(?: tokens?)? (?:length|size|window|len|tokens?|limit|characters)\W{1,3}(?:is |of |are )?(?:only )?\d{2,9}|supports? only (?:a )?\d{2,9}[^.]{0,12} context/;

/** Matches a text that only says that there are too many tokens. From a server that failed it may also be about its load. */
const bare = /(?:^|["':.-]) {0,2}["']? ?(?:token limit exceeded)|too many tokens/;
/**
 * Matches a text about tokens or the window. A text without these words that counts another unit is about a field, a list or
 * a file.
 */
const OF_TOKENS = /token|context|输入|輸入|上下文/;

export const isOverflow = (text: string, { server }: { readonly server: boolean }): boolean =>
  (!OTHER_UNIT.test(text) || OF_TOKENS.test(text)) &&
  (overflows.some((pattern) => pattern.test(text)) || (!server && (bare.test(text) || namedLimit.test(text))));

export const closings: readonly Rule[] = [
  [
    "payload",
    /(?:request entity|payload|body|request)(?: body)?(?: is| was)? too large|(?:request|payload|body|total message|messages) (?:payload |body )?size[^.]{0,40}(?:exceed|limit|maximum)|maximum (?:request|body|payload) size|length limit exceeded|number of bytes|too (?:large|big)[^.]{0,12}\d ?(?:[kmg]i?b|bytes)\b/,
  ],
  [
    "refused",
    /content (?:filter|policy|management|exists risk)|safety|flagged|moderation|violat\w{1,4} (?:our|the|usage)|inappropriate|high risk|prohibited|refused to|敏感|不安全|违规|違規|不適切|부적절/,
  ],
  ["auth", /api.?key|unauthori[sz]ed|authenticat|forbidden|permission|access denied|security token|don't have access|not allowed to use/],
];

export const matchFirstRule = (rules: readonly Rule[], text: string): FailureKind | null =>
  rules.find(([, pattern]) => pattern.test(text))?.[0] ?? null;

/** Every pattern that is matched against a provider's text. Their shape keeps the time linear (`test/linear-time.test.ts`). */
export const textPatterns: readonly RegExp[] = [
  ...[
    ...codes,
    ...limits,
    ...longRequests,
    ...places,
    ...absences,
    ...unreachable,
    ...deadlines,
    ...faults,
    media,
    settings,
    ...outputs,
    ...closings,
  ].map(([, pattern]) => pattern),
  ...overflows,
  namedLimit,
  bare,
  OF_TOKENS,
];
