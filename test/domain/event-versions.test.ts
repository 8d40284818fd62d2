import { describe, expect, test } from "vitest";
import { MalformedEventError, parseStoredEvent, toStoredRow, UnknownEventError } from "../../src/domain/event-versions";
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

  test.each([
    ["text that is no JSON", "{"],
    ["JSON that is no object", "[]"],
    ["null", "null"],
    ["a field that is missing", JSON.stringify({ tenant: "ten_1", session: "ses_1" })],
    ["a field of another kind", JSON.stringify({ tenant: "ten_1", session: 7, settings: {} })],
    ["null where there is always something", JSON.stringify({ tenant: "ten_1", session: "ses_1", settings: null })],
    ["a list in the place of an object", JSON.stringify({ tenant: "ten_1", session: "ses_1", settings: [] })],
  ])("that is %s is refused, and not quoted", (_, data) => {
    const parse = () => parseStoredEvent({ ...toStoredRow(opened, 3, 5), data });

    expect(parse).toThrow(MalformedEventError);
    expect(parse).toThrow(/^event 3 SessionOpened (is no JSON object|has no proper (session|settings))$/);
  });

  test("may hold null where its type says so", () => {
    const stopped = { type: "QueuedMessageCancelled", message: "msg_1", turn: null };
    const row = { seq: 2, at: 5, type: stopped.type, version: 1, data: JSON.stringify({ message: stopped.message, turn: null }) };

    expect(parseStoredEvent(row)).toMatchObject(stopped);
    expect(() => parseStoredEvent({ ...row, data: JSON.stringify({ message: null, turn: null }) })).toThrow(MalformedEventError);
  });
});
