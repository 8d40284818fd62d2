import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { CompactionView } from "../../../src/contract/compaction";
import type { Page } from "../../../src/contract/page";
import type { RemoteReply } from "../../support/stand-in-setup";
import { ringNow } from "../../workers/alarms";
import { advanceClock, holdTimers } from "../../workers/clock";
import { deliver, holdQueue, type LongChat, smallChat, TURNS, talk, words } from "../../workers/conversation";
import { listTypes } from "../../workers/frames";
import { type Chat, migrate, readText } from "../../workers/support";

beforeAll(migrate);
afterEach(() => vi.restoreAllMocks());

/** The policy's timeout of one summariser call, and the time by which a lease exceeds it. */
const SUMMARY_TIMEOUT_MS = 15_000;
const LEASE_MS = SUMMARY_TIMEOUT_MS + 15_000;

const good = { text: words(60, "SUMMARY") };
const broken: RemoteReply = { status: 503, error: { message: "overloaded" } };
const compactions = async (chat: Chat) => (await chat.read<Page<CompactionView>>("/compactions")).data;
const summaryCalls = async (chat: Chat) => (await chat.model.heard()).filter((entry) => entry.kind === "compaction");

async function failing(...summaries: RemoteReply[]): Promise<LongChat> {
  const long = await smallChat({ summaries });
  await talk(long.chat, 1, TURNS);
  return long;
}

/** The oldest groups left the view, the client was notified, and nothing is lost. */
async function expectTrimmed({ chat, frames }: LongChat, failure: string): Promise<void> {
  const notice = await frames.until("notice");
  expect(notice).toMatchObject({ code: "history_trimmed", text: "Conversation history has been automatically trimmed" });
  expect(frames.seen.filter((frame) => frame.type === "compaction.completed")).toMatchObject([{ did_compact: false, failure }]);
  expect(await compactions(chat)).toMatchObject([{ status: "failed", did_compact: false, failure, summary: null }]);
  expect(await chat.describe()).toMatchObject({ epoch: 1, compacted_summary: null, compact_boundary_timestamp: null });

  await chat.say("and now?");

  const sent = (await chat.model.heard()).filter((entry) => entry.kind === "turn").at(-1);
  const contents = sent?.body.messages.map(({ content }) => content) ?? [];
  expect(contents).not.toContain(words(300, "question-1"));
  expect(contents.slice(1)).toEqual([words(300, `question-${TURNS}`), words(400, `reply-${TURNS}`), "and now?"]);
  expect((await chat.items()).map(readText)).toContain(words(300, "question-1"));
  await frames.leave();
}

describe("a summariser that fails once", () => {
  it.each<[string, RemoteReply]>([
    ["with an error", broken],
    ["with nothing", { text: "" }],
    ["cut by length", { text: words(60, "CUT"), finish: "length" }],
    ["broken off", { text: words(60, "BROKEN"), cutAfterChunks: 3 }],
    ["by calling a tool", { tool_calls: [{ id: "c", name: "look", arguments: "{}" }] }],
    ["longer than what it replaces", { text: words(2_800, "LONG") }],
  ])("%s is asked once more, in silence, and its summary is taken", async (_, first) => {
    const { chat, frames } = await failing(first, good);

    await frames.until("compaction.completed", ({ did_compact }) => did_compact);

    expect(listTypes(frames.seen).filter((type) => /^compaction|^notice/.test(type))).toEqual([
      "compaction.started",
      "compaction.completed",
    ]);
    expect(await compactions(chat)).toMatchObject([{ status: "completed", attempts: 2, failure: null }]);
    expect(await chat.describe()).toMatchObject({ epoch: 1, compacted_summary: good.text });
    await frames.leave();
  });
});

describe("a summariser that fails twice", () => {
  it.each<[string, RemoteReply, string]>([
    ["with an error", broken, "unavailable"],
    ["with nothing", { text: "" }, "empty"],
    ["cut by length", { text: words(60, "CUT"), finish: "length" }, "cut_off"],
    ["as too long for the window", { status: 400, error: { code: "context_length_exceeded", message: "too long" } }, "overflow"],
  ])("%s: the oldest groups leave the view, the client is notified, and the originals stay", async (_, reply, failure) => {
    const long = await failing(reply, reply);

    await expectTrimmed(long, failure);

    expect(await summaryCalls(long.chat)).toHaveLength(2);
  });

  it("does not stop the conversation: the next compaction reads from the first message on, part by part", async () => {
    const { chat, frames } = await failing(broken, broken, { text: words(60, "PART") }, good);
    await frames.until("notice");

    await talk(chat, TURNS + 1, TURNS + 4);
    await frames.until("compaction.completed", ({ did_compact }) => did_compact);

    expect(await chat.describe()).toMatchObject({ epoch: 2, compacted_summary: good.text });
    const prompts = (await summaryCalls(chat)).slice(2).map((entry) => String(entry.body.messages.at(-1)?.content));
    expect(prompts).toHaveLength(2);
    expect(prompts[0]).toMatch(/^<conversation>\nUser: question-1 /);
    expect(prompts[1]).toContain(`<summary>\n${words(60, "PART")}\n</summary>`);
    expect(prompts.join("")).toMatch(/question-8 .* reply-8 /s);
    await frames.leave();
  });
});

