/** Access tokens through the running Worker: real signatures, real sessions, real streams. */
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { advanceClock } from "../../workers/clock";
import { type Chat, migrate, newChat, readBody, request, type Tenant, toFrames } from "../../workers/support";

beforeAll(migrate);

interface Made {
  readonly id: string;
  readonly token: string;
  readonly expires_at: number;
}

const make = async (tenant: Tenant, body: object): Promise<Made> => readBody(await tenant.call("POST", "/v1/tokens", body), 201);
const tokenFor = async (chat: Chat, more: object = {}): Promise<string> =>
  (await make(chat.tenant, { session_id: chat.id, ...more })).token;

const readStatus = async (method: string, path: string, key: string, body?: unknown): Promise<number> =>
  (await request(method, path, { key, body })).status;

describe("a token of a session", () => {
  it("chats: it sends, follows the turn and reads the conversation", async () => {
    const chat = await newChat({ replies: [{ text: "你好!" }] });
    const key = await tokenFor(chat);
    const path = `/v1/sessions/${chat.id}`;

    const sent = await request("POST", `${path}/messages`, { key, body: { content: "Hello" }, headers: { accept: "text/event-stream" } });
    const frames = await toFrames(sent).rest();

    expect(frames.at(-1)?.type).toBe("turn.completed");
    const list = await readBody<{ data: unknown[] }>(await request("GET", `${path}/messages`, { key }));
    expect(list.data).toHaveLength(2);
    expect(JSON.stringify(list.data)).toContain("你好!");
  });

  it("opens no other session, of its tenant or of another", async () => {
    const [chat, stranger] = [await newChat(), await newChat()];
    const sibling = await newChat({ tenant: chat.tenant });
    const key = await tokenFor(chat);

    expect(await readStatus("GET", `/v1/sessions/${chat.id}`, key)).toBe(200);
    for (const other of [sibling, stranger]) {
      expect(await readStatus("GET", `/v1/sessions/${other.id}`, key)).toBe(404);
      expect(await readStatus("POST", `/v1/sessions/${other.id}/messages`, key, { content: "Hello" })).toBe(404);
      expect(await readStatus("GET", `/v1/sessions/${other.id}/stream?token=${key}`, "")).toBe(400);
      expect((await request("GET", `/v1/sessions/${other.id}/stream?token=${key}`, {})).status).toBe(404);
    }
  });

  it("is made for no session of another tenant", async () => {
    const [chat, stranger] = [await newChat(), await newChat()];

    expect((await stranger.tenant.call("POST", "/v1/tokens", { session_id: chat.id })).status).toBe(404);
  });

  it("makes no token and no key, and reads nothing of the tenant", async () => {
    const chat = await newChat();
    const key = await tokenFor(chat);

    const answers = [
      await readStatus("POST", "/v1/tokens", key, { session_id: chat.id }),
      await readStatus("POST", "/v1/keys", key, { name: "mine" }),
      await readStatus("GET", "/v1/tenant", key),
      await readStatus("GET", "/v1/models", key),
      await readStatus("PATCH", `/v1/sessions/${chat.id}`, key, { system: "Obey me." }),
      await readStatus("DELETE", `/v1/sessions/${chat.id}`, key),
    ];

    expect(answers).toEqual(answers.map(() => 403));
    expect(await readStatus("POST", "/v1/admin/tenants", key, { name: "mine" })).toBe(401);
  });

  it("with sessions:read alone reads and does not send", async () => {
    const chat = await newChat();
    const key = await tokenFor(chat, { scopes: ["sessions:read"] });

    expect(await readStatus("GET", `/v1/sessions/${chat.id}/messages`, key)).toBe(200);
    expect(await readStatus("POST", `/v1/sessions/${chat.id}/messages`, key, { content: "Hello" })).toBe(403);
  });

  it("finds an erased session erased, and is not made for one", async () => {
    const chat = await newChat();
    const key = await tokenFor(chat);
    await readBody(await chat.call("DELETE"));

    const read = await request("GET", `/v1/sessions/${chat.id}`, { key });
    expect(read.status).toBe(404);
    expect(await read.text()).toContain("session_erased");
    expect((await chat.tenant.call("POST", "/v1/tokens", { session_id: chat.id })).status).toBe(404);
  });

  it("is refused from its expiry on, which its page sees", async () => {
    const chat = await newChat();
    const { token: key, expires_at } = await make(chat.tenant, { session_id: chat.id, expires_in: 60 });
    await readBody(await chat.tenant.call("PATCH", "/v1/tenant", { allowed_origins: ["*"] }));
    const ask = () => request("GET", `/v1/sessions/${chat.id}`, { key, headers: { origin: "https://app.example.com" } });
    expect((await ask()).status).toBe(200);

    advanceClock(expires_at - Date.now());

    const late = await ask();
    expect(late.status).toBe(401);
    expect(late.headers.get("access-control-allow-origin")).toBe("https://app.example.com");
  });

  it("outlives its key, and a revoked key makes no other", async () => {
    const chat = await newChat();
    const path = `/v1/admin/tenants/${chat.tenant.id}/keys`;
    const asked = await request("POST", path, { key: env.ADMIN_KEY, body: { name: "widget", scopes: ["sessions:read"] } });
    const { id, key } = await readBody<{ id: string; key: string }>(asked, 201);
    const { token } = await readBody<Made>(await request("POST", "/v1/tokens", { key, body: { session_id: chat.id } }), 201);

    await readBody(await chat.tenant.call("DELETE", `/v1/keys/${id}`));

    expect(await readStatus("GET", `/v1/sessions/${chat.id}`, token)).toBe(200);
    expect(await readStatus("POST", "/v1/tokens", key, { session_id: chat.id })).toBe(401);
  });
});

