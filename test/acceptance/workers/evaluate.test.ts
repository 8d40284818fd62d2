import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import type { CompactionView } from "../../../src/contract/compaction";
import type { Evaluation } from "../../../src/contract/evaluation";
import type { Page } from "../../../src/contract/page";
import { smallChat, talk, words } from "../../workers/conversation";
import { type Chat, migrate, newChat, newTenant, readBody, request } from "../../workers/support";

beforeAll(migrate);

interface Problem {
  readonly type: string;
  readonly errors?: readonly { readonly field: string; readonly detail: string }[];
}

const PATH = "/v1/policies/evaluate";
const evaluate = (chat: Chat, body: object) => chat.tenant.call("POST", PATH, { session: chat.id, ...body });

/** Thirteen turns, compacted three times, each time before the next message. */
async function lived(): Promise<Chat> {
  const summaries = ["FIRST", "SECOND", "THIRD"].map((mark) => ({ text: words(60, mark) }));
  const { chat, frames } = await smallChat({ summaries });
  for (const [from, to] of [
    [1, 5],
    [6, 9],
    [10, 13],
  ] as const) {
    await talk(chat, from, to);
    await frames.until("compaction.completed");
  }
  await frames.leave();
  return chat;
}

describe("a session's log, played again over HTTP", () => {
  it("compacts under the session's own policy where the session did, sends the same tokens, and says another beside it", async () => {
    const chat = await lived();
    const really = (await chat.read<Page<CompactionView>>("/compactions")).data;
    const before = JSON.stringify([await chat.events(), await chat.describe(), (await chat.model.heard()).length]);

    const { current, proposed, recorded, ratio } = await readBody<Evaluation>(await evaluate(chat, { policy: "economy" }));

    expect(current.changes.map(({ range }) => range)).toEqual(really.map(({ range }) => range));
    expect(current.tokens.input).toBe(recorded.tokens.input);
    expect(current.record).toEqual(recorded.record);
    expect({ turns: current.turns, compactions: current.compactions, policy: current.policy }).toEqual({
      turns: 13,
      compactions: 3,
      policy: "oneclaw",
    });
    expect(proposed.policy).toBe("economy");
    expect(ratio).toBeCloseTo(proposed.cost.amount / current.cost.amount);
    expect(JSON.stringify([await chat.events(), await chat.describe(), (await chat.model.heard()).length])).toBe(before);
  });

  it("names the field that is wrong", async () => {
    const chat = await newChat();
    const readErrors = async (body: object) => (await readBody<Problem>(await evaluate(chat, body), 400)).errors;

    expect(await readErrors({ policy: "economy" })).toEqual([{ field: "session", detail: "has no messages yet" }]);
    expect(await readErrors({})).toMatchObject([{ field: "policy" }]);
    expect(await readErrors({ policy: { keep: { ratio: 0.99 } } })).toMatchObject([{ field: "policy.keep.ratio" }]);
    expect(await readErrors({ policy: "economy", last: 10_001 })).toMatchObject([{ field: "last" }]);
    expect(await readErrors({ policy: "economy", windows: 1 })).toEqual([{ field: "windows", detail: "unknown field" }]);
    expect(await readErrors({ policy: "economy", model: "none-such" })).toMatchObject([{ field: "model" }]);
  });

  it("is not to be had of another tenant's session, an erased one, or with a key that may not read", async () => {
    const chat = await newChat();
    await chat.say("Hello");
    const other = await newTenant();
    const keyed = await request("POST", `/v1/admin/tenants/${chat.tenant.id}/keys`, {
      key: env.ADMIN_KEY,
      body: { name: "writes", scopes: ["sessions:write"] },
    });
    const { key } = await readBody<{ key: string }>(keyed, 201);
    const body = { session: chat.id, policy: "economy" };

    expect((await other.call("POST", PATH, body)).status).toBe(404);
    expect((await request("POST", PATH, { key, body })).status).toBe(403);
    await readBody(await chat.call("DELETE"));
    expect((await evaluate(chat, { policy: "economy" })).status).toBe((await chat.call("GET")).status);
  });
});
