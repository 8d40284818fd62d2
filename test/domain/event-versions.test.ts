import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { knownEventTypes } from "../../src/domain/event-shapes";
import { findEventVersion, MalformedEventError, parseStoredEvent, toStoredRow, UnknownEventError } from "../../src/domain/event-versions";
import type { EventType } from "../../src/domain/events";
import { opened } from "../support/builders";

/** Rows as earlier builds wrote them. A file is never changed: `Type@version.json` has the stored event and its current form. */
const folder = join(import.meta.dirname, "..", "fixtures", "events");
const frozen = readdirSync(folder).map((name) => {
  const [, type = "", version = ""] = /^(\w+)@(\d+)\.json$/.exec(name) ?? [];
  const { stored, read } = JSON.parse(readFileSync(join(folder, name), "utf8")) as { readonly stored: object; readonly read: object };
  return { type, version: Number(version), stored, read };
});

describe("a stored event", () => {
  test.each(frozen)("$type of version $version is read as this build means it", ({ type, version, stored, read }) => {
    expect(parseStoredEvent({ seq: 3, at: 5, type, version, data: JSON.stringify(stored) })).toEqual({ ...read, type, seq: 3, at: 5 });
  });

  test("of every earlier version has its frozen row", () => {
    const earlier = [...knownEventTypes].flatMap((type) =>
      Array.from({ length: findEventVersion(type as EventType) - 1 }, (_, index) => `${type}@${index + 1}`),
    );
    expect(frozen.map(({ type, version }) => `${type}@${version}`).sort()).toEqual(earlier.sort());
  });

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
