/**
 * What a provider's refusal points at: a parameter that an endpoint does not know, a rule about the conversation's form, or the conversation
 * itself. It decides what the same call is asked with once more (`context/model-quirks`). Pure; linear time.
 */
import type { RefusedPart } from "../context/model-quirks";
import type { FailureKind } from "../domain/model-call";

/** Words for a part that is not taken at all. */
const UNKNOWN =
  /unsupported|unknown|unrecogni[sz]ed|unexpected|not (?:supported|permitted|allowed|recognized)|extra (?:inputs|fields?|input)|does(?: not|n't) support|additional properties|invalid (?:parameter|field)|no such (?:parameter|field)/;

type Rule = readonly [part: RefusedPart, pattern: RegExp];

/** Rules about the form of a conversation, as templates and providers state them. */
const forms: readonly Rule[] = [
  ["call_ids", /tool[_ -]?call[_ ]?ids?[^.]{0,100}(?:length of 9|9 char|\{9\})/],
  [
    "reasoning_wanted",
    /(?:reasoning_content|thinking)[^.]{0,120}(?:must be passed back|is missing|missing in|is required|must be (?:included|provided))/,
  ],
  [
    "alternate_roles",
    /roles? must alternate|must alternate between|only user and assistant roles are supported|after the optional system message/,
  ],
  [
    "system",
    /system (?:messages?|role|prompt)[^.]{0,60}(?:must|should|can) (?:only )?(?:be|come|appear)[^.]{0,30}(?:beginning|first|start)|(?:multiple|more than one|only one|a single) system (?:message|prompt)s?|unexpected (?:message )?role[^.]{0,20}system/,
  ],
];

/** Parameters that a request has by our choice, each with the words that name it. `max_tokens` goes before the name that replaces it. */
const parameters: readonly Rule[] = [
  ["stream_options", /stream_options|include_usage/],
  ["parallel_tool_calls", /parallel_tool_calls/],
  ["tool_choice", /tool_choice/],
  ["max_tokens", /\bmax_tokens\b[^.]{0,60}(?:unsupported|not supported|not permitted)|use '?"?max_completion_tokens/],
  ["max_completion_tokens", /max_completion_tokens/],
  ["reasoning_unknown", /reasoning_content|\breasoning\b/],
];

/** Names of a place in the conversation. */
const HISTORY =
  /\b(?:messages|input|contents)(?:\[|\.| )\d{1,5}\b|\b(?:rs|msg|fc|call|toolu)_[a-z0-9]{6}|tool_use|tool_result|tool_call_ids?\b|tool messages?\b|function call(?:s|ing)?\b|thinking blocks?|thought[_ ]signature|\bsignature\b|encrypted[_ ]content|reasoning item|\broles?\b|assistant message|conversation must|last message|empty content|message content/;
const HISTORY_PARAM = /^(?:messages|input|contents)\b/;

/** Kinds that may be about the form of the request. Templates fail with status 500. */
const OF_FORM: ReadonlySet<FailureKind> = new Set(["invalid_param", "unavailable", "not_found"]);
const TEMPLATE = /template|jinja|raise_exception/;

interface Reported {
  readonly status: number | null;
  readonly code: string | null;
  readonly param?: string | null;
}

/** Null: the failure is no refusal of the request's form, or it does not say what it is about. `text` is normalised (`failure-text`). */
export function findRefusedPart(kind: FailureKind, { status, param = null, code }: Reported, text: string): RefusedPart | null {
  if (kind === "media") return "history";
  if (!OF_FORM.has(kind) || isFailing(status, text)) return null;
  const form = forms.find(([, pattern]) => pattern.test(text));
  if (form) return form[0];
  return kind === "not_found" ? findLostItem(text) : findNamedPart({ param, code, text });
}

/** An item that the provider does not keep is of the conversation. */
const findLostItem = (text: string): RefusedPart | null => (/\b(?:rs|msg|fc)_[a-z0-9]{6}|item with id/.test(text) ? "history" : null);

interface Named {
  readonly param: string | null;
  readonly code: string | null;
  readonly text: string;
}

function findNamedPart({ param, code, text }: Named): RefusedPart | null {
  const named = `${(param ?? "").toLowerCase()} ${text}`;
  const parameter = parameters.find(([, pattern]) => pattern.test(named));
  if (parameter && isUnknown(param, code, text)) return parameter[0];
  if (param !== null) return HISTORY_PARAM.test(param.toLowerCase()) ? "history" : "setting";
  return HISTORY.test(text) ? "history" : UNKNOWN.test(text) ? "setting" : null;
}

/** A server that failed says nothing about the request, unless its template did. */
const isFailing = (status: number | null, text: string): boolean =>
  (status === null || status >= 500) && !TEMPLATE.test(text) && !hasForm(text);
const hasForm = (text: string): boolean => forms.some(([, pattern]) => pattern.test(text));

const isUnknown = (param: string | null, code: string | null, text: string): boolean =>
  UNKNOWN.test(text) || /unsupported|unknown|extra_forbidden/.test(code ?? "") || (param !== null && /extra inputs/.test(text));

const BYTES =
  /(?:limit|maximum|max|at most|exceeds?)[^0-9]{0,40}(\d{4,10})(?: ?(?:bytes|b)\b|$|[^\w.])|(?:limit|maximum|max|at most|exceeds?)[^0-9]{0,40}(\d{1,4}(?:\.\d{1,2})?) ?([km])i?b\b/g;
const UNITS: Readonly<Record<string, number>> = { k: 1_000, m: 1_000_000 };

/** The most bytes of a request that the text names. Null when it names none. */
export function readMostBytes(text: string): number | null {
  const last = [...text.matchAll(BYTES)].at(-1);
  if (!last) return null;
  const [, bytes, number, unit = ""] = last;
  return bytes === undefined ? Math.floor(Number(number) * (UNITS[unit] ?? 1)) : Number(bytes);
}
