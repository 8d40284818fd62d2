/** The WebSocket of `/v1/responses`: one response after the other, over sleep, and what is not stored ends with it. */
import { evictDurableObject, listDurableObjectIds, runDurableObjectAlarm } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { findUnsafeHeaders } from "../../support/unsafe-headers";
import { advanceClock, restoreClock } from "../../workers/clock";
import { type Chat, findHolding, migrate, newChat, readBody, untilHeldNowhere } from "../../workers/support";

beforeAll(migrate);

interface Message {
  readonly type: string;
  readonly sequence_number?: number;
  readonly status?: number;
  readonly stream_id?: string;
  readonly error?: { readonly code: string; readonly message: string; readonly param: string | null };
  readonly response?: { readonly id: string; readonly status: string; readonly store: boolean; readonly output: readonly object[] };
}

const ENDS = new Set(["response.completed", "response.incomplete", "response.failed", "error"]);

class Client {
  readonly #messages: Message[] = [];
  readonly #texts: string[] = [];
  #woken: () => void = () => {};
  readonly closed: Promise<CloseEvent>;
  readonly socket: WebSocket;

  constructor(socket: WebSocket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => socket.addEventListener("close", resolve));
    socket.addEventListener("message", ({ data }) => {
      if (String(data).startsWith("{")) this.#messages.push(JSON.parse(String(data)));
      else this.#texts.push(String(data));
      this.#woken();
    });
    socket.accept();
  }

  static async open(chat: Chat): Promise<Client> {
    const response = await connect(chat.tenant.key);
    if (!response.webSocket) throw new Error(`no socket: ${response.status} ${await response.text()}`);
    return new Client(response.webSocket);
  }

  send(body: object | string): void {
    this.socket.send(typeof body === "string" ? body : JSON.stringify({ type: "response.create", ...body }));
  }

  /** The messages up to the next end, which is the last of them. */
  async hear(): Promise<readonly Message[]> {
    for (;;) {
      const end = this.#messages.findIndex(({ type }) => ENDS.has(type));
      if (end >= 0) return this.#messages.splice(0, end + 1);
      await this.#next();
    }
  }

  async hearText(): Promise<string> {
    for (;;) {
      const text = this.#texts.shift();
      if (text !== undefined) return text;
      await this.#next();
    }
  }

  #next(): Promise<void> {
    return new Promise((resolve) => {
      this.#woken = resolve;
    });
  }

  async ask(body: object | string): Promise<Message> {
    this.send(body);
    const last = (await this.hear()).at(-1);
    if (!last) throw new Error("nothing was said");
    return last;
  }
}

const connect = (key: string, headers: Readonly<Record<string, string>> = { upgrade: "websocket" }): Promise<Response> =>
  exports.default.fetch(new Request("https://longhand.test/v1/responses", { headers: { authorization: `Bearer ${key}`, ...headers } }));

const readOutput = (message: Message): string => JSON.stringify(message.response?.output ?? []);
const readId = ({ response }: Message): string => response?.id ?? "";

/** The object of the newest socket. */
async function newest(before: readonly DurableObjectId[]): Promise<DurableObjectStub> {
  const known = new Set(before.map(String));
  const id = (await listDurableObjectIds(env.RESPONSE_SOCKETS)).find((each) => !known.has(String(each)));
  if (!id) throw new Error("no object");
  return env.RESPONSE_SOCKETS.get(id);
}

async function openWatched(chat: Chat): Promise<{ client: Client; object: DurableObjectStub }> {
  const before = await listDurableObjectIds(env.RESPONSE_SOCKETS);
  const client = await Client.open(chat);
  return { client, object: await newest(before) };
}

