/** Endpoints of chat completions that refuse what OpenAI takes, each in the words of a real one. */
import { z } from "zod";
import type { Dialect, Refusal } from "../script.ts";
import { createChat } from "./chat.ts";

const body = z.looseObject({
  messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })).default([]),
});
type Body = z.infer<typeof body>;

/** How an endpoint refuses a request. Null: it takes it. */
export type Strictness = (asked: Body, raw: string) => Refusal | null;

const refuse = (status: number, said: unknown): Refusal => ({ status, body: said });
/** As FastAPI refuses a field, at Mistral and at many gateways. */
const extra = (field: string): Refusal =>
  refuse(422, { detail: [{ type: "extra_forbidden", loc: ["body", field], msg: "Extra inputs are not permitted", input: "…" }] });
/** As vLLM refuses what its template does not take. */
const vllm = (message: string): Refusal => refuse(400, { object: "error", message, type: "BadRequestError", param: null, code: 400 });

const listRoles = ({ messages }: Body): string[] => messages.map(({ role }) => role);
const callIds = ({ messages }: Body): string[] =>
  messages.flatMap(({ tool_calls: calls }) => (Array.isArray(calls) ? calls.map((call: { readonly id: string }) => call.id) : []));
const hasCalls = ({ tool_calls: calls }: Body["messages"][number]): boolean => Array.isArray(calls) && calls.length > 0;

const isSystemLate = (asked: Body): boolean => listRoles(asked).some((role, index) => role === "system" && index > 0);
const without =
  (field: string, refusal: Refusal): Strictness =>
  (asked) =>
    asked[field] === undefined ? null : refusal;

export const STRICTNESS = {
  stream_options: without("stream_options", extra("stream_options")),
  parallel_tool_calls: without(
    "parallel_tool_calls",
    refuse(400, {
      message: "property 'parallel_tool_calls' is unsupported",
      type: "invalid_request_error",
      param: "parallel_tool_calls",
      code: "wrong_api_format",
    }),
  ),
  tool_choice: without(
    "tool_choice",
    refuse(400, { error: { message: "tool_choice is not supported by this model", type: "invalid_request_error" } }),
  ),
  max_tokens: without(
    "max_tokens",
    refuse(400, {
      error: {
        message: "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        type: "invalid_request_error",
        param: "max_tokens",
        code: "unsupported_parameter",
      },
    }),
  ),
  max_completion_tokens: without("max_completion_tokens", extra("max_completion_tokens")),
  call_ids: (asked) => {
    const id = callIds(asked).find((each) => !/^[a-zA-Z0-9]{9}$/.test(each));
    const message = `Tool call id was ${id} but must be a-z, A-Z, 0-9, with a length of 9.`;
    return id === undefined ? null : refuse(400, { object: "error", message, type: "invalid_function_call", param: null, code: "3280" });
  },
  /** Qwen's template in vLLM. */
  system: (asked) => (isSystemLate(asked) ? vllm("System message must be at the beginning.") : null),
  /** The same in llama.cpp, which fails with it. */
  system_in_template: (asked) =>
    isSystemLate(asked)
      ? refuse(500, { error: { code: 500, message: "Jinja Exception: System message must be at the beginning.", type: "server_error" } })
      : null,
  /** Gemma's template in vLLM. */
  alternate_roles: (asked) => {
    const roles = listRoles(asked).filter((role, index) => !(role === "system" && index === 0) && role !== "tool");
    const isAlternate = roles.every((role, index) => role === (index % 2 === 0 ? "user" : "assistant") || roles[index - 1] === "assistant");
    const doubled = roles.some((role, index) => role === "user" && roles[index - 1] === "user");
    return isAlternate && !doubled && !roles.includes("system")
      ? null
      : vllm("Conversation roles must alternate user/assistant/user/assistant/...");
  },
  /** DeepSeek. */
  reasoning_wanted: (asked) => {
    const lacks = asked.messages.some((message) => hasCalls(message) && !message.reasoning_content);
    const message = "The `reasoning_content` in the thinking mode must be passed back to the API.";
    return lacks ? refuse(400, { error: { message, type: "invalid_request_error", param: null, code: "invalid_request_error" } }) : null;
  },
  reasoning_unknown: (asked) => {
    const place = asked.messages.findIndex((message) => message.reasoning_content !== undefined);
    return place < 0
      ? null
      : refuse(422, {
          detail: [
            {
              type: "extra_forbidden",
              loc: ["body", "messages", place, "assistant", "reasoning_content"],
              msg: "Extra inputs are not permitted",
            },
          ],
        });
  },
} as const satisfies Record<string, Strictness>;

/** An endpoint that has no model of this name. */
export const unknownModel: Strictness = ({ model }) =>
  model === "no-such-model"
    ? refuse(404, {
        error: {
          message: "The model `no-such-model` does not exist.",
          type: "invalid_request_error",
          param: null,
          code: "model_not_found",
        },
      })
    : null;

/** A proxy that takes no larger body. `names`: whether it says how large one may be. */
export const smallBodies =
  (most: number, names: boolean): Strictness =>
  (_, raw) => {
    const size = Buffer.byteLength(raw);
    if (size <= most) return null;
    if (!names) return refuse(413, "<html><head><title>413 Request Entity Too Large</title></head><body>nginx</body></html>");
    return refuse(400, { error: { message: `total message size ${size} exceeds limit ${most}`, type: "invalid_request_error" } });
  };

/** The same endpoint, as strict as the rules. */
export const withRules = (dialect: Dialect, rules: readonly Strictness[]): Dialect => ({
  ...dialect,
  receive(received) {
    const asked = body.safeParse(received.body);
    const refusals = asked.success ? rules.map((rule) => rule(asked.data, received.raw)) : [];
    return refusals.find((refusal) => refusal !== null) ?? dialect.receive(received);
  },
});

/** Chat completions at an endpoint that is as strict as the rules. */
export const createStrictChat = (window: number, rules: readonly Strictness[]): Dialect =>
  withRules(createChat({ window, style: "compatible" }), rules);
