/**
 * Classifies a provider's failure: first by code and status, then by the numbers in the message, then by phrases, because
 * providers change their wording. A false overflow is worse than a missed one, since it compacts a conversation that had
 * room. So every other explanation is tried before overflow. Pure; linear time, on at most 4,096 UTF-16 units of text.
 */
import type { ModelFailure } from "../app/ports";
import type { FailureKind } from "../domain/model-call";
import { describeError } from "./error-body";
import { isRoomNegative, judgeNumbers } from "./failure-numbers";
import {
  absences,
  closings,
  codes,
  deadlines,
  findFailureKind,
  isOverflow,
  limits,
  longRequests,
  matchFirstRule,
  outputs,
  places,
  RATE_TYPES,
  unreachable,
} from "./failure-rules";
import { FAILURE_TEXT_LIMIT, normalizeFailureText } from "./failure-text";
import { findRefusedPart, readMostBytes } from "./refused-part";

export interface FailureReport {
  /** HTTP status; null when the failure came inside a stream, or when there was no answer. */
  readonly status: number | null;
  readonly code: string | null;
  readonly type: string | null;
  /** The part of the request that the report names. Absent: none. */
  readonly param?: string | null;
  readonly message: string;
}

interface FailureVerdict {
  readonly kind: FailureKind;
  /**
   * Tokens that the provider says would fit: of the whole request (`overflow`) or of the reply (`output_cap`). Null when it
   * names none.
   */
  readonly limit: number | null;
  /**
   * The whole window, when `limit` is only what the request left of it to its reply. Null otherwise, and when the provider
   * does not name it.
   */
  readonly window: number | null;
}

/** Converts a report to the port's type. The adapter adds `retry_after_ms`, which it reads from the answer. */
export function toModelFailure(asReported: FailureReport): ModelFailure {
  const report = unwrap(asReported);
  const text = normalizeFailureText(report.message);
  const { kind, limit, window } = judge(report, text);
  const message = report.message.trim();
  const refused = findRefusedPart(kind, report, text);
  const most_bytes = kind === "payload" ? readMostBytes(text) : null;
  return {
    kind,
    status: report.status,
    ...(limit !== null && { limit }),
    ...(window !== null && { window }),
    ...(most_bytes !== null && { most_bytes }),
    ...(refused !== null && { refused }),
    ...toReported(report),
    ...(message !== "" && { message }),
  };
}

const IDENTIFIER = /^[A-Za-z0-9_.\-[\]]{1,64}$/;

/** The provider's own names for what went wrong. Anything that is no identifier may hold content, and is left out. */
function toReported({ code, type, param = null }: FailureReport): Pick<ModelFailure, "reported"> {
  const named = Object.entries({ code, type, param }).filter(([, name]) => name !== null && IDENTIFIER.test(name));
  return named.length > 0 ? { reported: Object.fromEntries(named) } : {};
}

export const classifyFailure = (report: FailureReport): FailureKind => judgeFailure(report).kind;

export function judgeFailure(asReported: FailureReport): FailureVerdict {
  const report = unwrap(asReported);
  return judge(report, normalizeFailureText(report.message));
}

/** `text`: the report's message, normalised. */
function judge(report: FailureReport, text: string): FailureVerdict {
  const status = readStatus(report, text);
  const kind =
    byCredit(status) ??
    matchFirstRule(longRequests, text) ??
    matchFirstRule(places, text) ??
    byCode(report, text) ??
    byStatus(status, text) ??
    byText(status, text) ??
    byType(report) ??
    byDefault(status);
  return { kind, ...limitFor(kind, text) };
}

function limitFor(kind: FailureKind, text: string): Omit<FailureVerdict, "kind"> {
  if (kind !== "overflow" && kind !== "output_cap") return { limit: null, window: null };
  const { window, cap, left } = judgeNumbers(text);
  if (kind === "overflow") return { limit: positive(window ?? shortWindow(text)), window: null };
  return { limit: positive(cap ?? left), window: cap === null ? positive(window) : null };
}

const positive = (tokens: number | null): number | null => (tokens !== null && tokens > 0 ? tokens : null);

/** A window that is too small to prove an overflow is used only where the class is already known. */
const SHORT_WINDOW = /max\w{0,4} context length\W{1,4}(?:is )?(\d{2,3})\b/;
const shortWindow = (text: string): number | null => {
  const found = SHORT_WINDOW.exec(text);
  return found ? Number(found[1]) : null;
};

