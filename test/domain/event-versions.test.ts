import { describe, expect, test } from "vitest";
import { parseStoredEvent, toStoredRow, UnknownEventError } from "../../src/domain/event-versions";
import { opened } from "../support/builders";

describe("a stored event", () => {
  test("comes back as it was written", () => {
    expect(parseStoredEvent(toStoredRow(opened, 1, 5))).toEqual({ ...opened, seq: 1, at: 5 });
  });

  test("of a type that this build does not know is refused, never skipped", () => {
    expect(() => parseStoredEvent({ seq: 7, at: 1, type: "MessageTeleported", version: 1, data: "{}" })).toThrow(UnknownEventError);
  });

  test("of a newer version than this build's is refused", () => {
    expect(() => parseStoredEvent({ ...toStoredRow(opened, 1, 5), version: 99 })).toThrow(UnknownEventError);
  });
});
