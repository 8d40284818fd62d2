/**
 * Asks a provider's models endpoint for a model's limits: one request, no redirect, bounded in time and bytes. The provider
 * may be wrong, so the limits are only suggested.
 */

import type { ProbedLimits, ProbeFailure, ProbeLimits } from "../app/models/probe-limits";
import type { Credentials, ModelSpec } from "../app/ports";
import { assertNever } from "../lib/assert-never";
import { readAtMost } from "../lib/bounded-body";
import { err, ok, type Result } from "../lib/result";

const TIMEOUT_MS = 10_000;
/** A gateway's whole list of models is about a megabyte. */
const MAX_BYTES = 4_194_304;

interface ProbeDeps {
  readonly credentials: Credentials;
  readonly fetch?: typeof fetch;
}

interface Question {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Reads the limits from the answer; null when the answer does not contain the model. */
  readonly read: (answer: unknown) => ProbedLimits | null;
}

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);
const isCount = (value: unknown): value is number => typeof value === "number" && Number.isSafeInteger(value) && value > 0;

/** The first of the named fields that holds a number of tokens. */
function findCount(fields: Fields, names: readonly string[]): number | undefined {
  return names.map((name) => fields[name]).find(isCount);
}

function readLimits(fields: Fields, windows: readonly string[], outputs: readonly string[]): ProbedLimits {
  const [context_window, max_output] = [findCount(fields, windows), findCount(fields, outputs)];
  return { ...(context_window !== undefined && { context_window }), ...(max_output !== undefined && { max_output }) };
}

/** vLLM `max_model_len`, Groq `context_window`, OpenRouter and Together `context_length`, Mistral `max_context_length`. */
const LIST_WINDOWS = ["context_length", "max_model_len", "context_window", "max_context_length"];
const LIST_OUTPUTS = ["max_completion_tokens", "max_output_tokens"];

/** OpenRouter's `top_provider` is the provider that would answer. Its limits override those of the model in general. */
function readList(answer: unknown, id: string): ProbedLimits | null {
  const entries: unknown = isFields(answer) ? answer.data : answer;
  const found = Array.isArray(entries) ? entries.filter(isFields).find((entry) => entry.id === id) : undefined;
  if (!found) return null;
  const top = isFields(found.top_provider) ? found.top_provider : {};
  return { ...readLimits(found, LIST_WINDOWS, LIST_OUTPUTS), ...readLimits(top, LIST_WINDOWS, LIST_OUTPUTS) };
}

const bearer = (key: string | null): Readonly<Record<string, string>> => (key === null ? {} : { authorization: `Bearer ${key}` });

/** Null when this provider is not asked for limits. */
function questionFor({ provider, base_url, upstream_id }: ModelSpec, key: string | null): Question | null {
  const at = (ownAddress: string, path: string): string => `${(base_url ?? ownAddress).replace(/(?<!\/)\/+$/, "")}/${path}`;
  switch (provider) {
    case "openai":
    case "openai-chat":
    case "openai-compatible":
      return { url: at("https://api.openai.com/v1", "models"), headers: bearer(key), read: (answer) => readList(answer, upstream_id) };
    case "anthropic":
      return {
        url: at("https://api.anthropic.com/v1", `models/${encodeURIComponent(upstream_id)}`),
        headers: { "anthropic-version": "2023-06-01", ...(key !== null && { "x-api-key": key }) },
        read: (answer) => (isFields(answer) ? readLimits(answer, ["max_input_tokens"], ["max_tokens"]) : null),
      };
    case "google":
      return {
        url: at("https://generativelanguage.googleapis.com/v1beta", `models/${encodeURIComponent(upstream_id.replace(/^models\//, ""))}`),
        headers: key === null ? {} : { "x-goog-api-key": key },
        read: (answer) => (isFields(answer) ? readLimits(answer, ["inputTokenLimit"], ["outputTokenLimit"]) : null),
      };
    case "embedded":
    case "workers-ai":
      return null;
    default:
      return assertNever(provider);
  }
}

const fail = (reason: ProbeFailure["reason"], status: number | null = null) => err({ reason, status });

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function ask({ url, headers, read }: Question, send: typeof fetch): Promise<Result<ProbedLimits, ProbeFailure>> {
  const response = await send(url, {
    headers: { accept: "application/json", ...headers },
    redirect: "manual",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const { status, body } = response;
  if (!response.ok) {
    await body?.cancel();
    return fail(status === 404 ? "unknown_model" : "refused", status);
  }
  const bytes = await readAtMost(body, { maxBytes: MAX_BYTES });
  const answer = bytes.ok ? parse(new TextDecoder().decode(bytes.value)) : undefined;
  if (answer === undefined) return fail("malformed", status);
  const limits = read(answer);
  if (!limits) return fail("unknown_model", status);
  return Object.keys(limits).length > 0 ? ok(limits) : fail("no_limits", status);
}

/** Errors are values, and quote nothing of what was sent or received. */
export function createProbeLimits({ credentials, fetch: send = fetch }: ProbeDeps): ProbeLimits {
  return async (model) => {
    try {
      const key = await credentials(model);
      if (typeof key === "object" && key !== null) return fail("no_key");
      const question = questionFor(model, key);
      return question ? await ask(question, send) : fail("unsupported");
    } catch {
      return fail("unreachable");
    }
  };
}