/** Reads a message that is itself the JSON of an error, as gateways pass on what they received. */
function unwrap(report: FailureReport): FailureReport {
  if (!/^\s{0,8}[{["]/.test(report.message)) return report;
  const inner = describeError(report.message.slice(0, FAILURE_TEXT_LIMIT));
  return {
    status: report.status,
    code: report.code ?? inner.code,
    type: report.type ?? inner.type,
    param: report.param ?? inner.param,
    message: inner.message,
  };
}

/** Gateways answer 200, or begin to stream, and put the provider's status into the body. */
const STATUS_IN_TEXT =
  /(?:error )?code['"]?\s?[:=]\s?['"]?(?<code>[45]\d\d)\b|^\W{0,4}(?:http |error |status )?(?<first>[45]\d\d) (?!tokens?\b|characters?\b|bytes?\b)[a-z]|\b(?<named>[45]\d\d) (?:bad request|unauthorized|payment required|forbidden|not found|request entity too large|payload too large|unprocessable|too many requests|internal server error|bad gateway|service unavailable|gateway time)/;

function readStatus({ status, code }: FailureReport, text: string): number | null {
  if (status !== null && status !== 200) return status;
  const { groups } = STATUS_IN_TEXT.exec(text) ?? {};
  const named = code !== null && /^[45]\d\d$/.test(code) ? code : (groups?.code ?? groups?.first ?? groups?.named);
  return named === undefined ? (status === 200 ? null : status) : Number(named);
}

/** Status 402 means that something is not paid for, whatever limit the text names. No compaction helps. */
const byCredit = (status: number | null): FailureKind | null => (status === 402 ? "quota" : null);

/** Codes and types inside a text: `'code': 'context_length_exceeded'`, `error code: 1261`, `"type": "overloaded_error"`. */
const NAMED_IN_TEXT = /(?:code|type|status|reason)['"]?\s?[:=]\s?['"]?([a-z][\w.-]{2,60}|\d{4})\b/g;
const MOST_NAMES = 8;

function byCode({ code, type }: FailureReport, text: string): FailureKind | null {
  const named = [code, type].map(squash);
  if (named.some((name) => RATE_TYPES.test(name))) return "rate_limit";
  const inText = [...text.matchAll(NAMED_IN_TEXT)].slice(0, MOST_NAMES).map((found) => squash(found[1] ?? null));
  for (const name of [...named, ...inText]) {
    const kind = name === "" ? null : matchFirstRule(codes, name);
    if (kind && !isGeneral(kind)) return kind;
  }
  return null;
}

/** A server's code for its own failure says less than its message: some send `server_error` when the prompt is too long. */
const isGeneral = (kind: FailureKind): boolean => kind === "unavailable";

const squash = (value: string | null): string =>
  (value ?? "")
    .slice(0, 64)
    .toLowerCase()
    .replaceAll(/[_\-. ]/g, "");

/** Classes that the status alone decides, or narrows down to two. */
function byStatus(status: number | null, text: string): FailureKind | null {
  switch (status) {
    // Gateways put these two statuses over other refusals, so what the text proves goes first.
    case 401:
      return byProof(text) ?? "auth";
    case 403:
      return matchFirstRule(limits, text) ?? byProof(text) ?? matchFirstRule(closings, text) ?? "auth";
    case 408:
    case 504:
    case 524:
      return "timeout";
    // Cloudflare's own error pages: the provider was not reached, whatever the text says.
    case 520:
    case 521:
    case 522:
    case 523:
    case 525:
    case 526:
    case 530:
      return "unavailable";
    case 429:
      return matchFirstRule(limits, text) === "quota" ? "quota" : "rate_limit";
    default:
      return null;
  }
}

const SENT = /context|prompt|input|messages/;

/** An overflow that is proved by numbers, or by more than a bare phrase. */
function byProof(text: string): FailureKind | null {
  if (matchFirstRule(limits, text) !== null || findFailureKind(text) !== null) return null;
  const { kind } = judgeNumbers(text);
  const isProved = kind === null ? isOverflow(text, { server: true }) : kind === "overflow" && SENT.test(text);
  return isProved ? "overflow" : null;
}

function byText(status: number | null, text: string): FailureKind | null {
  const server = status === null || status >= 500;
  return (
    matchFirstRule(limits, text) ??
    matchFirstRule(server ? unreachable : deadlines, text) ??
    (isRoomNegative(text) ? "overflow" : null) ??
    findFailureKind(text) ??
    judgeNumbers(text).kind ??
    matchFirstRule(outputs, text) ??
    matchFirstRule(absences, text) ??
    (isOverflow(text, { server: status !== null && status >= 500 }) ? "overflow" : null) ??
    matchFirstRule(closings, text)
  );
}

/**
 * Google uses this type for a rate limit and for missing credit. Without other evidence it counts as a rate limit, which
 * passes.
 */
const byType = ({ type }: FailureReport): FailureKind | null => (squash(type) === "resourceexhausted" ? "rate_limit" : null);

/** Conflict, failed dependency, too early, connection closed by the client: they pass, and the request itself is not at fault. */
const PASSING = [409, 424, 425, 499];

function byDefault(status: number | null): FailureKind {
  if (status === 404) return "not_found";
  if (status === 413) return "payload";
  if (status !== null && PASSING.includes(status)) return "unavailable";
  return status !== null && status >= 400 && status < 500 ? "invalid_param" : "unavailable";
}