describe("a socket", () => {
  it("is opened by an answer that has the headers of every answer", async () => {
    const { tenant } = await newChat();
    const response = await connect(tenant.key, { upgrade: "websocket", "x-request-id": "my-request" });

    expect([response.status, response.headers.get("x-request-id")]).toEqual([101, "my-request"]);
    expect(findUnsafeHeaders(response, { path: "/v1/responses", publicUrl: null })).toEqual([]);
    response.webSocket?.accept();
    response.webSocket?.close();
  });

  it("answers with the events that HTTP has, and goes on after sleep", async () => {
    const chat = await newChat({ replies: [{ text: "Hello 雷克斯." }, { text: "Again." }] });
    const model = chat.model.upstream;
    const { client, object } = await openWatched(chat);

    client.send({ model, input: "Hi." });
    const events = await client.hear();
    const [first, last] = [events[0], events.at(-1)];
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    expect(first?.type).toBe("response.created");
    expect(events.map(({ type }) => type)).toContain("response.output_text.delta");
    expect(last && readOutput(last)).toContain("Hello 雷克斯.");

    await evictDurableObject(object);
    const next = await client.ask({ model, input: "Again?", previous_response_id: last && readId(last), stream_id: "a" });
    expect(readOutput(next)).toContain("Again.");
    expect(next.stream_id).toBe("a");
    const stored = await exports.default.fetch(
      new Request(`https://longhand.test/v1/responses/${readId(next)}/input_items`, {
        headers: { authorization: `Bearer ${chat.tenant.key}` },
      }),
    );
    expect(await readBody(stored)).toMatchObject({ data: [{ content: [{ text: "Again?" }] }] });
    client.socket.close();
  });

  it("keeps what is not stored for itself alone, over sleep too, until a continuation fails", async () => {
    const chat = await newChat({ replies: [{ text: "One." }, { text: "Two." }, { text: "Three." }] });
    const model = chat.model.upstream;
    const { client, object } = await openWatched(chat);
    const one = await client.ask({ model, input: "Count to 4711.", store: false });
    expect(one.response).toMatchObject({ status: "completed", store: false });

    await evictDurableObject(object);
    const two = await client.ask({ model, input: "On.", store: false, previous_response_id: readId(one) });
    expect(two.response).toMatchObject({ status: "completed", store: false, previous_response_id: readId(one) });
    const request = (await chat.model.heard(2)).at(-1);
    expect(JSON.stringify(request)).toContain("Count to 4711.");
    const held = await findHolding("Count to 4711.");
    expect(held).toHaveLength(1);

    const stored = await client.ask({ model, input: "On.", previous_response_id: readId(two) });
    expect(stored).toMatchObject({ type: "error", status: 400, error: { param: "store" } });
    for (const attempt of [1, 2]) {
      const gone = await client.ask({ model, input: `On ${attempt}.`, store: false, previous_response_id: readId(two) });
      expect(gone).toMatchObject({
        type: "error",
        status: 400,
        error: { code: "previous_response_not_found", param: "previous_response_id", message: expect.stringContaining(readId(two)) },
      });
    }
    await untilHeldNowhere("Count to 4711.", held);
    client.socket.close();
  });

  it("continues no stored response without storing the next one", async () => {
    const chat = await newChat({ replies: [{ text: "One." }, { text: "Two." }] });
    const model = chat.model.upstream;
    const client = await Client.open(chat);
    const stored = await client.ask({ model, input: "Count." });

    const refused = await client.ask({ model, input: "On.", store: false, previous_response_id: readId(stored) });

    expect(refused).toMatchObject({
      ...{ type: "error", status: 400 },
      error: { code: "previous_response_not_found", param: "previous_response_id" },
    });
    const next = await client.ask({ model, input: "On.", previous_response_id: readId(stored) });
    expect(readOutput(next)).toContain("Two.");
    client.socket.close();
  });

  it("forgets an older response that is not stored, and what another connection has", async () => {
    const chat = await newChat({ replies: [{ text: "One." }, { text: "Two." }] });
    const model = chat.model.upstream;
    const [client, other] = [await Client.open(chat), await Client.open(chat)];
    const one = await client.ask({ model, input: "Count.", store: false });
    const foreign = await other.ask({ model, input: "On.", store: false, previous_response_id: readId(one) });
    expect(foreign.error?.code).toBe("previous_response_not_found");
    await client.ask({ model, input: "Another.", store: false });
    const old = await client.ask({ model, input: "On.", store: false, previous_response_id: readId(one) });
    expect(old.error?.code).toBe("previous_response_not_found");
    client.socket.close();
    other.socket.close();
  });

  it("erases what is not stored when it closes", async () => {
    const chat = await newChat({ replies: [{ text: "One." }] });
    const client = await Client.open(chat);
    await client.ask({ model: chat.model.upstream, input: "Count to 1147.", store: false });
    const held = await findHolding("Count to 1147.");
    expect(held).toHaveLength(1);
    client.socket.close();
    await client.closed;
    await untilHeldNowhere("Count to 1147.", held);
  });

  it("answers one request at a time", async () => {
    const chat = await newChat();
    await chat.model.script({ replies: [{ text: "Slow.", gate: "slow" }, { text: "Next." }] });
    const model = chat.model.upstream;
    const client = await Client.open(chat);
    client.send({ model, input: "One." });
    await chat.model.heard(1);
    client.send({ model, input: "Two." });
    const refused = (await client.hear()).at(-1);
    expect(refused).toMatchObject({ type: "error", status: 409, error: { code: "response_in_progress" } });
    await chat.model.open("slow");
    expect((await client.hear()).at(-1)).toMatchObject({ type: "response.completed" });
    expect(await client.ask({ model, input: "Two." })).toMatchObject({ type: "response.completed" });
    client.socket.close();
  });

  it("refuses what is no request by name, and stays open", async () => {
    const chat = await newChat({ replies: [{ text: "Hello." }] });
    const model = chat.model.upstream;
    const client = await Client.open(chat);
    const cases: readonly (readonly [object | string, string])[] = [
      ["{", "body"],
      ["{}", "type"],
      [JSON.stringify({ type: "response.steer" }), "type"],
      [{ model, input: "Hi.", background: true }, "background"],
      [{ model, input: "Hi.", prompt: { id: "p" } }, "prompt"],
      [{ model }, "input"],
      [{ model, input: [{ type: "compaction", encrypted_content: "lhc1_x" }] }, "input[0].encrypted_content"],
    ];
    for (const [body, param] of cases) {
      const refused = await client.ask(body);
      expect(refused).toMatchObject({ type: "error", status: 400 });
      expect(refused.error?.param).toBe(param);
    }
    expect(await client.ask({ model: "nope", input: "Hi." })).toMatchObject({ type: "error", status: 404 });
    client.socket.send("ping");
    expect(await client.hearText()).toBe("pong");
    expect(await client.ask({ model, input: "Hi." })).toMatchObject({ type: "response.completed" });
    client.socket.close();
  });

  it("is closed behind a message that is too large", async () => {
    const client = await Client.open(await newChat());
    expect(await client.ask({ input: "a".repeat(9 * 1_048_576) })).toMatchObject({ type: "error", status: 413 });
    expect((await client.closed).code).toBe(1009);
  });

  it("is closed once its key was revoked", async () => {
    const chat = await newChat({ replies: [{ text: "Hello." }] });
    const made = await readBody<{ key: string; id: string }>(await chat.tenant.call("POST", "/v1/keys", { name: "other" }), 201);
    const response = await connect(made.key);
    if (!response.webSocket) throw new Error("no socket");
    const client = new Client(response.webSocket);
    const model = chat.model.upstream;
    expect(await client.ask({ model, input: "Hi." })).toMatchObject({ type: "response.completed" });
    await readBody(await chat.tenant.call("DELETE", `/v1/keys/${made.id}`), 200);
    expect(await client.ask({ model, input: "Hi." })).toMatchObject({ type: "error", status: 401, error: { code: "invalid_api_key" } });
    expect((await client.closed).code).toBe(1008);
  });

  it("stays while it is heard of, and is closed when it is idle or too old", async () => {
    const minutes = 60_000;
    try {
      const { client, object } = await openWatched(await newChat());
      advanceClock(10 * minutes);
      expect(await runDurableObjectAlarm(object)).toBe(true);
      expect(await client.ask("{")).toMatchObject({ type: "error", status: 400 });
      advanceClock(10 * minutes);
      expect(await runDurableObjectAlarm(object)).toBe(true);
      expect(await client.ask("{")).toMatchObject({ type: "error", status: 400 });
      advanceClock(16 * minutes);
      expect(await runDurableObjectAlarm(object)).toBe(true);
      expect(await client.closed).toMatchObject({ code: 1000, reason: "idle" });

      const other = await openWatched(await newChat());
      for (let quarter = 0; quarter < 4; quarter++) {
        advanceClock(14 * minutes);
        expect(await other.client.ask("{")).toMatchObject({ status: 400 });
      }
      advanceClock(5 * minutes);
      expect(await runDurableObjectAlarm(other.object)).toBe(true);
      expect(await other.client.hear()).toMatchObject([{ type: "error", error: { code: "websocket_connection_limit_reached" } }]);
      expect(await other.client.closed).toMatchObject({ code: 1000, reason: "too old" });
      expect(await runDurableObjectAlarm(other.object)).toBe(false);
    } finally {
      restoreClock();
    }
  });
});

describe("the upgrade", () => {
  it("needs a key, and a GET without one is no resource", async () => {
    const chat = await newChat();
    expect((await connect("lh_no_key")).status).toBe(401);
    expect((await connect(chat.tenant.key, {})).status).toBe(405);
  });
});
