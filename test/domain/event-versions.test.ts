import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { knownEventTypes } from "../../src/domain/event-shapes";
import {
  createEventParser,
  findEventVersion,
  MalformedEventError,
  parseStoredEvent,
  toStoredRow,
  UnknownEventError,
} from "../../src/domain/event-versions";
import type { Event, EventType } from "../../src/domain/events";
import { opened } from "../support/builders";

/**
 * Rows as earlier versions wrote them. A file is never changed: `Type@version.json` has the stored event and its current form.
 */
const folder = join(import.meta.dirname, "..", "fixtures", "events");
const frozen = readdirSync(folder).map((name) => {
  const [, type = "", version = ""] = /^(\w+)@(\d+)\.json$/.exec(name) ?? [];
  const { stored, read } = JSON.parse(readFileSync(join(folder, name), "utf8")) as { readonly stored: object; readonly read: object };
  return { type, version: Number(version), stored, read };
});

describe("a stored event", () => {
  test("of every earlier version has its frozen row, which is read as this build means it", () => {
    for (const { type, version, stored, read } of frozen)
      expect(parseStoredEvent({ seq: 3, at: 5, type, version, data: JSON.stringify(stored) })).toEqual({ ...read, type, seq: 3, at: 5 });

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
    ["a field that is missing", JSON.stringify({ tenant_id: "ten_1", session: "ses_1" })],
    ["a field of another kind", JSON.stringify({ tenant_id: "ten_1", session: 7, settings: {} })],
    ["null where there is always something", JSON.stringify({ tenant_id: "ten_1", session: "ses_1", settings: null })],
    ["a list in the place of an object", JSON.stringify({ tenant_id: "ten_1", session: "ses_1", settings: [] })],
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

/** A made-up history: a stop once named its turn `id` and no reason, then a reason in `why`, and has its fields of today in version 3. */
describe("an event type whose shape has changed twice", () => {
  const upcasters = {
    "TurnStopped@1": (data: Record<string, unknown>) => ({ ...data, why: "requested" }),
    "TurnStopped@2": ({ id, why, ...rest }: Record<string, unknown>) => ({ ...rest, turn: id, reason: why }),
  };
  const parse = createEventParser({ current: { TurnStopped: 3 }, upcasters });
  const read = (version: number, data: object) => parse({ seq: 3, at: 5, type: "TurnStopped", version, data: JSON.stringify(data) });

  test.each([
    [1, { id: "trn_1" }],
    [2, { id: "trn_1", why: "requested" }],
    [3, { turn: "trn_1", reason: "requested" }],
  ])("is read from version %d, one version at a time", (version, data) => {
    expect(read(version, data)).toEqual({ type: "TurnStopped", seq: 3, at: 5, turn: "trn_1", reason: "requested" });
  });

  test("is held to its current shape, whatever its row's version", () => {
    expect(() => read(1, {})).toThrow(new MalformedEventError("event 3 TurnStopped has no proper turn"));
    expect(() => read(3, { id: "trn_1", why: "requested" })).toThrow(new MalformedEventError("event 3 TurnStopped has no proper turn"));
  });

  test("is refused where an upcaster is missing, and from a newer version", () => {
    const gap = createEventParser({ current: { TurnStopped: 3 }, upcasters: { "TurnStopped@1": upcasters["TurnStopped@1"] } });

    expect(() => gap({ seq: 3, at: 5, type: "TurnStopped", version: 1, data: "{}" })).toThrow(UnknownEventError);
    expect(() => read(4, {})).toThrow(UnknownEventError);
  });

  test("does not change how other types are read", () => {
    const pinned: Event = { type: "PinsSet", pins: [] };
    expect(parse(toStoredRow(pinned, 1, 5))).toEqual({ ...pinned, seq: 1, at: 5 });
  });
});
