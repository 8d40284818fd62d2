/** No adapter sends a body above the limit, whatever was planned. */
import { describe, expect, test } from "vitest";
import type { ModelSpec } from "../../src/app/ports";
import { MAX_REQUEST_BYTES } from "../../src/context/model-quirks";
import { utf8Bytes } from "../../src/lib/text-bytes";
import { createChatModel } from "../../src/model/chat-model";
import { collect, modelRequest, modelSpec, user } from "./model-request";

const provider = (name: ModelSpec["provider"], base_url: string | null = null): ModelSpec =>
  modelSpec({ provider: name, upstream_id: "a-model", base_url });
const SPECS = [
  provider("openai"),
  provider("openai-chat"),
  provider("openai-compatible", "http://127.0.0.1:9/v1"),
  provider("anthropic"),
  provider("google"),
  provider("workers-ai"),
];

/** Every sent request is refused. */
function asked(spec: ModelSpec, text: string) {
  let sent = 0;
  const fetch = async () => {
    sent += 1;
    return new Response("{}", { status: 500 });
  };
  const ai = { run: fetch } as unknown as Ai;
  const model = createChatModel({ credentials: async () => "key", estimate: () => 1, fetch, ai });
  const request = modelRequest({ model: spec, messages: [user(text)] });
  const heard = collect(model.stream(request, { signal: new AbortController().signal, onRequest: () => void told.push(spec.provider) }));
  const told: string[] = [];
  return { heard, told, request, model, sent: () => sent };
}

describe.each(SPECS)("a request to $provider", (spec) => {
  test.each([
    ["characters", "x".repeat(MAX_REQUEST_BYTES)],
    ["bytes of fewer characters", "语".repeat(MAX_REQUEST_BYTES / 3)],
  ])("of more %s than one may have is not sent, and says how large it was", async (_, text) => {
    const { heard, told, request, model, sent } = asked(spec, text);
    const floor = utf8Bytes((await model.render(request)).body);
    expect(await heard).toEqual([
      { type: "failure", failure: { kind: "payload", status: null, bytes: { floor, limit: MAX_REQUEST_BYTES } } },
    ]);
    expect([sent(), told]).toEqual([0, []]);
  });

  test("of nearly as many bytes as it may have is sent", async () => {
    const { heard, told, sent } = asked(spec, "语".repeat(MAX_REQUEST_BYTES / 3 - 1_000));
    await heard;
    expect([sent(), told]).toEqual([1, [spec.provider]]);
  });
});
