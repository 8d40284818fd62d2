/**
 * The class of a provider's failure. By code and status first, then by arithmetic on the numbers in the message, then
 * by phrase: providers change their wording. A false overflow is worse than a missed one, since it compacts a
 * conversation that had room; so whatever could be something else is asked about before overflow is.
 * Pure; linear time, on at most 4 KB.
 */
import type { FailureKind } from "../domain/model-call";
import { judgeNumbers } from "./failure-numbers";

export interface FailureReport {
  /** HTTP status; null: the failure came inside a stream, or there was no answer. */
  readonly status: number | null;
  readonly code: string | null;
  readonly type: string | null;
  readonly message: string;
}

const MESSAGE_LIMIT = 4_096;

type Rule = readonly [kind: FailureKind, pattern: RegExp];

/** Codes and types that say it all, in snake, kebab or camel case. What is general (`invalid_request_error`) is not here. */
const codes: readonly Rule[] = [
  ["overflow", /^(?:context_length_exceeded|(?:model_)?context_window_exceeded|exceed_context_size_error|prompt_too_long|1261)$/],
  ["quota", /^(?:insufficient_(?:quota|balance|funds)|billing_\w+|quota_exceeded|payment_required|credits?_\w+|1113)$/],
  ["rate_limit", /^(?:rate_?limit\w*|too_?many_?requests|throttling_?\w*|resource_exhausted|tokens|requests|130[235])$/],
  ["auth", /^(?:invalid_api_key|authentication_error|permission_(?:error|denied)|unauthenticated|unauthorized|access_?denied\w*)$/],
  ["refused", /^(?:content_?filter\w*|content_policy_violation|responsible_?ai_?policy_?violation|moderation\w*|safety)$/],
  ["payload", /^(?:request_too_large|payload_too_large)$/],
  ["media", /^(?:(?:invalid|unsupported)_(?:image|media|file)\w*|image_\w+)$/],
  [
    "invalid_param",
    /^(?:unsupported_(?:parameter|value)|string_above_max_length|array_above_max_length|unknown_parameter|model_not_found)$/,
  ],
  ["timeout", /^(?:timeout\w*|request_timeout|gateway_timeout|deadline_exceeded)$/],
  ["unavailable", /^(?:overloaded\w*|server_error|internal_(?:server_)?error|service_unavailable\w*|unavailable|engine_overloaded\w*)$/],
];

/** Phrases for a rate or a quota: they name tokens and limits too, so they are asked about before the numbers are. */
const limits: readonly Rule[] = [
  ["quota", /\bquota\b|billing|(?:insufficient|out of|no|not enough) (?:credit|balance|fund)|upgrade your plan|(?:this|per) month|monthly/],
  [
    "rate_limit",
    /rate.?limit|throttl|too many requests|\b[tr]p[md]\b|(?:tokens|requests) per (?:second|minute|hour|day)|(?:this|per|a) minute|please wait|concurren/,
  ],
];

/** A parameter or a file that is wrong in itself: no compaction makes it right. */
const faults: readonly Rule[] = [
  [
    "invalid_param",
    /(?:unsupported|unknown|unrecognized|missing) (?:required )?(?:parameter|argument|value|field)|not supported with this model|extra inputs are not permitted/,
  ],
  [
    "invalid_param",
    /(?:string|array|list|name|description|value) (?:is )?too (?:long|large|short)|expected (?:at most|an? (?:string|array))/,
  ],
  [
    "media",
    /(?:image|audio|video|file|pdf|media|attachment)s?\b[^.]{0,60}(?:too (?:large|big|many|long)|exceed|invalid|unsupported|not supported|could not|cannot|unable|failed|corrupt)|(?:unsupported|invalid|too many|unable to (?:process|download|decode)|could not (?:process|download|decode)|failed to (?:process|download|decode)) (?:the |input )?(?:image|audio|video|file|pdf|media)/,
  ],
];

