/** A request without a session that asks to be compacted learns whether it was, through every vendor's API. */
import { describe, expect, test } from "vitest";
import type { ModelSpec } from "../../../src/app/ports";
import { SPEC } from "../../session/life";
import { SUMMARY } from "../../session/talk";
import { connect, says } from "../openai/response-life";
import { KEY } from "../support";

type Said = { readonly role: "user" | "assistant"; readonly content: string };

/** The model's window has 8,000 tokens. */
const talk = (turns: number): Said[] => [
  ...Array.from({ length: turns }, (_, nth): Said[] => [
    { role: "user", content: `question ${nth}: ${"seats nothing agreed ".repeat(100)}` },
    { role: "assistant", content: `answer ${nth}: ${"flights were found ".repeat(100)}` },
  ]).flat(),
  { role: "user", content: "And now?" },
];
const SHORT = talk(2);
const LONG = talk(14);

interface Surface {
  readonly path: string;
  readonly toBody: (messages: readonly Said[]) => object;
  /** What asks for a compaction. */
  readonly asks: object;
  /** The edit as the body names it, and the stream's event that does. Null: the vendor's resource has no place for it. */
  readonly told: { readonly edit: string; readonly toEnd: (events: readonly Record<string, unknown>[]) => unknown } | null;
}

const SURFACES: readonly (readonly [string, Surface])[] = [
  [
    "chat completions",
    {
      path: "/v1/chat/completions",
      toBody: (messages) => ({ model: "m", messages }),
      asks: { context_management: [{ type: "compaction" }] },
      told: { edit: "compaction", toEnd: (events) => events.findLast(({ choices }) => Array.isArray(choices)) },
    },
  ],
  [
    "messages",
    {
      path: "/v1/messages",
      toBody: (messages) => ({ model: "m", max_tokens: 100, messages }),
      asks: { context_management: { edits: [{ type: "clear_thinking_20251015" }, { type: "compact_20260112" }] } },
      told: { edit: "compact_20260112", toEnd: (events) => events.find(({ type }) => type === "message_delta") },
    },
  ],
  [
    "responses",
    {
      path: "/v1/responses",
      toBody: (input) => ({ model: "m", store: false, input }),
      asks: { truncation: "auto" },
      told: null,
    },
  ],
];

describe.each(SURFACES)("%s without a session", (_, { path, toBody, asks, told }) => {
  const member = told && { context_management: { applied_edits: [{ type: told.edit }] } };

  function open(onAsk: () => void = () => {}, spec: ModelSpec = SPEC) {
    const called: string[] = [];
    const world = connect({ onCall: (name) => called.push(name), models: { resolve: async () => spec } });
    world.model.say = ({ purpose }) => {
      if (purpose === "turn") onAsk();
      return says(purpose === "compaction" ? SUMMARY : "Fine.");
    };
    const post = (messages: readonly Said[], more: object = {}) =>
      world.app.request(`http://longhand.test${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json", "anthropic-version": "2023-06-01" },
        body: JSON.stringify({ ...toBody(messages), ...more }),
      });
    return { ...world, called, post };
  }

  test("says in its header, and in its body where the vendor has a place for it, that it was compacted, where it asked for that", async () => {
    const { post, requests } = open();
    const response = await post(LONG, asks);
    expect([response.status, response.headers.get("x-context-compacted")]).toEqual([200, "true"]);
    const body = await response.json();
    if (member) expect(body).toMatchObject(member);
    else expect(body).not.toHaveProperty("context_management");
    expect(requests.at(-1)?.messages.length).toBeLessThan(LONG.length);
  });

  test("says in the end of its stream that it was compacted, once", async () => {
    const { post } = open();
    const text = await (await post(LONG, { ...asks, stream: true })).text();
    const events = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json = ""]): Record<string, unknown> => JSON.parse(json));
    if (told) expect(told.toEnd(events)).toMatchObject(member ?? {});
    expect(text.split('"applied_edits"')).toHaveLength(told ? 2 : 1);
    expect(text).toContain("Fine.");
  });

  test("is answered in whole where the session cannot be read for it", async () => {
    const { post, lives } = open(() => {
      for (const life of lives.values()) life.service.describe = () => Promise.reject(new Error("away"));
    });
    for (const stream of [false, true]) {
      const response = await post(LONG, { ...asks, stream });
      expect([response.status, response.headers.get("x-context-compacted")]).toEqual([200, null]);
      expect(await response.text()).toContain("Fine.");
    }
  });

  test("says why it failed in the provider's words, in a stream and without one", async () => {
    const words = "Unsupported parameter: top_k";
    const { post, model } = open(() => {}, {
      ...SPEC,
      source: "tenant",
      provider: "openai-compatible",
      base_url: "https://example.org/v1",
    });
    model.say = () => [{ type: "failure", failure: { kind: "auth", status: 401, message: words } }];
    // The error of a stored response is the same in each of its streams, which are made from frames.
    for (const stream of [false, true])
      expect((await (await post(SHORT, { stream })).text()).includes(words)).toBe(path !== "/v1/responses");
  });

  test("says nothing of it where it asked and fitted", async () => {
    const { post } = open();
    for (const stream of [false, true]) {
      const response = await post(SHORT, { ...asks, stream });
      expect(response.headers.get("x-context-compacted")).toBeNull();
      expect(await response.text()).not.toContain("applied_edits");
    }
  });

  test("is refused where it did not ask and does not fit, and what fits costs no look at the session", async () => {
    const { post, called } = open();
    expect((await post(LONG)).status).toBe(400);
    called.length = 0;
    expect((await post(SHORT)).status).toBe(200);
    expect(called).not.toContain("describe");
  });
});
