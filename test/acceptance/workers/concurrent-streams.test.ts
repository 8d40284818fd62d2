/** Limits of concurrent streams through the running Worker. */
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { tenantObjectName } from "../../../src/app/object-name";
import { type LimitSet, NO_LIMITS } from "../../../src/contract/limits";
import { advanceClock } from "../../workers/clock";
import { type Chat, migrate, newChat, readBody } from "../../workers/support";

beforeAll(migrate);

let revision = 0;

async function newLimited(limits: Partial<LimitSet>, replies: readonly { text: string; gate?: string }[] = []): Promise<Chat> {
  const chat = await newChat({ replies });
  revision += 1;
  await env.TENANTS.getByName(tenantObjectName(chat.tenant.id)).setLimits({ limits: { ...NO_LIMITS, ...limits }, revision });
  return chat;
}

const SSE = { accept: "text/event-stream" };
const ONE: Partial<LimitSet> = { tenant: { concurrent_streams: 1 } };

describe("a limit of concurrent streams", () => {
  it("refuses one more before it opens, and opens it once the first has gone", async () => {
    const chat = await newLimited(ONE);
    const first = await chat.listen();

    const refused = await chat.call("GET", "/stream");

    expect(refused.headers.get("retry-after")).toBe("1");
    expect(await readBody(refused, 429)).toMatchObject({
      type: "urn:longhand:problem:rate_limited",
      limit: "concurrent_streams",
      of: "tenant",
      max: 1,
    });
    expect((await chat.call("GET", "/events", undefined, SSE)).status).toBe(429);
    await first.leave();
    const second = await chat.listen();
    await second.leave();
  });

  it("frees the slot at the end of a stream, and appends nothing for a message whose stream it refuses", async () => {
    const chat = await newLimited(ONE, [{ text: "one" }, { text: "two" }]);
    await (await chat.hear("hello")).rest();
    const open = await chat.listen();
    const before = await chat.events();

    expect((await chat.send("again", {}, SSE)).status).toBe(429);

    expect(await chat.events()).toEqual(before);
    expect((await chat.say("again")).status).toBe("completed");
    await open.leave();
  });

  it.each([
    ["/v1/chat/completions", { messages: [{ role: "user", content: "hi" }], stream: true }, {}],
    ["/v1/responses", { input: "hi", stream: true }, {}],
    ["/v1/messages", { messages: [{ role: "user", content: "hi" }], max_tokens: 100, stream: true }, { "anthropic-version": "2023-06-01" }],
  ])("holds %s, in its vendor's words, and not an answer without a stream", async (path, body, headers) => {
    const chat = await newLimited({ tenant: { concurrent_streams: 0 } }, [{ text: "one" }]);
    const sent = { authorization: `Bearer ${chat.tenant.key}`, "content-type": "application/json", ...headers };
    const ask = (more: object) =>
      exports.default.fetch(
        new Request(`https://longhand.test${path}`, {
          method: "POST",
          headers: new Headers(Object.entries(sent)),
          body: JSON.stringify({ model: chat.model.upstream, ...body, ...more }),
        }),
      );

    const refused = await ask({});

    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(await chat.model.heard()).toEqual([]);
    expect((await ask({ stream: false })).status).toBe(200);
  });

  it("counts each key alone, and other tenants not at all", async () => {
    const chat = await newLimited({ key: { concurrent_streams: 1 } });
    const other = await newChat();
    const streams = [await chat.listen(), await other.listen(), await other.listen()];

    expect((await chat.call("GET", "/stream")).status).toBe(429);
    for (const stream of streams) await stream.leave();
  });

  it("opens exactly as many of many at once", async () => {
    const chat = await newLimited({ tenant: { concurrent_streams: 4 } });

    const answers = await Promise.all(Array.from({ length: 20 }, () => chat.call("GET", "/stream")));

    expect(answers.filter(({ status }) => status === 200)).toHaveLength(4);
    await Promise.all(answers.map(({ body }) => body?.cancel()));
  });
});

describe("a WebSocket of responses under the limit", () => {
  /** An isolate, or a socket's object, that was refused does not ask again for so long. */
  const REFUSED_MS = 1_000;

  interface Said {
    readonly type: string;
    readonly status?: number;
    readonly error?: object;
  }

  async function connect(chat: Chat) {
    const headers = { authorization: `Bearer ${chat.tenant.key}`, upgrade: "websocket" };
    const { webSocket: socket } = await exports.default.fetch(new Request("https://longhand.test/v1/responses", { headers }));
    if (!socket) throw new Error("no socket");
    socket.accept();
    const ends = new Set(["response.completed", "error"]);
    const ask = () =>
      new Promise<Said>((resolve) => {
        const hear = ({ data }: MessageEvent): void => {
          const said: Said = JSON.parse(String(data));
          if (!ends.has(said.type)) return;
          socket.removeEventListener("message", hear);
          resolve(said);
        };
        socket.addEventListener("message", hear);
        socket.send(JSON.stringify({ type: "response.create", model: chat.model.upstream, input: "hi" }));
      });
    return { socket, ask };
  }

  it("does not count while it is idle, and stays open where a stream leaves it no slot", async () => {
    const chat = await newLimited(ONE, [{ text: "one" }]);
    const { socket, ask } = await connect(chat);
    const stream = await chat.listen();

    const refused = await ask();

    expect(refused).toMatchObject({ type: "error", status: 429, error: { code: "rate_limit_exceeded" } });
    expect(await chat.model.heard()).toEqual([]);
    await stream.leave();
    advanceClock(REFUSED_MS);
    expect((await ask()).type).toBe("response.completed");
    const next = await chat.listen();
    await next.leave();
    socket.close();
  });

  it("counts while its response is sent, and no longer", async () => {
    const chat = await newLimited(ONE, [{ text: "slow", gate: "slow" }]);
    const [{ socket, ask }, other] = [await connect(chat), await connect(chat)];
    const answer = ask();
    await chat.model.heard(1);

    expect((await chat.call("GET", "/stream")).status).toBe(429);
    expect(await other.ask()).toMatchObject({ type: "error", status: 429 });
    await chat.model.open("slow");
    expect((await answer).type).toBe("response.completed");
    advanceClock(REFUSED_MS);
    const stream = await chat.listen();
    await stream.leave();
    socket.close();
    other.socket.close();
  });
});