describe("a token of an end user", () => {
  const ada = "ada@example.com";
  const give = (chat: Chat, end_user: string | null) => chat.call("PATCH", "", { end_user }).then((each) => readBody(each));

  it("opens the sessions of that end user, and no others of the tenant", async () => {
    const [mine, other, nameless] = [await newChat(), await newChat(), await newChat()];
    const tenant = mine.tenant;
    const [his, none] = [await newChat({ tenant }), await newChat({ tenant })];
    await Promise.all([give(mine, ada), give(his, "Ada@example.com"), give(other, ada)]);
    const { token } = await make(tenant, { end_user: ada });

    expect(await readStatus("GET", `/v1/sessions/${mine.id}`, token)).toBe(200);
    expect(await readStatus("POST", `/v1/sessions/${mine.id}/messages`, token, { content: "Hello" })).toBe(200);
    for (const chat of [his, none, other, nameless]) {
      expect(await readStatus("GET", `/v1/sessions/${chat.id}`, token)).toBe(404);
      expect(await readStatus("POST", `/v1/sessions/${chat.id}/messages`, token, { content: "Hello" })).toBe(404);
      expect((await request("GET", `/v1/sessions/${chat.id}/stream?token=${token}`, {})).status).toBe(404);
    }
  });

  it("loses a session that is given to another end user, or to none", async () => {
    const chat = await newChat();
    const { token } = await make(chat.tenant, { end_user: ada });
    const read = () => readStatus("GET", `/v1/sessions/${chat.id}/messages`, token);
    expect(await read()).toBe(404);

    const seen: number[] = [];
    for (const end_user of [ada, "eve", ada, null]) {
      await give(chat, end_user);
      seen.push(await read());
    }

    expect(seen).toEqual([200, 404, 200, 404]);
  });

  it("lists that end user's sessions alone", async () => {
    const chat = await newChat();
    const sibling = await newChat({ tenant: chat.tenant });
    await Promise.all([give(chat, ada), give(sibling, "eve")]);
    const { token } = await make(chat.tenant, { end_user: ada });
    const readIds = async () => {
      const list = await readBody<{ data: { id: string }[] }>(await request("GET", "/v1/sessions", { key: token }));
      return list.data.map(({ id }) => id);
    };

    // The list lags behind the sessions.
    await expect.poll(readIds).toEqual([chat.id]);
    expect((await request("GET", "/v1/sessions?end_user=eve", { key: token })).status).toBe(403);
  });

  it("cannot make a session its own", async () => {
    const chat = await newChat();
    const { token } = await make(chat.tenant, { end_user: ada });

    expect(await readStatus("PATCH", `/v1/sessions/${chat.id}`, token, { end_user: ada })).toBe(403);
    expect(await readStatus("PUT", "/v1/sessions/by-external-id/mine", token, { end_user: ada })).toBe(403);
    expect(await readStatus("POST", "/v1/sessions", token, { end_user: ada })).toBe(403);
  });
});

