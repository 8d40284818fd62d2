import { describe, expect, test } from "vitest";
import { listEventBodies } from "../../src/domain/event-bodies";
import type { Event, StoredEvent } from "../../src/domain/events";
import type { BodyId } from "../../src/domain/ids";
import { projectEvent } from "../../src/read-model/project-event";
import { branchLine, LogBuilder, makeId, modelCall } from "../read-model/builders";

/** A log with each kind of event that has content, and some that have none. */
function everyContent(): LogBuilder {
  const log = new LogBuilder().open({ title: "A title" });
  const turn = makeId("trn", 1);
  const text = (words: string) => [{ type: "text" as const, text: words }];
  const call = { type: "tool_call" as const, call_id: "c", name: "search", arguments: "{}" };
  const result = { type: "tool_result" as const, call_id: "c", name: "search", output: "found", is_error: false };
  const start = { type: "TurnStarted", turn, incarnation: "i", attempt: 1, tools: null, retry_of: null } as const;
  return log
    .event({ type: "SettingsChanged", changes: { title: log.text("Another"), system: log.text("Be kind.") } })
    .says("user", "one")
    .event({ ...start, item: log.item("user", text("two")) })
    .event({ ...start, item: null, attempt: 2 })
    .event({ type: "ToolCalled", turn, item: log.item("tool_call", [call]) })
    .event({ type: "ToolResultRecorded", turn, item: log.item("tool_result", [result]), incarnation: "i" })
    .event({ type: "AssistantReplied", turn, item: log.item("assistant", text("three")) })
    .event({ type: "PinsSet", pins: [log.text("pin")] })
    .event(modelCall())
    .summary(1, "They spoke.", { from: 1, to: 1 });
}

/** The bodies that the projection of an event requested. */
function askedBy(event: StoredEvent, bodies: ReadonlyMap<BodyId, string>): Set<BodyId> {
  const asked = new Set<BodyId>();
  const watched = new Map(bodies);
  watched.get = (id) => {
    asked.add(id);
    return bodies.get(id);
  };
  projectEvent(event, watched);
  return asked;
}

describe("the bodies that an event introduces", () => {
  test("are all that its projection asks for, so that who hands on an event knows what goes with it", () => {
    const { events, bodies } = everyContent();

    for (const event of events) {
      const introduced = new Set<BodyId>(listEventBodies(event));
      expect([event.type, [...askedBy(event, bodies)].filter((id) => !introduced.has(id))]).toEqual([event.type, []]);
    }
  });

  test("are each introduced by one event", () => {
    const { events, bodies } = everyContent();

    const all = events.flatMap(listEventBodies);

    expect(new Set(all).size).toBe(all.length);
    expect(new Set(all)).toEqual(new Set(bodies.keys()));
  });

  test("are none where an event only names what was there", () => {
    const events: Event[] = [
      { type: "MessageRedacted", item: makeId("msg", 1), position: 1, texts: [], tokens: 0 },
      { type: "HistoryRewound", to: 1, items: [], line: branchLine([]) },
      { type: "SessionErased" },
    ];
    expect(events.flatMap(listEventBodies)).toEqual([]);
  });
});
