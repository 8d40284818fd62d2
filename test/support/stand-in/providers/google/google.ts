/** Google's Gemini API. */
import { CommonPrefixCache, countAll } from "../caches.ts";
import { Ids } from "../mint.ts";
import type { Accepted, Dialect, Received, Refusal, ScriptedReply } from "../script.ts";
import { bracketPath, type Fault, findFault } from "../shape.ts";
import { type EventsInput, toFrame, toFrames, toWhole } from "./events.ts";
import { findBreach } from "./rules.ts";
import { type GenerateBody, generateBody } from "./shape.ts";

export const GOOGLE_KEY = "AIzaSy-stand-in";

export interface GoogleLimits {
  readonly window: number;
}

export const errorBody = ({
  code,
  status,
  message,
  details,
}: {
  readonly code: number;
  readonly status: string;
  readonly message: string;
  readonly details?: readonly unknown[];
}) => ({
  error: { code, message, status, ...(details ? { details } : {}) },
});

const refuse = (message: string): Refusal => ({ status: 400, body: errorBody({ code: 400, status: "INVALID_ARGUMENT", message }) });

const ADDRESS = /^\/v1beta\/models\/([a-z0-9.-]+):streamGenerateContent\?alt=sse$/;
const SIGNS = /^gemini-[3-9]/;

export function createGoogle({ window }: GoogleLimits): Dialect {
  const cache = new CommonPrefixCache({ least: 1_024, step: 1 });
  const ids = new Ids();
  return {
    basePath: "/v1beta",
    receive(received) {
      const refused = refuseAddress(received);
      if (refused) return refused;
      const model = ADDRESS.exec(received.path)?.[1] ?? "";
      const parsed = generateBody.safeParse(received.body);
      if (!parsed.success) return refuse(toMessage(findFault(parsed.error, received.body)));
      const body = parsed.data;
      const breach = findBreach(body, { signed: SIGNS.test(model) }) ?? breachOfFormat(body, model);
      if (breach) return refuse(breach);
      const segments = toPrompt(body);
      const input = countAll(segments);
      if (input > window) return refuse(`The input token count (${input}) exceeds the maximum number of tokens allowed (${window}).`);
      const usage = { input, cacheRead: cache.read(model, segments), cacheWrite: null };
      const toInput = (reply: ScriptedReply): EventsInput => {
        cache.write(model, segments);
        const withThoughts = body.generationConfig?.thinkingConfig?.includeThoughts ?? false;
        return { reply, usage, model, responseId: ids.next("resp"), withThoughts };
      };
      return {
        usage,
        frames: (reply) => toFrames(toInput(reply)),
        whole: (reply) => toWhole(toInput(reply)),
        eventFrame: toFrame,
      } satisfies Accepted;
    },
  };
}

/** Models before generation 3 call no functions while they are held to JSON. */
function breachOfFormat({ generationConfig, tools = [] }: GenerateBody, model: string): string | null {
  const isJson = generationConfig?.responseMimeType === "application/json";
  if (!isJson || tools.length === 0 || SIGNS.test(model)) return null;
  return "Function calling with a response mime type: 'application/json' is unsupported";
}

function refuseAddress({ path, headers }: Received): Refusal | null {
  if (!ADDRESS.test(path))
    return {
      status: 404,
      body: errorBody({
        code: 404,
        status: "NOT_FOUND",
        message: `models/${path} is not found for API version v1beta, or is not supported for generateContent.`,
      }),
    };
  if (headers["x-goog-api-key"] === GOOGLE_KEY) return null;
  if (headers["x-goog-api-key"] !== undefined) {
    const details = [
      {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        reason: "API_KEY_INVALID",
        domain: "googleapis.com",
        metadata: { service: "generativelanguage.googleapis.com" },
      },
    ];
    return {
      status: 400,
      body: errorBody({ code: 400, status: "INVALID_ARGUMENT", message: "API key not valid. Please pass a valid API key.", details }),
    };
  }
  const message =
    "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.";
  return { status: 403, body: errorBody({ code: 403, status: "PERMISSION_DENIED", message }) };
}

function toMessage({ path, problem, expected }: Fault): string {
  if (problem === "unknown") {
    const at = bracketPath(path.slice(0, -1));
    return `Invalid JSON payload received. Unknown name "${path.at(-1)}"${at === "" ? "" : ` at '${at}'`}: Cannot find field.`;
  }
  if (problem === "missing") return `* GenerateContentRequest.${bracketPath(path)}: ${bracketPath(path)} is not specified\n`;
  return `Invalid value at '${bracketPath(path)}' (${expected})`;
}

const toPrompt = ({ systemInstruction, tools, contents = [] }: GenerateBody): readonly string[] => [
  JSON.stringify(systemInstruction ?? null),
  JSON.stringify(tools ?? []),
  ...contents.map((content) => JSON.stringify(content)),
];
