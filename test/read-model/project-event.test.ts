import { describe, expect, test } from "vitest";
import { knownEventTypes } from "../../src/domain/event-shapes";
import type { Event, StoredEvent } from "../../src/domain/events";
import type { Part } from "../../src/domain/message";
import { MAX_ROW_CONTENT_BYTES, toMessageRow, toPreview } from "../../src/read-model/message-row";
import { projectEvent } from "../../src/read-model/project-event";
import { branchLine, LogBuilder, makeId, RECEIPT } from "./builders";

const countBytes = (text: string): number => new TextEncoder().encode(text).byteLength;
const last = (log: LogBuilder): StoredEvent => {
  const event = log.events.at(-1);
  if (!event) throw new Error("the log is empty");
  return event;
};
const project = (log: LogBuilder) => projectEvent(last(log), log.bodies);

describe("preview", () => {
  test("a text of 120 characters is shown whole", () => {
    const text = "長".repeat(120);
    expect(toPreview([{ type: "text", text }])).toBe(text);
  });

  test("a longer text is cut at 120 characters", () => {
    expect(toPreview([{ type: "text", text: "長".repeat(121) }])).toBe("長".repeat(120));
  });

  test("a character outside the basic plane is never cut in half", () => {
    const preview = toPreview([{ type: "text", text: `${"x".repeat(119)}🙂🙂` }]);
    expect(preview).toBe("x".repeat(119));
  });

  test("it is of the text alone: reasoning, media and calls do not show", () => {
    const parts: Part[] = [
      { type: "reasoning", text: "hm" },
      { type: "text", text: "one " },
      { type: "image", url: "https://example.org/a.png", media_type: "image/png" },
      { type: "text", text: "two" },
    ];
    expect(toPreview(parts)).toBe("one two");
  });

  test("a message without text has none", () => {
    expect(toPreview([{ type: "image", url: "https://example.org/a.png", media_type: "image/png" }])).toBeNull();
    expect(toPreview([{ type: "text", text: " \n" }])).toBeNull();
  });

  test("only what users and assistants say is previewed", () => {
    const log = new LogBuilder();
    const parts: Part[] = [{ type: "text", text: "You are kind." }];
    const row = (kind: "system" | "user" | "assistant") => toMessageRow(log.item(kind, parts), JSON.stringify(parts));
    expect([row("system"), row("user"), row("assistant")].map(({ preview }) => preview)).toEqual([null, "You are kind.", "You are kind."]);
  });
});

describe("content of a message's row", () => {
  const toRow = (parts: readonly Part[]) => toMessageRow(new LogBuilder().item("user", parts), JSON.stringify(parts));

  test("is the parts, word for word, while they fit a row", () => {
    const parts: Part[] = [{ type: "text", text: '你好 🙂 "quoted"\n' }];
    expect(toRow(parts)).toMatchObject({ content: JSON.stringify(parts), content_state: "full" });
  });

  test.each([
    ["Latin", "a"],
    ["Chinese", "汉"],
    ["emoji", "🙂"],
    ["control characters, which JSON makes six bytes long", "\u0001"],
  ])("is cut to fit a row and stays JSON without broken characters: %s", (_, character) => {
    const row = toRow([{ type: "text", text: character.repeat(2_000_000) }]);
    expect(countBytes(row.content)).toBeLessThanOrEqual(MAX_ROW_CONTENT_BYTES);
    expect(row.content_state).toBe("cut");
    const [part] = JSON.parse(row.content) as Part[];
    if (part?.type !== "text") throw new Error("the part is gone");
    expect(part.text.length).toBeGreaterThan(100_000);
    expect(part.text.isWellFormed()).toBe(true);
  });

  test("holds nothing that is only its provider's, and is whole without it", () => {
    const provider_metadata = { blob: { signature: "s".repeat(2_000_000) } };
    const row = toRow([
      { type: "reasoning", text: "", provider_metadata },
      { type: "text", text: "short", provider_metadata },
    ]);
    expect(row).toMatchObject({ content: '[{"type":"text","text":"short"}]', content_state: "full" });
  });

  test("is empty and marked when the body was erased or is no list of parts", () => {
    const item = new LogBuilder().item("user", []);
    const missing = { content: "[]", content_state: "missing", preview: null };
    expect(toMessageRow(item, undefined)).toMatchObject(missing);
    expect(toMessageRow(item, "{")).toMatchObject(missing);
    expect(toMessageRow(item, "{}")).toMatchObject(missing);
  });
});