/** Too much was asked of the reply; the request itself may be small. */
const outputs: readonly Rule[] = [
  ["output_cap", /(?:output|completion) (?:token|length)s?[^.]{0,24}(?:limit|exceed|too|maximum)/],
  [
    "output_cap",
    /max_(?:completion_|output_|new_)?tokens\b(?![^.]*(?:context|prompt|input))[^.]{0,60}(?:too (?:large|high|big)|exceed|less than|at most|maximum|greater|cannot|must be|range)/,
  ],
];

const overflows: readonly RegExp[] = [
  /(?:exceed\w*|larger than|longer than|greater than|less than|too (?:long|large|many)|not fit|beyond|overflow\w*)[^.]{0,80}(?:context (?:length|window|size|limit)|max\w* (?:input|prompt|model|sequence) length|number of tokens allowed)/,
  /context (?:length|window|size|limit)[^.]{0,60}(?:exceed|too (?:small|long)|overflow)/,
  /(?:prompt|input|inputs|conversation|chat history|messages)(?: tokens?| length)? (?:is |are |was )?too long/,
  /(?:prompt|input)(?: tokens?| token count| length)? exceeds?\b/,
  /too many (?:input|prompt) tokens|too many tokens[^.]{0,40}(?:prompt|input|context)|prompt[^.]{0,40}too large for/,
  /exceed\w* [^.]{0,30}(?:model|input|prompt|context) token limit/,
  /reduce the length of (?:the |your )?(?:messages|prompt|input|conversation)/,
  /range of input length|tokens to keep from the initial prompt/,
  /(?:context_length|context_window)_exceeded/,
  /(?:超出|超过|超過)[^。]{0,16}(?:token|长度|長度|上下文)|(?:prompt|输入|輸入|上下文)[^。]{0,12}(?:超|过长|過長)/,
];

const closings: readonly Rule[] = [
  ["payload", /(?:request entity|payload|body|request)(?: body)?(?: is| was)? too large|maximum (?:request|body|payload) size/],
  ["refused", /content (?:filter|policy|management)|safety|flagged|moderation|violat\w+ (?:our|the|usage)/],
  ["auth", /api.?key|unauthori[sz]ed|authenticat|forbidden|permission|access denied/],
];

const unreachable: readonly Rule[] = [
  ["timeout", /time(?:d|s)?.?out|deadline exceeded/],
  ["unavailable", /overloaded|unavailable|at capacity|internal (?:server )?error|bad gateway|try again/],
];

export function classifyFailure(report: FailureReport): FailureKind {
  const text = report.message.slice(0, MESSAGE_LIMIT).toLowerCase().replaceAll("’", "'");
  return byCode(report) ?? byStatus(report.status, text) ?? byText(report.status, text) ?? byDefault(report.status);
}

const match = (rules: readonly Rule[], text: string): FailureKind | null => rules.find(([, pattern]) => pattern.test(text))?.[0] ?? null;

function byCode({ code, type }: FailureReport): FailureKind | null {
  const normal = (value: string | null) => (value ?? "").slice(0, 64).toLowerCase().replaceAll("-", "_");
  return match(codes, normal(code)) ?? match(codes, normal(type));
}

/** Where the status alone decides, or leaves two classes. */
function byStatus(status: number | null, text: string): FailureKind | null {
  switch (status) {
    case 401:
      return "auth";
    case 402:
      return "quota";
    case 403:
      return match(limits, text) ?? match(closings, text) ?? "auth";
    case 408:
    case 504:
    case 524:
      return "timeout";
    case 429:
      return match(limits, text) === "quota" ? "quota" : "rate_limit";
    default:
      return null;
  }
}

function byText(status: number | null, text: string): FailureKind | null {
  const server = status === null || status >= 500;
  return (
    match(limits, text) ??
    (server ? match(unreachable, text) : null) ??
    match(faults, text) ??
    judgeNumbers(text) ??
    match(outputs, text) ??
    (overflows.some((pattern) => pattern.test(text)) ? "overflow" : null) ??
    match(closings, text)
  );
}

function byDefault(status: number | null): FailureKind {
  if (status === 413) return "payload";
  return status !== null && status >= 400 && status < 500 ? "invalid_param" : "unavailable";
}
