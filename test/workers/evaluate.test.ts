import { beforeAll, describe, expect, it } from "vitest";
import type { CompactionView } from "../../src/app/control-views";
import type { Page } from "../../src/app/session-views";
import type { Evaluation } from "../../src/evaluate/evaluation";
import { smallChat, talk, words } from "./conversation";
import { bodyOf, type Chat, migrate } from "./support";

beforeAll(migrate);

const evaluate = (chat: Chat, body: object) => chat.tenant.call("POST", "/v1/policies/evaluate", { session: chat.id, ...body });

/** A session of 13 turns that was compacted three times under the deployment's preset for tests. */
async function lived() {
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

describe("a session's log under another policy", () => {
  it("compacts under the session's own policy exactly where the session did, and costs what the ledger says", async () => {
    const chat = await lived();
    const really = (await chat.read<Page<CompactionView>>("/compactions")).data;

    const { current, recorded } = await bodyOf<Evaluation>(await evaluate(chat, { policy: "economy" }));
    console.log(JSON.stringify({ current, recorded, really }, null, 1));

    expect(current.changes.map(({ range }) => range)).toEqual(really.map(({ range }) => range));
    expect(current.tokens.input).toBe(recorded.tokens.input);
  });
});
