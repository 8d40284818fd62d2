/** What a refusal points at, in the words of real endpoints, and what is kept of them. */
import { describe, expect, test } from "vitest";
import { toModelFailure } from "../../src/model/classify-failure";
import { describeError } from "../../src/model/error-body";

const read = (status: number | null, body: unknown) =>
  toModelFailure({ status, ...describeError(typeof body === "string" ? body : JSON.stringify(body)) });

describe("a refusal points at", () => {
  test.each([
    [
      "a field that FastAPI names by its path",
      422,
      { detail: [{ type: "extra_forbidden", loc: ["body", "stream_options"], msg: "Extra inputs are not permitted" }] },
      "stream_options",
    ],
    ["a field in words", 400, { error: { message: "Unrecognized request argument supplied: parallel_tool_calls" } }, "parallel_tool_calls"],
    [
      "the newer name of the limit",
      400,
      {
        error: {
          message: "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
          param: "max_tokens",
          code: "unsupported_parameter",
        },
      },
      "max_tokens",
    ],
    [
      "the older one",
      422,
      {
        object: "error",
        message: {
          detail: [
            { type: "extra_forbidden", loc: ["body", "max_completion_tokens"], msg: "Extra inputs are not permitted", input: 32_000 },
          ],
        },
        type: "invalid_request_error",
      },
      "max_completion_tokens",
    ],
    [
      "Mistral's ids",
      400,
      {
        object: "error",
        message: "Tool call id was call_0fypS1hVX but must be a-z, A-Z, 0-9, with a length of 9.",
        type: "invalid_function_call",
        code: "3280",
      },
      "call_ids",
    ],
    [
      "Qwen's template, through LiteLLM",
      400,
      {
        error: {
          message:
            'litellm.BadRequestError: Hosted_vllmException - {"error":{"message":"System message must be at the beginning.","type":"BadRequestError","param":null,"code":400}}',
        },
      },
      "system",
    ],
    [
      "Qwen's template, in llama.cpp",
      500,
      { error: { code: 500, message: "Jinja Exception: System message must be at the beginning.", type: "server_error" } },
      "system",
    ],
    [
      "Mistral's template",
      400,
      {
        object: "error",
        message: "After the optional system message, conversation roles must alternate user/assistant/user/assistant/...",
        type: "BadRequestError",
      },
      "alternate_roles",
    ],
    [
      "DeepSeek's thinking",
      400,
      { error: { message: "The `reasoning_content` in the thinking mode must be passed back to the API.", type: "invalid_request_error" } },
      "reasoning_wanted",
    ],
    [
      "Kimi's thinking",
      400,
      { error: { message: "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2" } },
      "reasoning_wanted",
    ],
    [
      "a place in the messages",
      400,
      {
        error: {
          message: "messages.3: tool_use ids were found without tool_result blocks immediately after: toolu_01",
          type: "invalid_request_error",
        },
      },
      "history",
    ],
    [
      "an item of Responses that is not kept",
      404,
      {
        error: {
          message: "Item with id 'rs_68af3c' not found. Items are not persisted when `store` is set to false.",
          type: "invalid_request_error",
          param: "input",
        },
      },
      "history",
    ],
    [
      "a reasoning item alone",
      400,
      { error: { message: "Item 'rs_68af3c' of type 'reasoning' was provided without its required following item.", param: "input" } },
      "history",
    ],
    [
      "a signature",
      400,
      { error: { message: "messages.1.content.0: Invalid `signature` in `thinking` block", type: "invalid_request_error" } },
      "history",
    ],
    ["an image of the conversation", 400, { error: { message: "Could not process image", type: "invalid_request_error" } }, "history"],
    [
      "a setting of the client",
      400,
      {
        error: {
          message: "Unsupported value: 'temperature' does not support 0.2 with this model.",
          param: "temperature",
          code: "unsupported_value",
        },
      },
      "setting",
    ],
  ])("%s", (_, status, body, refused) => {
    expect(read(status, body).refused).toBe(refused);
  });

  test.each([
    ["no reason at all", 400, { error: { message: "Bad Request" } }],
    ["a key", 401, { error: { message: "Incorrect API key provided" } }],
    ["a model that is not there", 404, { error: { message: "The model `nope` does not exist", code: "model_not_found" } }],
    ["a failure of the server", 500, { error: { message: "Internal error while reading messages[3]" } }],
    ["a filter", 400, { error: { message: "The response was filtered", code: "content_filter" } }],
    ["a window", 400, { error: { message: "prompt is too long: 213462 tokens > 200000 maximum" } }],
  ])("nothing: %s", (_, status, body) => {
    expect(read(status, body).refused).toBeUndefined();
  });
});

describe("of the provider's words", () => {
  test("identifiers are kept: code, type and parameter", () => {
    const error = { message: "No.", type: "invalid_request_error", code: "unsupported_value", param: "messages[2].content" };
    expect(read(400, { error }).reported).toEqual({
      type: "invalid_request_error",
      code: "unsupported_value",
      param: "messages[2].content",
    });
  });

  test.each(["what you said", "x".repeat(65), "a\nb", "名前", "<script>", "me@example.org"])(
    "nothing but the message holds what is no identifier: %j",
    (word) => {
      const { message, ...failure } = read(400, { error: { message: word, code: word, type: word, param: word } });
      expect(message).toBe(word);
      expect(JSON.stringify(failure)).not.toContain(word.slice(0, 8));
    },
  );
});

describe("a body that is too large", () => {
  test.each([
    [400, "total message size 2100954 exceeds limit 2097152", 2_097_152],
    [413, "Request body too large. Maximum size is 4194304 bytes.", 4_194_304],
    [413, "request entity too large, limit 5mb", 5_000_000],
    [413, "<html><head><title>413 Request Entity Too Large</title></head><body><center>nginx/1.25.3</center></body></html>", undefined],
  ])("is told with its limit: %i %s", (status, text, most_bytes) => {
    const failure = read(status, text);
    expect([failure.kind, failure.most_bytes]).toEqual(["payload", most_bytes]);
  });
});

describe("the place and the model have kinds of their own", () => {
  test.each([
    [403, { error: { message: "Country, region, or territory not supported", code: "unsupported_country_region_territory" } }, "region"],
    [400, { error: { status: "FAILED_PRECONDITION", message: "User location is not supported for the API use." } }, "region"],
    [404, { error: 'model "llama9" not found, try pulling it first' }, "not_found"],
    [404, "404 page not found", "not_found"],
    [400, { object: "error", message: "Invalid model: nope", type: "invalid_model", code: "1500" }, "not_found"],
  ])("%i %j", (status, body, kind) => {
    expect(read(status, body).kind).toBe(kind);
  });
});
