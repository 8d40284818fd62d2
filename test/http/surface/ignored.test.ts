/** What a request holds and no surface uses changes nothing, and the answer names it. */
import { describe, expect, test } from "vitest";
import { connect } from "../openai/response-life";
import { KEY, makeId } from "../support";

interface Surface {
  readonly path: string;
  readonly body: Record<string, unknown>;
  /** A member deep in the body that the vendor's API does not have, and its path. */
  readonly deep: readonly [body: object, path: string];
  /** A parameter that is refused by name. */
  readonly refused: object;
  /** The header may name a session. */
  readonly hasSession: boolean;
}

const hello = { role: "user", content: "Hi" };

const SURFACES: readonly (readonly [string, Surface])[] = [
  [
    "chat completions",
    {
      path: "/v1/chat/completions",
      body: { model: "m", messages: [hello] },
      deep: [{ tools: [] }, ""],
      refused: { audio: {} },
      hasSession: true,
    },
  ],
  [
    "messages",
    {
      path: "/v1/messages",
      body: { model: "m", max_tokens: 100, messages: [hello] },
      deep: [{ output_config: { effort: "low", mood: "calm" } }, "output_config.mood"],
      refused: { top_k: 5 },
      hasSession: true,
    },
  ],
  [
    "count_tokens",
    {
      path: "/v1/messages/count_tokens",
      body: { model: "m", messages: [hello] },
      deep: [{ output_config: { effort: "low", mood: "calm" } }, "output_config.mood"],
      refused: { mcp_servers: [{}] },
      hasSession: true,
    },
  ],
  ["conversations", { path: "/v1/conversations", body: {}, deep: [{}, ""], refused: { metadata: { a: 1 } }, hasSession: false }],
  [
    "input_tokens",
    {
      path: "/v1/responses/input_tokens",
      body: { input: "Hi" },
      deep: [{}, ""],
      refused: { previous_response_id: "resp_x", conversation: "conv_x" },
      hasSession: false,
    },
  ],
  [
    "compact",
    { path: "/v1/responses/compact", body: { model: "m", input: "Hi" }, deep: [{}, ""], refused: { instructions: 5 }, hasSession: false },
  ],
  [
    "responses",
    {
      path: "/v1/responses",
      body: { model: "m", input: "Hi", store: false },
      deep: [{ text: { mood: "calm" } }, "text.mood"],
      refused: { prompt: { id: "p" } },
      hasSession: false,
    },
  ],
];

function connectTo({ path, body }: Surface) {
  const { app } = connect();
  return (more: object = {}, headers: Record<string, string> = {}) =>
    app.request(path, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json", "anthropic-version": "2023-06-01", ...headers },
      body: JSON.stringify({ ...body, ...more }),
    });
}

describe.each(SURFACES)("%s", (_, surface) => {
  const { deep, refused } = surface;
  const post = connectTo(surface);

  test("names nothing where everything is used", async () => {
    const response = await post();
    expect([response.status, response.headers.get("x-ignored")]).toEqual([200, null]);
  });

  test("ignores members that the vendor's API does not have, and names them by their paths", async () => {
    const [given, where] = deep;
    const response = await post({ ...given, mood: "calm", 天气: 1 });
    expect([response.status, response.headers.get("x-ignored")?.split(", ").filter(Boolean).toSorted()]).toEqual([
      200,
      ["??", "mood", where].filter(Boolean).toSorted(),
    ]);
  });

  test("names at most twenty, and refuses a body of hundreds", async () => {
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, nth) => [`m${nth}`, nth]));
    const [some, hundreds] = [await post(many(30)), await post(many(300))];
    expect([some.status, some.headers.get("x-ignored")?.split(", ").length]).toEqual([200, 20]);
    expect(hundreds.status).toBe(400);
  });

  test("refuses what it has and cannot do, without a word about the unknown", async () => {
    const response = await post({ ...refused, mood: "calm" });
    expect(response.status).toBe(400);
    expect(await response.text()).not.toContain("mood");
  });
});

describe.each(SURFACES.filter(([, { hasSession }]) => hasSession))("the session header of %s", (_, surface) => {
  const post = connectTo(surface);

  test("answers without a session where the header names none of ours, and names the header", async () => {
    for (const name of ["ses_dd83a1bcffeQk2Zp9xTt41Lw3m", "e7b9c1d4-0000-4000-8000-1234567890ab", "main"]) {
      const response = await post({}, { "X-Session-Id": name });
      expect([response.status, response.headers.get("x-ignored"), response.headers.get("x-session-id")]).toEqual([
        200,
        "X-Session-Id",
        null,
      ]);
    }
  });

  test("knows no session of an id in our form that there is not", async () => {
    const response = await post({}, { "X-Session-Id": makeId("ses", 77) });
    expect([response.status, response.headers.get("x-ignored")]).toEqual([404, null]);
  });
});
