import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { CompactionView } from "../../src/contract/compaction";
import type { Page } from "../../src/contract/page";
import { deliver, holdQueue, smallChat, TURNS, talk, WINDOW, words } from "./conversation";
import { listTypes } from "./frames";
import { type Chat, migrate, newChat, readText } from "./support";

beforeAll(migrate);
afterEach(() => vi.restoreAllMocks());

const summary = (mark: string) => ({ text: words(60, mark) });
const lastRequest = async (chat: Chat) => (await chat.model.heard()).filter((entry) => entry.kind === "turn").at(-1);
const compactions = async (chat: Chat) => (await chat.read<Page<CompactionView>>("/compactions")).data;

describe("a conversation above 0.85 of its window", () => {
  it("is summarised in the background and said so on the live stream", async () => {
    const { chat, frames } = await smallChat({ summaries: [summary("SUMMARY")] });

    await talk(chat, 1, TURNS);
    const started = await frames.until("compaction.started");
    const completed = await frames.until("compaction.completed");

    expect(started.status).toBe("Optimizing conversation context…");
    expect(completed).toMatchObject({ compaction_id: started.compaction_id, did_compact: true, failure: null });
    expect(await compactions(chat)).toMatchObject([
      { id: started.compaction_id, trigger: "threshold", status: "completed", did_compact: true, attempts: 1, epoch: 1 },
    ]);
    await frames.leave();
  });

  it("shows the summary and its boundary in the session, and every message as it was", async () => {
    const { chat, frames } = await smallChat({ summaries: [summary("SUMMARY")] });
    await talk(chat, 1, TURNS);
    await frames.until("compaction.completed");

    const session = await chat.describe();
    const items = await chat.items();

    expect(session).toMatchObject({ epoch: 1, compacted_summary: words(60, "SUMMARY"), message_count: 2 * TURNS });
    expect(session.compact_boundary_timestamp).toBe(items[2 * (TURNS - 1)]?.created_at);
    expect(items.map(readText)).toEqual(
      Array.from({ length: TURNS }, (_, turn) => [words(300, `question-${turn + 1}`), words(400, `reply-${turn + 1}`)]).flat(),
    );
    await frames.leave();
  });

  it("is read by the model as the summary, what was kept, and the new message", async () => {
    const { chat, frames } = await smallChat({ system: "Be brief.", summaries: [summary("SUMMARY")] });
    await talk(chat, 1, TURNS);
    await frames.until("compaction.completed");

    await chat.say("and now?");

    const sent = await lastRequest(chat);
    expect(sent?.body.messages.map(({ role, content }) => `${role}: ${content}`)).toEqual([
      `system: Previous conversation summary:\n${words(60, "SUMMARY")}\n\n---\n\nBe brief.`,
      `user: ${words(300, `question-${TURNS}`)}`,
      `assistant: ${words(400, `reply-${TURNS}`)}`,
      "user: and now?",
    ]);
    await frames.leave();
  });

  it("is compacted again and again; each summary goes into the next, and nothing ever overflows", async () => {
    const { chat, frames } = await smallChat({ summaries: [summary("FIRST"), summary("SECOND"), summary("THIRD")] });

    await talk(chat, 1, 5);
    await frames.until("compaction.completed");
    await talk(chat, 6, 9);
    await frames.until("compaction.completed");
    await talk(chat, 10, 13);
    await frames.until("compaction.completed");

    expect(await chat.describe()).toMatchObject({ epoch: 3, compacted_summary: words(60, "THIRD"), message_count: 26 });
    const log = await chat.model.heard();
    expect(log.filter((entry) => entry.overflow)).toEqual([]);
    const prompts = log.filter((entry) => entry.kind === "compaction").map((entry) => String(entry.body.messages.at(-1)?.content));
    expect(prompts.map((prompt) => /FIRST|SECOND/.exec(prompt)?.[0] ?? null)).toEqual([null, "FIRST", "SECOND"]);
    expect((await chat.items()).map(readText)).toContain(words(300, "question-1"));
    await frames.leave();
  });
});

describe("a window that is not known", () => {
  it("is never compacted", async () => {
    const { chat, frames } = await smallChat({ window: null, limit: 1_000_000 });

    await talk(chat, 1, 12);
    await chat.say("and now?");

    expect(await compactions(chat)).toEqual([]);
    expect(await chat.describe()).toMatchObject({ epoch: 0, compacted_summary: null, context_window: null });
    expect((await lastRequest(chat))?.body.messages).toHaveLength(25);
    await frames.leave();
  });
});