describe("events as row operations", () => {
  test("a call is the assistant's and a result the tool's", () => {
    const log = new LogBuilder().open();
    const tool = { execution: makeId("exe", 1), call_id: "call_1", name: "search" };
    const call: Part = { type: "tool_call", call_id: "call_1", name: "search", arguments: "{}" };
    const result: Part = { type: "tool_result", call_id: "call_1", name: "search", output: "ok", is_error: false };
    const turn = makeId("trn", 1);
    log.event({ type: "ToolCalled", turn, item: { ...log.item("tool_call", [call]), tool, turn } });
    log.event({ type: "ToolResultRecorded", turn, item: { ...log.item("tool_result", [result]), tool, turn }, incarnation: "a" });
    const rows = log.events
      .flatMap((event) => projectEvent(event, log.bodies))
      .flatMap((op) => (op.op === "insert_message" ? [op.row] : []));
    expect(rows.map(({ kind, role, execution_id, turn_id }) => ({ kind, role, execution_id, turn_id }))).toEqual([
      { kind: "tool_call", role: "assistant", execution_id: tool.execution, turn_id: turn },
      { kind: "tool_result", role: "tool", execution_id: tool.execution, turn_id: turn },
    ]);
  });

  test("a turn that runs again brings no second message", () => {
    const log = new LogBuilder().open();
    const started: Event = {
      type: "TurnStarted",
      turn: makeId("trn", 1),
      incarnation: "b",
      attempt: 2,
      item: null,
      tools: null,
      retry_of: null,
    };
    expect(project(log.event(started))).toEqual([]);
  });

  test("settings that no list shows change no row of their own", () => {
    const log = new LogBuilder().open();
    expect(project(log.event({ type: "SettingsChanged", changes: { system: null } }))).toEqual([]);
  });

  test("labels are the texts that their references name; metadata replaces all entries", () => {
    const log = new LogBuilder().open();
    const [metadata, end_user] = [log.text('{"颜色":"红","b":""}'), log.text("user-1")];
    const changes = { end_user: "user-1", metadata: '{"颜色":"红","b":""}' };
    expect(project(log.event({ type: "SettingsChanged", changes: { metadata, end_user } }))).toMatchObject([
      { op: "change_session", changes },
      { op: "set_metadata", entries: Object.entries({ 颜色: "红", b: "" }) },
    ]);
    expect(project(log.event({ type: "SettingsChanged", changes: { end_user: null, metadata: null } }))).toMatchObject([
      { changes: { end_user: null, metadata: "{}" } },
      { op: "set_metadata", entries: [] },
    ]);
  });

  test("metadata that was replaced before it was projected is empty until the event that replaced it", () => {
    const log = new LogBuilder().open();
    const metadata = log.text('{"a":"b"}');
    log.bodies.delete(metadata.body);
    expect(project(log.event({ type: "SettingsChanged", changes: { metadata } }))).toMatchObject([
      { changes: { metadata: "{}" } },
      { op: "set_metadata", entries: [] },
    ]);
  });

  test("a title is the text that its reference names, and null when it was removed", () => {
    const log = new LogBuilder().open();
    const title = log.text("旅行 ✈️");
    expect(project(log.event({ type: "SettingsChanged", changes: { title } }))).toMatchObject([
      { changes: { title: "旅行 ✈️" } },
      { op: "index_text", position: 0, terms: expect.stringContaining("旅") },
    ]);
    expect(project(log.event({ type: "SettingsChanged", changes: { title: null } }))).toMatchObject([
      { changes: { title: null } },
      { op: "index_text", position: 0, terms: "" },
    ]);
  });

  test("an epoch change keeps the number of the items that came back, not their metas", () => {
    const log = new LogBuilder().open();
    const items = [log.item("user", []), log.item("assistant", [])];
    const ops = project(log.epoch({ trigger: "manual", ops: [{ op: "reset", to: 2, overlays: [], items, reduced: [] }] }));
    expect(ops.map((op) => (op.op === "change_epoch" ? JSON.parse(op.row.ops) : op.op))).toEqual([
      "hide_overlays",
      [{ op: "reset", to: 2, overlays: [], items: 2, reduced: [] }],
    ]);
  });

  test("a revert marks the compaction that it takes back, and is a change of its own", () => {
    const log = new LogBuilder().open();
    const [taken, by] = [makeId("cmp", 1), makeId("cmp", 2)];
    const op = { op: "revert", compaction: taken, to: 0, overlays: [], items: [], reduced: [] } as const;
    const ops = project(log.epoch({ trigger: "manual", compaction: by, ops: [op] }));
    expect(ops.slice(2)).toMatchObject([
      { op: "revert_compaction", id: taken },
      { op: "change_epoch", row: { id: by, status: "completed", did_compact: 0 } },
    ]);
  });

  test("a trim after a failed summary is not a compaction that succeeded", () => {
    const log = new LogBuilder().open();
    const ops = project(
      log.epoch({
        trigger: "fallback",
        compaction: makeId("cmp", 1),
        ops: [{ op: "drop", overlay: makeId("ovl", 1), replaces: [], from: 1, to: 4, items: 4 }],
      }),
    );
    const row = { id: makeId("cmp", 1), status: "failed", did_compact: 0, summary: null, receipt: JSON.stringify(RECEIPT) };
    expect(ops.at(-1)).toMatchObject({ op: "change_epoch", row });
  });

  test("nor is a note that takes the place of the summary, which stands in the view all the same", () => {
    const log = new LogBuilder().open();
    const overlay = makeId("ovl", 1);
    const note = {
      op: "summarize" as const,
      overlay,
      from: 1,
      to: 4,
      replaces: [],
      keeps: [],
      tokens: 9,
      bytes: 30,
      items: 4,
      boundary_timestamp: 5,
      generation: 0,
      mode: "transcript" as const,
      read: { ranges: [], overlays: [] },
    };
    const ops = project(log.epoch({ trigger: "fallback", compaction: makeId("cmp", 1), ops: [note] }));
    expect(ops[0]).toMatchObject({ op: "insert_overlay", row: { id: overlay, kind: "summary" } });
    expect(ops.at(-1)).toMatchObject({ op: "change_epoch", row: { status: "failed", did_compact: 0 } });
  });

  test("there is no known event that the projection refuses", () => {
    const log = new LogBuilder();
    // Each type once, with only the fields that the projection reads.
    const item = log.item("user", []);
    const bare = {
      item: null,
      items: [],
      ops: [],
      receipt: RECEIPT,
      changes: {},
      settings: { title: null },
      usage: null,
      line: branchLine([]),
    };
    for (const type of knownEventTypes) {
      const needsItem = ["AssistantReplied", "ToolCalled", "ToolResultRecorded"].includes(type);
      const event = { ...bare, type, seq: 1, at: 1, ...(needsItem && { item }) } as unknown as StoredEvent;
      expect(() => projectEvent(event, log.bodies), type).not.toThrow();
    }
  });
});