describe("a note in the place of a summary that failed for good", () => {
  it("is reported as a trimmed conversation, and not as a compaction", async () => {
    const { chat, frames } = await smallChat({ policy: { preset: "oneclaw", on_failure: "note" }, summaries: [broken, broken] });
    await talk(chat, 1, TURNS);
    await frames.until("notice");

    expect(listTypes(frames.seen).filter((type) => /^compaction|^notice/.test(type))).toEqual([
      "compaction.started",
      "compaction.completed",
      "notice",
    ]);
    expect(frames.seen).toContainEqual(
      expect.objectContaining({ type: "compaction.completed", did_compact: false, failure: "unavailable" }),
    );
    expect(await compactions(chat)).toMatchObject([{ status: "failed", did_compact: false, failure: "unavailable" }]);
    expect(await chat.describe()).toMatchObject({ compacted_summary: expect.stringMatching(/^\[Compacted \d+ messages: /) });
    await frames.leave();
  });
});

// Timers are held only after the reader of frames has set its own, which has the same duration and belongs to the
// object.
describe("a summariser that hangs", () => {
  it("is given up after the policy's time, asked once more, and given up again: the fallback follows", async () => {
    const queue = holdQueue();
    const long = await failing({ hang: true }, { hang: true });
    const timers = holdTimers(SUMMARY_TIMEOUT_MS);
    const delivered = deliver(await queue.next());

    for (const attempt of [1, 2]) {
      await long.chat.model.heard(TURNS + attempt);
      timers.ring();
      await long.chat.model.heard(TURNS + attempt, attempt);
    }

    expect((await delivered).explicitAcks).toHaveLength(1);
    await expectTrimmed(long, "timeout");
  });

  it("does not block messages meanwhile", async () => {
    const queue = holdQueue();
    const { chat, frames } = await failing({ hang: true }, good);
    const timers = holdTimers(SUMMARY_TIMEOUT_MS);
    const delivered = deliver(await queue.next());
    await chat.model.heard(TURNS + 1);

    expect((await chat.say("meanwhile")).status).toBe("completed");
    timers.ring();
    await delivered;

    expect(await chat.describe()).toMatchObject({ epoch: 1, compacted_summary: good.text });
    await frames.leave();
  });
});

describe("a worker that dies with its lease", () => {
  async function leased() {
    const queue = holdQueue();
    const long = await failing(good);
    const job = await queue.next();
    const lease = await long.chat.api.leaseCompaction(long.chat.caller, job.compaction);
    if (!lease.ok || lease.value.kind !== "leased") throw new Error("no lease");
    return { ...long, queue, job, token: lease.value.token };
  }

  it("keeps others off until the lease is over; then the next one takes it", async () => {
    const { chat, frames, job } = await leased();

    const early = await deliver(job);
    advanceClock(LEASE_MS);
    const late = await deliver(job);

    expect(early.retryMessages).toHaveLength(1);
    expect(late.explicitAcks).toHaveLength(1);
    expect(await chat.describe()).toMatchObject({ epoch: 1, compacted_summary: good.text });
    expect(await compactions(chat)).toMatchObject([{ attempts: 2 }]);
    await frames.leave();
  });

  it("and comes back late with its summary: it decides to nothing, and is in the ledger once", async () => {
    const { chat, frames, job, token } = await leased();
    advanceClock(LEASE_MS);
    await deliver(job);
    const before = await chat.events();

    const usage = { input: 900, output: 60, cached: 0, reasoning: 0 };
    const late = { ok: true, text: words(60, "LATE"), finish: "stop", model: chat.model.upstream, estimate: 800, usage, ms: 1 } as const;
    const input = { compaction: job.compaction, token, outcome: late, part: 0, next: null };
    const recorded = await chat.api.recordCompaction(chat.caller, input);
    await chat.api.recordCompaction(chat.caller, input);

    expect(recorded).toEqual({ ok: true, value: { next: "done" } });
    expect((await chat.events()).slice(before.length)).toMatchObject([
      { type: "ModelCallFinished", purpose: "compaction", outcome: "stale", usage, lease: token },
    ]);
    expect(await chat.describe()).toMatchObject({ compacted_summary: good.text });
    await frames.leave();
  });

  it("twice brings the fallback, by the watchdog's wake-up alone", async () => {
    const { chat, frames, queue, job } = await leased();
    advanceClock(LEASE_MS);
    await chat.api.leaseCompaction(chat.caller, job.compaction);
    advanceClock(LEASE_MS);

    await ringNow(chat.stub);
    await deliver(await queue.next());

    await expectTrimmed({ chat, frames }, "lease_expired");
  });
});

describe("a wake-up that the queue lost", () => {
  it("is sent again by the watchdog", async () => {
    const queue = holdQueue();
    const { chat, frames } = await failing(good);
    await queue.next();

    advanceClock(60_000);
    await ringNow(chat.stub);
    await deliver(await queue.next());

    expect(await chat.describe()).toMatchObject({ epoch: 1, compacted_summary: good.text });
    await frames.leave();
  });
});