describe("?token=", () => {
  it("follows the live stream, and resumes it as EventSource does: the same URL and Last-Event-ID", async () => {
    const chat = await newChat({ replies: [{ deltas: ["Once ", { gate: "one" }, "upon a time."] }] });
    const path = `/v1/sessions/${chat.id}/stream?after=0&token=${await tokenFor(chat, { scopes: ["sessions:read"] })}`;
    const first = toFrames(await request("GET", path, {}));
    await chat.post("tell me");
    const { offset } = await first.until("text.delta");
    await first.leave();

    const second = toFrames(await request("GET", path, { headers: { "last-event-id": String(offset) } }));
    await chat.model.open("one");
    await second.until("turn.completed");

    expect(second.seen[0]?.offset).toBe(offset + 1);
    await second.leave();
  });

  it("is in no line that the Worker and its objects print", async () => {
    const lines: unknown[] = [];
    for (const method of ["log", "info", "warn", "error", "debug"] as const) {
      vi.spyOn(console, method).mockImplementation((...line: unknown[]) => void lines.push(line));
    }
    const chat = await newChat();
    const made = await make(chat.tenant, { session_id: chat.id });
    const paths = [`/v1/sessions/${chat.id}/stream`, `/v1/sessions/${chat.id}/events`, `/v1/sessions/${chat.id}/none`];

    for (const path of paths) {
      const answer = await request("GET", `${path}?token=${made.token}`, { headers: { accept: "text/event-stream" } });
      await answer.body?.cancel();
      await request("GET", path, { key: made.token, headers: { accept: "application/json" } }).then((each) => each.body?.cancel());
    }
    vi.restoreAllMocks();

    expect(lines.length).toBeGreaterThan(paths.length);
    expect(JSON.stringify(lines)).toContain(made.id);
    for (const part of made.token.split(".").slice(1)) expect(JSON.stringify(lines)).not.toContain(part);
  });
});

describe("allowed_origins", () => {
  const origin = "https://app.example.com";

  it("hold at once in the isolate that changed them, for keys and tokens, and only for their tenant", async () => {
    const [chat, stranger] = [await newChat(), await newChat()];
    const token = await tokenFor(chat);
    const read = (key: string, path = `/v1/sessions/${chat.id}`) => request("GET", path, { key, headers: { origin } });
    const statuses = async () => [(await read(chat.tenant.key)).status, (await read(token)).status];
    expect(await statuses()).toEqual([403, 403]);

    await readBody(await chat.tenant.call("PATCH", "/v1/tenant", { allowed_origins: [origin] }));
    expect(await statuses()).toEqual([200, 200]);
    expect((await read(stranger.tenant.key, `/v1/sessions/${stranger.id}`)).status).toBe(403);

    await readBody(await chat.tenant.call("PATCH", "/v1/tenant", { allowed_origins: [] }));
    expect(await statuses()).toEqual([403, 403]);
  });

  it("are part of the tenant's settings and of its export", async () => {
    const { tenant } = await newChat();
    await readBody(await tenant.call("PATCH", "/v1/tenant", { allowed_origins: [origin] }));
    await readBody(await tenant.call("PATCH", "/v1/tenant", { name: "Ada" }));

    expect(await readBody(await tenant.call("GET", "/v1/tenant"))).toMatchObject({ allowed_origins: [origin] });
    expect(await readBody(await request("GET", `/v1/admin/tenants/${tenant.id}`, { key: env.ADMIN_KEY }))).toMatchObject({
      allowed_origins: [origin],
    });
  });

  it("let the page of a stream read it", async () => {
    const chat = await newChat();
    await readBody(await chat.tenant.call("PATCH", "/v1/tenant", { allowed_origins: [origin] }));

    const path = `/v1/sessions/${chat.id}/stream?after=0&token=${await tokenFor(chat)}`;
    const response = await request("GET", path, { headers: { origin } });

    expect(response.headers.get("access-control-allow-origin")).toBe(origin);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    await response.body?.cancel();
  });
});
