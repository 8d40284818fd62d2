import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import type { BranchComparison, BranchView } from "../../../src/contract/branch";
import type { DisplayItem } from "../../../src/contract/item";
import type { SessionDescription } from "../../../src/contract/session";
import type { TurnReport } from "../../../src/contract/turn";
import { readRows } from "../../read-model/rows";
import { type Chat, migrate, newChat, newTenant, readBody, told } from "../../workers/support";

beforeAll(migrate);

type List<T> = { readonly data: readonly T[] };

const replies = [{ text: "one" }, { text: "two" }, { text: "three" }, { text: "four" }];
const listTexts = async (chat: Chat, query = ""): Promise<string[]> =>
  told((await readBody<List<DisplayItem>>(await chat.call("GET", `/messages${query}`))).data);
const readBranches = async (chat: Chat) => (await readBody<List<BranchView>>(await chat.call("GET", "/branches"))).data;
const wire = async (chat: Chat, nth: number) =>
  ((await chat.model.heard(nth))[nth - 1]?.body.messages ?? []).map(({ role, content }) => `${role}: ${content ?? ""}`);

describe("a message that is edited", () => {
  it("is answered on a new branch; both branches are listed, compared, and gone on with", async () => {
    const chat = await newChat({ replies });
    await chat.say("first");
    await chat.say("second");
    const page = await readBody<List<DisplayItem>>(await chat.call("GET", "/messages"));
    const second = page.data.find(({ position }) => position === 3);

    const done = await readBody<TurnReport>(await chat.call("POST", `/messages/${second?.id}/edit`, { content: "zweitens" }));

    expect(done).toMatchObject({ status: "completed" });
    expect(await wire(chat, 3)).toEqual(["user: first", "assistant: one", "user: zweitens"]);
    expect(await listTexts(chat)).toEqual(["user: first", "assistant: one", "user: zweitens", "assistant: three"]);
    expect(await listTexts(chat, "?branch=1")).toEqual(["user: first", "assistant: one", "user: second", "assistant: two"]);
    expect(await readBranches(chat)).toMatchObject([
      { number: 1, current: false },
      { number: 2, parent: 1, shared_to: 2, current: true },
    ]);
    const compared = await readBody<BranchComparison>(await chat.call("GET", "/branches/compare"));
    expect([compared.shared_to, told(compared.a.items), told(compared.b.items)]).toEqual([
      2,
      ["user: second", "assistant: two"],
      ["user: zweitens", "assistant: three"],
    ]);

    await readBody(await chat.call("POST", "/branches/1/switch", {}));
    await evictDurableObject(chat.stub);
    await chat.say("third");

    expect(await wire(chat, 4)).toEqual(["user: first", "assistant: one", "user: second", "assistant: two", "user: third"]);
  });

  it("shows in the lists as the branch that goes on", async () => {
    const chat = await newChat({ replies });
    await chat.say("first");
    await readBody(await chat.call("POST", "/branches", { to: 0 }), 201);
    await chat.say("anew");

    const shown = async () => {
      const rows = await readRows(env.DB, chat.caller);
      const sessions = Object.values(rows.sessions ?? {}).map((row) => `${row.message_count} ${row.last_message_preview}`);
      return [...sessions, ...Object.values(rows.messages ?? {}).map(({ superseded }) => superseded)];
    };
    await expect.poll(shown).toEqual(["2 two", 1, 1, 0, 0]);
  });

  it("answered again keeps the first answer on its branch", async () => {
    const chat = await newChat({ replies });
    await chat.say("first");
    const [, answer] = (await readBody<List<DisplayItem>>(await chat.call("GET", "/messages"))).data;

    await readBody(await chat.call("POST", `/messages/${answer?.id}/regenerate`, {}));

    expect(await listTexts(chat)).toEqual(["user: first", "assistant: two"]);
    expect(await listTexts(chat, "?branch=all")).toEqual(["user: first", "assistant: one", "assistant: two"]);
  });
});

describe("a fork", () => {
  it("is another session that shares the past, is made once for a key, and outlives its source", async () => {
    const chat = await newChat({ replies, system: "Be brief." });
    await chat.say("first");
    await chat.say("second");
    const key = { "idempotency-key": "fork-1" };

    const made = await readBody<SessionDescription>(await chat.call("POST", "/fork", { at: 2, title: "Elsewhere" }, key), 201);
    const again = await readBody<SessionDescription>(await chat.call("POST", "/fork", { at: 2, title: "Elsewhere" }, key), 201);
    await readBody(await chat.call("DELETE", ""));
    const reply = await readBody<TurnReport>(await chat.tenant.call("POST", `/v1/sessions/${made.id}/messages`, { content: "and?" }));

    expect(made).toMatchObject({
      forked_from: { session_id: chat.caller.session, at: 2 },
      title: "Elsewhere",
      system: "Be brief.",
      message_count: 2,
    });
    expect(again.id).toBe(made.id);
    expect(reply.status).toBe("completed");
    expect(await wire(chat, 3)).toEqual(["system: Be brief.", "user: first", "assistant: one", "user: and?"]);
  });

  it("of another tenant's session is no session, and leaves none behind", async () => {
    const chat = await newChat({ replies });
    await chat.say("first");
    const other = await newTenant();

    const refused = await other.call("POST", `/v1/sessions/${chat.caller.session}/fork`, {});

    expect(refused.status).toBe(404);
  });

  it("where no cut can be is refused at the field", async () => {
    const chat = await newChat({ replies });
    await chat.say("first");

    const refused = await chat.call("POST", "/fork", { at: 9 });

    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ errors: [{ field: "at" }] });
  });
});

describe("a message whose content is taken out", () => {
  it("is gone from the record, the lists and the next request; its place stays", async () => {
    const chat = await newChat({ replies });
    await chat.say("my password is hunter2");
    const [asked] = (await readBody<List<DisplayItem>>(await chat.call("GET", "/messages"))).data;

    await readBody(await chat.call("POST", `/messages/${asked?.id}/redact`, {}));
    await chat.say("what was it?");

    expect(await listTexts(chat)).toEqual(["user: [redacted]", "assistant: one", "user: what was it?", "assistant: two"]);
    expect(await wire(chat, 2)).toEqual(["user: [redacted]", "assistant: one", "user: what was it?"]);
    const states = async () =>
      Object.values((await readRows(env.DB, chat.caller)).messages ?? {}).map(({ content_state }) => content_state);
    await expect.poll(states).toEqual(["redacted", "full", "full", "full"]);
    expect(JSON.stringify(await readRows(env.DB, chat.caller))).not.toContain("hunter2");
  });
});
