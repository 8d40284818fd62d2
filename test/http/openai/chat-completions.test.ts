/** Chat completions through OpenAI's own package, against the app in this process. */
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import type { WholeSessionApi } from "../../../src/app/control-api";
import type { SubmitInput } from "../../../src/app/session-api";
import type { StreamFrame } from "../../../src/contract/frame";
import { ok } from "../../../src/lib/result";
import { formatSse } from "../../../src/lib/sse";
import { accepted, KEY, makeId, SESSION, turn, world } from "../support";

const TURN = makeId("trn");
const figures = {
  usage: { input: 10, output: 2, cached: 4, reasoning: 1 },
  cost: null,
  context_window: 16_000,
  assumed_window: null,
  current_context_tokens: { tokens: 12, source: "reported", error_bound: 0 },
} as const;

function toStream(frames: readonly StreamFrame[]): ReadableStream<Uint8Array> {
  const text = frames.map((frame, index) => formatSse({ offset: index + 42, type: frame.type, json: JSON.stringify(frame) })).join("");
  return new Blob([text]).stream();
}

function connect(session: Partial<WholeSessionApi>) {
  const submitted: SubmitInput[] = [];
  const submit: WholeSessionApi["submit"] = async (_, input) => {
    submitted.push(input);
    return ok(accepted({ turn_id: TURN }));
  };
  const { app } = world({ session: { submit, ...session } });
  const openai = new OpenAI({
    apiKey: KEY,
    baseURL: "http://longhand.test/v1",
    defaultHeaders: { "X-Session-Id": SESSION },
    fetch: async (url, init) => app.request(String(url), init),
  });
  return { openai, submitted };
}

describe("a completion of a session", () => {
  it("sends the last message, and answers with the turn's text and usage", async () => {
    const { openai, submitted } = connect({ waitForTurn: async () => ok(turn({ output_text: "In Lisbon, sun.", ...figures })) });

    const answer = await openai.chat.completions.create({ model: "gpt-5", messages: [{ role: "user", content: "天气?" }] });

    expect(submitted).toMatchObject([{ role: "user", parts: [{ type: "text", text: "天气?" }], model: "gpt-5", run: true }]);
    expect(answer.choices).toMatchObject([{ index: 0, message: { role: "assistant", content: "In Lisbon, sun." }, finish_reason: "stop" }]);
    expect(answer.usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 });
  });

  it("streams the text as it comes, and the usage when asked", async () => {
    const frames: StreamFrame[] = [
      { type: "text.delta", turn_id: TURN, text: "In Lisbon" },
      { type: "text.delta", turn_id: TURN, text: ", sun." },
      { type: "turn.completed", turn_id: TURN, finish: "length", ...figures },
    ];
    const { openai } = connect({ stream: async () => ok(toStream(frames)) });

    const messages = [{ role: "user", content: "Weather?" }] as const;
    const stream = openai.chat.completions.stream({ model: "gpt-5", messages: [...messages], stream_options: { include_usage: true } });
    const texts: string[] = [];
    stream.on("content", (delta) => texts.push(delta));
    const whole = await stream.finalChatCompletion();

    expect(texts).toEqual(["In Lisbon", ", sun."]);
    expect(whole.choices[0]).toMatchObject({ message: { content: "In Lisbon, sun." }, finish_reason: "length" });
    expect(whole.usage?.total_tokens).toBe(12);
  });

  it("names the field of a request that is not understood", async () => {
    const { openai } = connect({});

    const refused = openai.chat.completions.create({ model: "", messages: [{ role: "user", content: "x" }] });

    await expect(refused).rejects.toMatchObject({ status: 400, param: "model", type: "invalid_request_error" });
  });
});
