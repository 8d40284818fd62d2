import { describe, expect, test } from "vitest";
import { parseStoredEvent, toStoredRow, UnknownEventError } from "../../src/domain/event-versions";
import oldRows from "../fixtures/events-v1.json" with { type: "json" };
import { opened, summaryPlan } from "../support/builders";

describe("a stored event", () => {
  test("comes back as it was written", () => {
    expect(parseStoredEvent(toStoredRow(opened, 1, 5))).toEqual({ ...opened, seq: 1, at: 5 });
  });

  test("of an older version is brought up to this build's shape", () => {
    const [started, changed] = oldRows.map(parseStoredEvent);
    expect(started).toMatchObject({ ...summaryPlan(1, 4), merge: true, token: 1 });
    expect(changed).toMatchObject({
      ops: [
        { op: "summarize", from: 1, to: 4, keeps: [], generation: 0, mode: "transcript" },
        { op: "shorten", chars: 1_000, items: [{ position: 6, tokens: 1_000 }] },
      ],
      receipt: { tokens_before: 90, economy: null, rungs: [], attempts: 0 },
    });
  });

  test("of a type that this build does not know is refused, never skipped", () => {
    expect(() => parseStoredEvent({ seq: 7, at: 1, type: "MessageTeleported", version: 1, data: "{}" })).toThrow(UnknownEventError);
  });

  test("of a newer version than this build's is refused", () => {
    expect(() => parseStoredEvent({ ...toStoredRow(opened, 1, 5), version: 99 })).toThrow(UnknownEventError);
  });
});
