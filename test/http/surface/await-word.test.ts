/** A stateless stream whose model refuses the request is an error with its status, as its vendor's is: agents compact when they see it. */
import { describe, expect, test } from "vitest";
import { awaitWord } from "../../../src/http/surface/await-word";
import { connect, says } from "../openai/response-life";
import { KEY } from "../support";

const hello = { role: "user", content: "Hello." };
const SURFACES = [
  ["/v1/chat/completions", { messages: [hello] }, "context_length_exceeded"],
  ["/v1/messages", { max_tokens: 100, messages: [hello] }, "prompt is too long"],
] as const;

async function ask(life: ReturnType<typeof connect>, path: string, body: object) {
  const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json", "anthropic-version": "2023-06-01" };
  const sent = JSON.stringify({ model: "m", stream: true, ...body });
  const answer = await life.app.request(path, { method: "POST", headers, body: sent });
  return { status: answer.status, type: answer.headers.get("content-type") ?? "", text: await answer.text() };
}

describe.each(SURFACES)("a stream of %s", (path, body, words) => {
  test("is an error with its status where the provider refuses the request", async () => {
    const life = connect();
    life.model.say = () => [{ type: "failure", failure: { kind: "overflow", status: 400 } }];
    const { status, type, text } = await ask(life, path, body);
    expect([status, type.split(";")[0]]).toEqual([400, "application/json"]);
    expect(text).toContain(words);
  });

  test("is a stream where the model has begun, and tells its failure at its end", async () => {
    const life = connect();
    life.model.say = () => [
      { type: "text", text: "Well" },
      { type: "failure", failure: { kind: "quota", status: 429 } },
    ];
    const { status, type, text } = await ask(life, path, body);
    expect([status, type.split(";")[0]]).toEqual([200, "text/event-stream"]);
    expect(text).toContain("Well");
    expect(text).toContain("error");
  });

  test("is whole where the model answers", async () => {
    const life = connect();
    life.model.say = () => says("Hi ", "there.");
    expect((await ask(life, path, body)).text).toMatch(/Hi[\s\S]*there\./);
  });
});

describe("the wait for a word", () => {
  const encode = (type: string) => new TextEncoder().encode(`data: ${JSON.stringify({ type })}\n\n`);
  const never = () => () => {};

  test("ends late, with nothing lost, where the model says nothing for long", async () => {
    const pieces = [encode("turn.started"), encode("text.delta")];
    const held = Promise.withResolvers<void>();
    const source = new ReadableStream<Uint8Array>({
      async pull(controller) {
        if (pieces.length === 1) await held.promise;
        const piece = pieces.shift();
        if (piece) controller.enqueue(piece);
        else controller.close();
      },
    });
    const begun = await awaitWord(source, (_, fire) => {
      queueMicrotask(fire);
      return () => {};
    });
    held.resolve();
    expect(begun.isFailed).toBe(false);
    expect(await new Response(begun.stream).text()).toContain("text.delta");
  });

  test.each([
    [["turn.started", "turn.waiting", "turn.failed"], true],
    [["turn.started", "reasoning.delta", "turn.failed"], false],
    [["turn.started"], false],
    [[], false],
  ])("of %j: failed %s, and all of it is there", async (types, isFailed) => {
    const source = new Response(types.map((type) => `data: ${JSON.stringify({ type })}\n\n`).join("")).body;
    if (!source) throw new Error("a response has a body");
    const begun = await awaitWord(source, never);
    expect(begun.isFailed).toBe(isFailed);
    expect((await new Response(begun.stream).text()).match(/"type"/g)?.length ?? 0).toBe(types.length);
  });
});
