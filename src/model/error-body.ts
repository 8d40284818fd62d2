/**
 * Extracts what a provider says about its failure from any shape of body. The text may hold the prompt: it is classified, never logged, and
 * only an excerpt of it is kept, as content of the session (`toExcerpt`).
 */
import { FAILURE_TEXT_LIMIT } from "./failure-text";
import { asObject, asText } from "./wire-chunk";

interface ProviderError {
  readonly code: string | null;
  readonly type: string | null;
  /** The part of the request that the error names: a parameter, or a path to it. */
  readonly param: string | null;
  readonly message: string;
}

/** Maximum length of an error reply that is read, in UTF-16 units. */
const ERROR_TEXT_LIMIT = FAILURE_TEXT_LIMIT;

/** Maximum nesting. A gateway puts the error that it received into a string of its own, and gateways can be chained. */
const DEEPEST = 6;
/** Maximum number of values that are read, whatever the shape. */
const MOST_VALUES = 200;

/** Fields that say in words what went wrong. Other fields may hold the prompt, as FastAPI's `input` does. */
const WORDS = new Set(
  (
    "message msg error errors detail details description title reason raw body cause exception text status_msg base_resp " +
    "error_message errormessage error_description error_msg external_model_error external_model_message metadata data response inner_error innererror"
  ).split(" "),
);
const CODES = new Set("code error_code errorcode status_code".split(" "));
const TYPES = new Set("type error_type status __type kind".split(" "));
/** Numbers that llama.cpp sends beside its message. */
const FIGURES = new Set(["n_ctx", "n_prompt_tokens"]);

/** Names of a part of the request. FastAPI's is a path. */
const PARAMS = new Set(["param", "loc"]);

interface Found {
  code: string | null;
  type: string | null;
  param: string | null;
  readonly texts: string[];
  values: number;
}

/**
 * Reads `{error: {message, code, type}}` (OpenAI), `[{error: …}]` (Google), `{error: "…", error_type}` (TGI), `{message}`
 * (Mistral, Cohere), `{detail: [{msg}]}` (FastAPI), `{errors: [{message}]}` (Workers AI, watsonx) and JSON inside a message
 * (OpenRouter, Databricks). A text in none of these shapes is itself the message.
 */
export function describeError(text: string): ProviderError {
  const parsed = parseOrNull(text);
  const found: Found = { code: null, type: null, param: null, texts: [], values: 0 };
  if (parsed !== null) collect(parsed, found, 0);
  const message = found.texts.length > 0 ? found.texts.join(". ") : text;
  return { code: found.code, type: found.type, param: found.param, message: message.slice(0, ERROR_TEXT_LIMIT) };
}

function collect(value: unknown, found: Found, depth: number): void {
  if (depth > DEEPEST || ++found.values > MOST_VALUES) return;
  if (Array.isArray(value)) {
    for (const each of value) collect(each, found, depth + 1);
    return;
  }
  if (typeof value === "string") return collectText(value, found, depth);
  for (const [name, inner] of Object.entries(asObject(value) ?? {})) collectField(name.toLowerCase(), inner, { found, depth });
}

function collectField(key: string, value: unknown, { found, depth }: { readonly found: Found; readonly depth: number }): void {
  if (CODES.has(key)) found.code = asCode(value, found.code);
  else if (TYPES.has(key)) found.type = asType(value, found.type);
  else if (PARAMS.has(key)) found.param ??= asParam(value);
  else if (FIGURES.has(key) && typeof value === "number") found.texts.push(`${key} ${value}`);
  else if (WORDS.has(key)) collect(value, found, depth + 1);
}

function collectText(text: string, found: Found, depth: number): void {
  const start = text.search(/[{[]/);
  const inner = start >= 0 ? parseOrNull(text.slice(start)) : null;
  if (start !== 0 || inner === null) found.texts.push(text);
  if (inner !== null) collect(inner, found, depth + 1);
}

function asParam(value: unknown): string | null {
  if (!Array.isArray(value)) return asText(value) || null;
  const steps = value.filter((step) => typeof step === "string" || typeof step === "number").filter((step) => step !== "body");
  return steps.length > 0 ? steps.join(".") : null;
}

/** The innermost code replaces those around it, which gateways added. A bare HTTP status does not replace a code. */
const asCode = (value: unknown, before: string | null): string | null => {
  const code = typeof value === "number" ? String(value) : asText(value);
  if (code === null || code === "") return before;
  const isStatus = /^\d{3}$/.test(code);
  return isStatus && before !== null ? before : code;
};

/**
 * General types such as `error` and `invalid_request_error` say nothing, so a later type replaces them. A specific type
 * stays.
 */
const GENERAL_TYPE = /^(?:error|object|value_error|invalid_request_error|bad_request|badrequesterror|invalid_argument)$/i;
const asType = (value: unknown, before: string | null): string | null => {
  const type = asText(value);
  if (type === null) return before;
  return before === null || GENERAL_TYPE.test(before) ? type : before;
};

/** Null for a text that is no JSON. */
export function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** What reads the bytes of a body, in order. */
export interface ByteReader {
  read(): Promise<{ readonly done: false; readonly value: Uint8Array } | { readonly done: true; readonly value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

/** Reads the start of a body. Empty when there is none. */
export const readErrorText = async (response: Response, signal: AbortSignal): Promise<string> =>
  response.body ? readStart(response.body.getReader(), signal, ERROR_TEXT_LIMIT) : "";

/**
 * Stops once `most` UTF-16 units were read (the last read may exceed that) and does not wait for the rest. Closes the body when `signal` is
 * aborted, because not every body obeys the signal of its request.
 */
export async function readStart(reader: ByteReader, signal: AbortSignal, most: number): Promise<string> {
  const close = (): void => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", close, { once: true });
  const decoder = new TextDecoder();
  const pieces: string[] = [];
  let units = 0;
  try {
    while (units < most && !signal.aborted) {
      const { done, value } = await reader.read();
      if (done) break;
      const piece = decoder.decode(value, { stream: true });
      pieces.push(piece);
      units += piece.length;
    }
    return pieces.join("");
  } finally {
    signal.removeEventListener("abort", close);
    close();
  }
}
