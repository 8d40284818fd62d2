/** What a provider said of its failure, out of whichever shape it said it in. Never kept, logged or shown: only classified. */
import { asObject, asText } from "./wire-chunk";

export interface ProviderError {
  readonly code: string | null;
  readonly type: string | null;
  readonly message: string;
}

/** Most of an error reply that is read, in characters. */
export const ERROR_TEXT_LIMIT = 4_096;

/**
 * `{error: {message, code, type}}` (OpenAI), `[{error: …}]` (Google), `{error: "…", error_type}` (TGI), `{message}`
 * (Mistral, Cohere), `{detail}` (FastAPI); text that is none of these is itself the message.
 */
export function describeError(text: string): ProviderError {
  const parsed = parse(text);
  const body = asObject(Array.isArray(parsed) ? parsed[0] : parsed);
  if (!body) return { code: null, type: null, message: text.slice(0, ERROR_TEXT_LIMIT) };
  const error = asObject(body.error) ?? body;
  const message = asText(error.message) ?? asText(body.error) ?? asText(error.detail) ?? text;
  return {
    code: asCode(error.code),
    type: asText(error.type) ?? asText(error.error_type) ?? asText(error.status),
    message: message.slice(0, ERROR_TEXT_LIMIT),
  };
}

const asCode = (value: unknown): string | null => (typeof value === "number" ? String(value) : asText(value));

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The start of a failed reply's body; what follows is not waited for. */
export async function readErrorText(response: Response): Promise<string> {
  if (!response.body) return "";
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  while (text.length < ERROR_TEXT_LIMIT) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += decoder.decode(value, { stream: true });
  }
  await reader.cancel();
  return text;
}
