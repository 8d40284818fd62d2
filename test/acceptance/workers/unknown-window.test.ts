/** A model with an unknown window, under each kind of policy for it. */
import { beforeAll, describe, expect, it } from "vitest";
import type { ContextReport } from "../../../src/contract/context";
import { talk, words } from "../../workers/conversation";
import { type Chat, migrate, newChat, readBody } from "../../workers/support";

beforeAll(migrate);

const SUMMARY = words(60, "SUMMARY");
/** Setting the policy starts an epoch. */
const FIRST_EPOCH = 1;

/** A chat under `oneclaw` with this assumption for an unknown window. */
const newChatUnder = (unknown_window: null | number | "conservative"): Promise<Chat> =>
  newChat({ window: null, maxOutput: 100, policy: { preset: "oneclaw", unknown_window }, summaries: [{ text: SUMMARY }] });

const readContext = (chat: Chat): Promise<ContextReport> => chat.read("/context");
const listKinds = async (chat: Chat): Promise<ReadonlySet<string>> => new Set((await chat.model.heard()).map(({ kind }) => kind));

describe("a conversation with a model of unknown window", () => {
  it("is never compacted if the policy assumes no window", async () => {
    const chat = await newChatUnder(null);

    await talk(chat, 1, 14);

    expect(await chat.describe()).toMatchObject({ context_window: null, epoch: FIRST_EPOCH, compacted_summary: null });
    expect(await readContext(chat)).toMatchObject({ context_window: null, assumed_window: null, limit: null, compaction_first: null });
    expect(await listKinds(chat)).toEqual(new Set(["turn"]));
  });

  it("is compacted as if the model had 8,192 tokens if the policy says so", async () => {
    const chat = await newChatUnder(8_192);
    const frames = await chat.listen(0);

    await talk(chat, 1, 10);
    await frames.until("compaction.completed");

    expect(await readContext(chat)).toMatchObject({ context_window: null, assumed_window: 8_192, limit: 8_192 - 100 });
    expect(await chat.describe()).toMatchObject({ context_window: null, compacted_summary: SUMMARY });
    await frames.leave();
  });

  it.each([
    [128_000, 128_000],
    ["conservative", 32_768],
  ] as const)("has the room that the policy assumes: %s (Opal; balanced)", async (unknown_window, assumed_window) => {
    const chat = await newChatUnder(unknown_window);

    await talk(chat, 1, 14);

    const room = { assumed_window, limit: assumed_window - 100, compaction_first: null };
    expect(await readContext(chat)).toMatchObject({ context_window: null, ...room });
    expect(await chat.describe()).toMatchObject({ epoch: FIRST_EPOCH, compacted_summary: null });
  });

  it.each([
    [128_000, 128_000],
    ["conservative", 32_768],
  ] as const)("gets no request that is larger than that: %s", async (unknown_window, assumed_window) => {
    const chat = await newChatUnder(unknown_window);
    for (let turn = 0; turn < 4; turn++) {
      await chat.append(words(Math.ceil(assumed_window / 4), "LONG"));
      await chat.append("ok", "assistant");
    }

    await chat.say("and now?");

    const turns = (await chat.model.heard()).filter(({ kind }) => kind === "turn");
    expect(turns).toHaveLength(1);
    expect(turns[0]?.prompt_tokens).toBeLessThanOrEqual(assumed_window);
    expect((await chat.describe()).epoch).toBeGreaterThan(FIRST_EPOCH);
  });

  it("is warned of where models are shown", async () => {
    const chat = await newChat({ window: null });

    const one = await readBody<{ warnings: string[] }>(await chat.tenant.call("GET", `/v1/models/${chat.model.upstream}`));
    const all = await readBody<{ data: { id: string; warnings: string[] }[] }>(await chat.tenant.call("GET", "/v1/models"));

    expect(one).toMatchObject({ warnings: [expect.stringContaining("context_window is unknown")], sources: { context_window: "tenant" } });
    expect(all.data.find(({ id }) => id === chat.model.upstream)?.warnings).toEqual(one.warnings);
  });
});
