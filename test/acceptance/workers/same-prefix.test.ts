import { beforeAll, describe, expect, it } from "vitest";
import type { CompactionView } from "../../../src/contract/compaction";
import type { Page } from "../../../src/contract/page";
import { type LongChat, smallChat, TURNS, talk, words } from "../../workers/conversation";
import { type Chat, migrate } from "../../workers/support";

beforeAll(migrate);

const good = { text: words(60, "SUMMARY") };
const look = { name: "look", description: "Looks", parameters: { type: "object" } };

/** Above the threshold, with a policy that reads from the provider's cache when that is cheaper. */
async function cached(...summaries: object[]): Promise<LongChat> {
  const policy = { preset: "oneclaw", summary: { mode: "cheaper" } } as const;
  const long = await smallChat({ policy, system: "Be brief.", tools: [look], summaries });
  await talk(long.chat, 1, TURNS);
  await long.frames.until("compaction.completed");
  return long;
}

const requests = async (chat: Chat, kind: string) => (await chat.model.heard()).filter((entry) => entry.kind === kind);

describe("a summary that is read from the provider's cache", () => {
  it("is asked for by the turn's own request up to the cut, byte for byte, and one message more", async () => {
    const { chat, frames } = await cached(good);

    const turn = (await requests(chat, "turn")).at(-1);
    const [asked] = await requests(chat, "compaction");

    const kept = asked?.body.messages.slice(0, -1) ?? [];
    expect(kept).toHaveLength(1 + 2 * (TURNS - 1));
    const bytes = JSON.stringify(kept).slice(0, -1);
    expect(asked?.raw).toContain(`"messages":${bytes},`);
    expect(turn?.raw).toContain(`"messages":${bytes},`);
    expect(asked?.body.tools).toEqual(turn?.body.tools);
    expect(asked?.body.messages.at(-1)?.role).toBe("user");
    const { data } = await chat.read<Page<CompactionView>>("/compactions");
    expect(data).toMatchObject([{ status: "completed", attempts: 1, receipt: { mode: "same_prefix" }, summary: good.text }]);
    await frames.leave();
  });

  it("and answered with a tool call is a failure, after which a transcript is sent", async () => {
    const { chat, frames } = await cached({ tool_calls: [{ id: "c", name: "look", arguments: "{}" }] }, good);

    const [first, second] = await requests(chat, "compaction");

    expect(first?.body.tools).toHaveLength(1);
    expect(second?.body.tools).toBeUndefined();
    expect(String(second?.body.messages.at(-1)?.content)).toMatch(/^<conversation>\nUser: question-1 /);
    const { data } = await chat.read<Page<CompactionView>>("/compactions");
    expect(data).toMatchObject([{ status: "completed", attempts: 2, receipt: { mode: "transcript" }, summary: good.text }]);
    await frames.leave();
  });
});
