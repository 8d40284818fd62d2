import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseStoredEvent, toStoredRow, UnknownEventError, versionOf } from "../../src/domain/event-versions";
import type { EventType } from "../../src/domain/events";
import { knownEventTypes } from "../../src/domain/evolve";
import { opened } from "../support/builders";

/** Rows as earlier builds wrote them. A file is never changed: `Type@version.json`, what was stored and what it reads as. */
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
      Array.from({ length: versionOf(type as EventType) - 1 }, (_, index) => `${type}@${index + 1}`),
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
});
