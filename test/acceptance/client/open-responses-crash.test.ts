/** Responses whose server or model is lost in the middle of a stream, held to the Open Responses specification. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { MortalChatServer } from "../../client/chat-server";
import { ResponsesCaller, readEvents, readStreamed, readText } from "../../client/responses-caller";
import { checkStream, type SentEvent } from "../../support/open-responses/check-stream";

const MINUTES = 60_000;
const [MODEL, OTHER] = ["scripted", "scripted-small"];
let server: MortalChatServer;
let responses: ResponsesCaller;

beforeAll(async () => {
  server = await MortalChatServer.start();
  responses = new ResponsesCaller(server.url, server.key);
}, 2 * MINUTES);
afterAll(() => server?.close());
beforeEach(() => server.provider.clearLog());

const readId = (sent: readonly SentEvent[]): string => {
  const [created] = readEvents(sent);
  if (created?.type !== "response.created") throw new Error("The stream has no beginning");
  return created.response.id;
};
const readLast = (sent: readonly SentEvent[]): number => readEvents(sent).at(-1)?.sequence_number ?? -1;

/** What breaks a rule in a stream, beside deltas that were shown and lost with the server. */
const findFaults = (sent: readonly SentEvent[]) => checkStream(sent, "sse").filter(({ rule }) => rule !== "text");

describe("a server that is killed", () => {
  test.each([1, 6])(
    "after %i piece(s) of a reply leaves a response that ends in order, with what is on record",
    async (heard) => {
      const gates = Array.from({ length: heard }, () => Promise.withResolvers<void>());
      async function* speak() {
        for (const [nth, gate] of gates.entries()) {
          yield `piece ${nth} 狗 `;
          await gate.promise;
        }
        await new Promise(() => undefined);
      }
      server.provider.enqueue(speak());
      let deltas = 0;

      const before = await responses.begin({ model: MODEL, input: "A story." }, ({ type }) => {
        if (type === "response.output_text.delta") gates[deltas++]?.resolve();
        return deltas === heard;
      });
      await server.restart();
      const id = readId(before);
      const after = await responses.replay(id, readLast(before));

      expect(findFaults([...before, ...after])).toEqual([]);
      const whole = await responses.retrieve(id);
      expect(whole).toMatchObject({ status: "failed", error: { code: "server_error" } });
      expect(readText(whole)).toMatch(/^piece 0 狗 /);
      const last = readEvents(after).at(-1);
      expect(last?.type === "response.failed" ? last.response : null).toEqual(whole);
      // A client that heard nothing before is told a whole stream.
      expect(readStreamed(await responses.replay(id)).response).toEqual(whole);
      server.provider.enqueue({ text: "Go on." });
      expect(readText(await responses.create({ model: MODEL, previous_response_id: id, input: "Well?" }))).toBe("Go on.");
    },
    MINUTES,
  );

  test(
    "before the first word asks the model again, and the response is told as if nothing had happened",
    async () => {
      server.provider.enqueue({ hang: true }, { text: "Once upon a time. 狗", chunks: 3 });
      const ask = { model: MODEL, input: "A story.", background: true };

      const before = await responses.begin(ask, ({ type }) => type === "response.in_progress");
      await server.provider.request(1);
      await server.restart();
      const { response } = readStreamed([...before, ...(await responses.replay(readId(before), readLast(before)))]);

      expect(response.status).toBe("completed");
      expect(readText(response)).toBe("Once upon a time. 狗");
      expect(await responses.retrieve(response.id)).toEqual(response);
      expect(server.provider.log).toHaveLength(2);
    },
    MINUTES,
  );
});

describe("a model that fails", () => {
  const openWithFallback = async (): Promise<string> => {
    const { id } = await server.longhand.post("/v1/sessions", { body: { model: MODEL, policy: { fallback_models: [OTHER] } } });
    return id.replace("ses_", "conv_");
  };

  test.each([
    ["refuses", { status: 401, error: { message: "no", code: "invalid_api_key" } }],
    ["breaks off before its first word", { reasoning: "Hm, 嗯。", text: "Never said", cutAfterChunks: 1 }],
  ])("and %s is replaced by another one, in the same response", async (_, fault) => {
    const conversation = await openWithFallback();
    server.provider.respondWith(({ model }) => (model === MODEL ? fault : { reasoning: "Well.", text: "I take over. 狗", chunks: 3 }));

    const { response, sent } = await responses.stream({ conversation, input: "Hello?" });

    expect(response.status).toBe("completed");
    expect(readText(response)).toBe("I take over. 狗");
    expect(new Set(server.provider.log.map(({ body }) => body.model))).toEqual(new Set([MODEL, OTHER]));
    expect(await responses.retrieve(response.id)).toEqual(response);
    for (const [at, { sequence_number: number }] of readEvents(sent).entries())
      expect([...sent.slice(0, at + 1), ...(await responses.replay(response.id, number))]).toEqual(sent);
  });
});
