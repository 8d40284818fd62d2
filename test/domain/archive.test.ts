/** An archived session keeps everything. What people do in it brings it back, in the decision that does it. */
import { describe, expect, test } from "vitest";
import type { Command, ModelCall } from "../../src/domain/commands";
import type { Event } from "../../src/domain/events";
import { RUNNING } from "../context/planning";
import { draft, given, id, item, itemId, play, summaryPlan, turnId, viewing } from "../support/builders";

const archived = viewing([item(1, "user"), item(2, "assistant")], { archived_at: 50, updated_at: 40 });
const text = { body: id("bod", 1), bytes: 20, tokens: 5 };
const archive: Command = { type: "ArchiveSession", at: 100 };
const unarchive: Command = { type: "UnarchiveSession", at: 200 };
const message = { item: draft(3), rest: [], turn: turnId(1), tools: null };
const call: ModelCall = {
  turn: null,
  purpose: "title",
  model: "test-model",
  epoch: 0,
  up_to: 2,
  usage: null,
  estimate: 1,
  request_digest: null,
  outcome: "stop",
  ms: 1,
  lease: null,
};

const types = (events: readonly Event[]) => events.map(({ type }) => type);

describe("archiving", () => {
  test("changes the time of archiving and nothing else, and a repetition changes nothing", () => {
    const idle = viewing([item(1, "user"), item(2, "assistant")]);
    const { state, events } = play([archive, { ...archive, at: 300 }], idle);

    expect(events).toEqual([{ type: "SessionArchived" }]);
    expect(state).toEqual({ ...idle, seq: state.seq, archived_at: 100 });
  });

  test("is no use of the session, and to bring it back is one", () => {
    const idle = viewing([item(1, "user")]);
    expect(play([archive], idle).state.updated_at).toBe(idle.updated_at);
    expect(play([archive, unarchive, { ...unarchive, at: 300 }], idle).state).toMatchObject({ updated_at: 200, archived_at: null });
  });

  test.each([
    ["a turn runs", { turn: RUNNING }],
    ["a turn waits for tools", { turn: RUNNING && { ...RUNNING, phase: "awaiting_tools" as const } }],
    ["a message waits", { queue: [message] }],
  ])("is refused while %s", (_, busy) => {
    expect(play([archive], viewing([item(1, "user")], busy)).rejected).toBe("turn_running");
  });

  test("is refused while the session is copied from another one", () => {
    const forked: Event = { type: "SessionForked", from: id("ses", 2), position: 4 };
    expect(play([archive], given(forked)).rejected).toBe("fork_unfinished");
  });

  test("is refused for a session that is not there", () => {
    expect(play([archive]).rejected).toBe("session_not_found");
    expect(play([{ type: "EraseSession", at: 1 }, archive], given()).rejected).toBe("session_erased");
  });
});

describe("an archived session", () => {
  const submit: Command = {
    ...{ type: "SubmitMessage", at: 100, message, onBusy: "queue", incarnation: "a", queueLimit: 8 },
    ...{ partial: null, call: null },
  };
  const request = (trigger: "manual" | "threshold"): Command => ({
    ...{ type: "RequestCompaction", at: 100, compaction: id("cmp", 1) },
    ...{ trigger, options: null },
  });
  test.each<[string, Command]>([
    ["a message", submit],
    ["a message that starts no turn", { ...submit, message: { ...message, turn: null } }],
    ["another setting", { type: "ChangeSettings", at: 100, changes: { title: text } }],
    ["a pin", { type: "SetPins", at: 100, pins: [text] }],
    ["a compaction by hand", request("manual")],
  ])("comes back by %s, with the first event of the decision", (_, command) => {
    const { state, events } = play([command], archived);
    expect(types(events)[0]).toBe("SessionUnarchived");
    expect(events.length).toBeGreaterThan(1);
    expect(state).toMatchObject({ archived_at: null, updated_at: 100 });
  });

  test.each<[string, Command]>([
    ["a title that a model made", { type: "RecordTitle", at: 100, call, title: text, tries: 0 }],
    ["a compaction of its own", request("threshold")],
    ["the removal of old results", { type: "ExpireResults", at: 100, items: [{ item: itemId(1), position: 1, tokens: 3 }] }],
    [
      "a redaction",
      {
        ...{ type: "RedactMessage", at: 100, items: [{ item: itemId(1), position: 1, tokens: 3, isRedacted: false }] },
        ...{ quotes: [], texts: [], isTitleMadeFrom: false },
      },
    ],
    ["an answer about a summary", { type: "RecordAnswer", at: 100, call: { ...call, purpose: "comparison" } }],
  ])("stays archived under %s", (_, command) => {
    const { state, events, rejected } = play([command], archived);
    expect([rejected, events.length > 0, state.archived_at]).toEqual([null, true, 50]);
  });

  test("stays archived under a change that changes nothing, or is refused", () => {
    expect(play([{ type: "ChangeSettings", at: 100, changes: {} }], archived).events).toEqual([]);
    expect(play([{ type: "CancelQueued", at: 100, message: itemId(9) }], archived)).toMatchObject({
      events: [],
      rejected: "message_not_queued",
    });
  });

  test("stays archived while a compaction that was under way ends", () => {
    const lease: Command = {
      ...{ type: "LeaseCompaction", at: 100, compaction: id("cmp", 1), plan: { base_epoch: 0, ...summaryPlan(1, 2) } },
      ...{ expiresAt: 200, attemptLimit: 2, inline: null },
    };
    const fail: Command = {
      ...{ type: "FailCompaction", at: 110, compaction: id("cmp", 1), token: 1, failure: "timeout", attemptLimit: 1 },
      ...{ call: null, fallback: null, inside: null },
    };
    const { state, rejected, events } = play([request("threshold"), lease, fail], archived);
    expect([rejected, events.length > 2, state.archived_at]).toEqual([null, true, 50]);
  });

  test("is erased as any other", () => {
    expect(play([{ type: "EraseSession", at: 100 }], archived).state).toMatchObject({ lifecycle: "erased", archived_at: null });
  });
});