describe("a message sent during a compaction", () => {
  it("is answered at once from the old view, and stands verbatim behind the summary", async () => {
    const { chat, frames } = await smallChat({ summaries: [{ gate: "summary", ...summary("SUMMARY") }] });
    await talk(chat, 1, TURNS);
    await frames.until("compaction.started");

    await chat.say("meanwhile");
    const during = await lastRequest(chat);
    await chat.model.open("summary");
    await frames.until("compaction.completed");
    await chat.say("afterwards");

    expect(during?.body.messages.map(({ content }) => content)).toContain(words(300, "question-1"));
    const after = (await lastRequest(chat))?.body.messages.map(({ content }) => content);
    expect(after?.[0]).toContain("SUMMARY");
    expect(after?.slice(-3)).toEqual(["meanwhile", "ok", "afterwards"]);
    await frames.leave();
  });

  it("keeps a summary that arrives while it is answered waiting for the end of its turn", async () => {
    const queue = holdQueue();
    const { chat, frames } = await smallChat({ summaries: [summary("SUMMARY")] });
    await talk(chat, 1, TURNS);
    const job = await queue.next();
    await chat.model.says({ gate: "reply", text: "in time" });
    const { turn_id } = await chat.post("meanwhile");
    await chat.model.heard(TURNS + 1);

    await deliver(job);
    const during = await chat.describe();
    await chat.model.open("reply");
    await frames.until("compaction.completed");

    expect(during).toMatchObject({ epoch: 0, compacted_summary: null });
    expect((await chat.turn(turn_id)).status).toBe("completed");
    expect(await chat.describe()).toMatchObject({ epoch: 1, compacted_summary: words(60, "SUMMARY") });
    await frames.leave();
  });
});

describe("the queue", () => {
  it("delivering the same job twice, at once or later, compacts once", async () => {
    const queue = holdQueue();
    const { chat, frames } = await smallChat({ summaries: [{ gate: "summary", ...summary("SUMMARY") }] });
    await talk(chat, 1, TURNS);
    const job = await queue.next();

    const first = deliver(job);
    await chat.model.heard(TURNS + 1);
    const second = await deliver(job);
    await chat.model.open("summary");
    await first;
    const done = await chat.events();
    const third = await deliver(job, job);

    expect(second.retryMessages).toHaveLength(1);
    expect(third.explicitAcks).toHaveLength(2);
    expect(await chat.events()).toEqual(done);
    expect(await chat.describe()).toMatchObject({ epoch: 1 });
    expect((await chat.model.heard()).filter((entry) => entry.kind === "compaction")).toHaveLength(1);
    await frames.leave();
  });

  it("delivering a job after a newer one changes nothing", async () => {
    const queue = holdQueue();
    const { chat, frames } = await smallChat({ summaries: [summary("FIRST"), summary("SECOND")] });
    await talk(chat, 1, 5);
    const older = await queue.next();
    await deliver(older);
    await talk(chat, 6, 9);
    await deliver(await queue.next());
    const before = await chat.events();

    const late = await deliver(older);

    expect(late.retryMessages).toEqual([]);
    expect(await chat.events()).toEqual(before);
    expect(await chat.describe()).toMatchObject({ epoch: 2, compacted_summary: words(60, "SECOND") });
    await frames.leave();
  });

  it.each([
    ["malformed", () => ({ session: "x" })],
    ["of a session that never was", (job: unknown) => ({ ...(job as object), session: "ses_01JD8Z3V6Q4N7R2T5W9X0Y1ABC" })],
    ["of another tenant", (job: unknown) => ({ ...(job as object), tenant: "ten_01JD8Z3V6Q4N7R2T5W9X0Y1ABC" })],
  ])("acknowledges a job that is %s, and touches nothing", async (_, change) => {
    const queue = holdQueue();
    const { chat, frames } = await smallChat();
    await talk(chat, 1, TURNS);
    const job = await queue.next();
    const before = await chat.events();

    const result = await deliver(change(job));

    expect(result.explicitAcks).toHaveLength(1);
    expect(await chat.events()).toEqual(before);
    await frames.leave();
  });
});

describe("the bounds of a compaction", () => {
  it("below 0.85 nothing is compacted", async () => {
    const { chat, frames } = await smallChat();

    await talk(chat, 1, TURNS - 1);
    await chat.say("and now?");

    expect((await chat.describe()).current_context_tokens.tokens).toBeLessThan(0.85 * WINDOW);
    expect(await compactions(chat)).toEqual([]);
    expect(listTypes(frames.seen)).not.toContain("compaction.started");
    await frames.leave();
  });

  it("a quarter of the window stays verbatim", async () => {
    const chat = await newChat({ window: 8_000, maxOutput: 100, summaries: [summary("SUMMARY")] });
    const frames = await chat.listen(0);
    for (let turn = 1; turn <= 10; turn++) await talk(chat, turn, turn);
    await frames.until("compaction.completed");

    await chat.say("and now?");

    const kept = (await lastRequest(chat))?.prompt_tokens ?? 0;
    expect(kept).toBeGreaterThan(0.12 * 8_000);
    expect(kept).toBeLessThan(0.3 * 8_000);
    await frames.leave();
  });
});
