/**
 * Calls a tenant's HTTP tool: sends one request with the model's arguments and returns the answer as the output. Never
 * throws.
 */
import type { ToolOutcome } from "../app/ports";
import type { Schedule } from "../app/session-ports";
import type { HttpTool } from "../contract/registered-tool";
import type { ExecutionId } from "../domain/ids";
import { toBase64 } from "../lib/base64";
import { readHead } from "../lib/bounded-body";
import { startDeadline } from "./deadline";
import { describeToolFailure } from "./failure-in-words";
import { describeMedia, toArtifact, toMedia } from "./media";
import { type SafeFetch, type SafeRequest, toFetchFailure } from "./safe-fetch";
import { hideSecret, type ToolSecret } from "./tool-secret";

export interface HttpToolDeps {
  readonly fetch: SafeFetch;
  readonly schedule: Schedule;
}

export interface HttpCall {
  readonly tool: HttpTool;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly execution: ExecutionId;
  readonly secret: ToolSecret | null;
  readonly signal: AbortSignal;
}

/** Maximum length of a failed answer's text, in UTF-16 units. */
const MAX_FAILURE_TEXT = 4_000;
const TEXT = /^(text\/|application\/([\w.-]+\+)?(json|xml|yaml|x-yaml|javascript|x-www-form-urlencoded|graphql|x-ndjson|jsonl|toml|sql)\b)/;
const USER_AGENT = "longhand";

export async function callHttpTool(call: HttpCall, { fetch, schedule }: HttpToolDeps): Promise<ToolOutcome> {
  const deadline = startDeadline(call.tool.timeout_ms, { signal: call.signal, schedule });
  try {
    const answered = await fetch(toRequest(call, deadline.signal));
    if (!answered.ok) return describeToolFailure(answered.error);
    return await readAnswer(answered.value, call, deadline.signal);
  } catch {
    // The connection broke while the answer was read.
    return describeToolFailure(toFetchFailure(deadline.signal));
  } finally {
    deadline.clear();
  }
}

/** A body has no defined meaning in GET and DELETE (RFC 9110 §9.3), so their arguments are sent in the query. */
function toRequest({ tool, arguments: given, execution, secret }: HttpCall, signal: AbortSignal): SafeRequest {
  const { method } = tool;
  const asQuery = method === "GET" || method === "DELETE";
  return {
    url: asQuery ? withQuery(tool.url, given) : tool.url,
    method,
    headers: {
      accept: "application/json, text/*;q=0.9, */*;q=0.5",
      "user-agent": USER_AGENT,
      "idempotency-key": execution,
      ...(!asQuery && { "content-type": "application/json" }),
    },
    ...(!asQuery && { body: JSON.stringify(given) }),
    secret: secret?.header ?? null,
    signal,
  };
}

/** Adds the arguments to the query: a list repeats its name, an object becomes JSON text, null is left out. */
function withQuery(text: string, given: Readonly<Record<string, unknown>>): string {
  const url = new URL(text);
  for (const [name, value] of Object.entries(given)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== null && each !== undefined)
        url.searchParams.append(name, typeof each === "object" ? JSON.stringify(each) : String(each));
    }
  }
  return url.href;
}

/** Of a text that is too long the model reads the beginning. What is no text is whole, or of no use. */
async function readAnswer(response: Response, { tool, secret }: HttpCall, signal: AbortSignal): Promise<ToolOutcome> {
  const { bytes, isWhole } = await readHead(response.body, { maxBytes: tool.max_bytes, signal });
  const type = response.headers.get("content-type")?.trim() ?? "";
  const text = readText(bytes, type, isWhole);
  const said = text === null || isWhole ? hideSecret(text ?? "", secret) : toBeginning(text, response.headers, secret);
  if (!response.ok) return statusOutcome(response.status, said);
  if (text !== null) return { output: said, failure: null };
  if (!isWhole)
    return { output: `The tool's answer is larger than ${tool.max_bytes} bytes. It may have taken effect.`, failure: "too_large" };
  const media = toMedia(type, bytes.byteLength, () => toBase64(bytes));
  return { output: describeMedia(media), failure: null, artifacts: [toArtifact(media)] };
}

/** The longest form of a character in a text that `hideSecret` reads: `\u002f`. */
const LONGEST_FORM = 6;

/** The notice comes first, because a result is cut once more when it is recorded. The end may hold the beginning of the secret. */
function toBeginning(text: string, headers: Headers, secret: ToolSecret | null): string {
  const unsure = (secret?.value.length ?? 0) * LONGEST_FORM;
  const shown = hideSecret(text, secret)
    .slice(0, unsure === 0 ? undefined : -unsure)
    .toWellFormed();
  // The length of a compressed answer is another one.
  const length = headers.has("content-encoding") ? null : headers.get("content-length");
  return `[... content truncated, showing the first ${shown.length} characters of ${length === null ? "more" : `${length} bytes`} ...]\n\n${shown}`;
}

function statusOutcome(status: number, text: string): ToolOutcome {
  const said = text.length > MAX_FAILURE_TEXT ? `${text.slice(0, MAX_FAILURE_TEXT).toWellFormed()}…` : text;
  return { output: `The tool answered with status ${status}.${said.trim() === "" ? "" : `\n\n${said}`}`, failure: "status" };
}

/** The answer as text; null when it is not text. Without a content type, the bytes are text if they decode as UTF-8. */
function readText(bytes: Uint8Array, type: string, isWhole: boolean): string | null {
  if (type !== "" && !TEXT.test(type.toLowerCase())) return null;
  const charset = /charset\s*=\s*"?([\w.:-]+)/i.exec(type)?.[1];
  try {
    // A beginning may end inside a character.
    return new TextDecoder(charset ?? "utf-8", { fatal: type === "", ignoreBOM: false }).decode(bytes, { stream: !isWhole });
  } catch {
    return charset === undefined ? null : new TextDecoder().decode(bytes);
  }
}
