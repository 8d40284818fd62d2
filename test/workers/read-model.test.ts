import { applyD1Migrations, type D1Migration } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Projection } from "../../src/app/ports";
import type { Event } from "../../src/domain/events";
import type { SessionId } from "../../src/domain/ids";
import { createProjection } from "../../src/read-model/writer";
import { branchLine, LogBuilder, makeId, modelCall, START } from "../read-model/builders";
import { readRows } from "../read-model/rows";
import { summaryPlan } from "../support/builders";

declare global {
  namespace Cloudflare {
    interface Env {
      readonly DB: D1Database;
      readonly MIGRATIONS: D1Migration[];
    }
  }
}

const readLogRows = (log: LogBuilder) => readRows(env.DB, log);
const readSession = async (log: LogBuilder) => (await readLogRows(log)).sessions?.[log.session];
const readMessages = async (log: LogBuilder) => Object.values((await readLogRows(log)).messages ?? {});
const readCompaction = async (log: LogBuilder, id: string) => (await readLogRows(log)).compactions?.[id];

let sessions = 0;
let session: SessionId;
let projection: Projection;

beforeAll(() => applyD1Migrations(env.DB, env.MIGRATIONS));
beforeEach(() => {
  session = makeId("ses", ++sessions);
  projection = createProjection(env.DB);
});

describe("the rows of a session", () => {
  it("message_count counts what people and the model said, not calls and results", async () => {
    const log = new LogBuilder(session).open().says("system", "s").says("user", "u");
    const turn = makeId("trn", 1);
    const call = { type: "tool_call" as const, call_id: "c", name: "search", arguments: "{}" };
    const result = { type: "tool_result" as const, call_id: "c", name: "search", output: "found", is_error: false };
    log.event({ type: "ToolCalled", turn, item: log.item("tool_call", [call]) });
    log.event({ type: "ToolResultRecorded", turn, item: log.item("tool_result", [result]), incarnation: "a" });
    log.says("assistant", "a");

    await projection.write(log.batch());

    expect(await readSession(log)).toMatchObject({ message_count: 3, last_message_preview: "a", last_seq: 6 });
    expect((await readMessages(log)).map((row) => row.role)).toEqual(["system", "user", "assistant", "tool", "assistant"]);
  });

  it("the preview is of the last text of a user or assistant, whatever comes after it", async () => {
    const log = new LogBuilder(session)
      .open()
      .says("user", `${"汉".repeat(119)}🙂!`)
      .says("system", "later");
    const image = { type: "image" as const, url: "https://example.org/a.png", media_type: "image/png" };
    log.event({ type: "MessagesAppended", items: [log.item("user", [image])], dequeued: [] });

    await projection.write(log.batch());

    expect(await readSession(log)).toMatchObject({ last_message_preview: "汉".repeat(119), message_count: 3 });
  });

  it("titles, models and policies follow the settings", async () => {
    const log = new LogBuilder(session).open({ title: "first" });
    log.event({ type: "SettingsChanged", changes: { model: "o1", title: log.text("二つ目 🗻") } });

    await projection.write(log.batch());

    expect(await readSession(log)).toMatchObject({ title: "二つ目 🗻", model: "o1", policy: "oneclaw", updated_at: START + 2000 });
  });

  it("usage has one row a model call, and null figures where the provider reported none", async () => {
    const log = new LogBuilder(session)
      .open()
      .event(modelCall())
      .event(modelCall({ usage: null, outcome: "timeout" }))
      .event(modelCall({ usage: { input: 11, output: 7, cached: 3, reasoning: 2, cache_write: 5 }, cost: 0.000123 }));

    await projection.write(log.batch());

    const { usage = {} } = await readLogRows(log);
    expect(usage["2"]).toMatchObject({ input: 11, output: 7, cached: 3, reasoning: 2, estimate: 12, outcome: "stop", ms: 250 });
    expect(usage["3"]).toMatchObject({ input: null, output: null, outcome: "timeout", cost: null });
    expect(usage["4"]).toMatchObject({ cache_write: 5, cost: 0.000123 });
  });

  it("a redacted message loses its content and its preview, and is still counted", async () => {
    const log = new LogBuilder(session).open().says("user", "first").says("user", "secret");
    log.event({ type: "MessageRedacted", item: makeId("msg", 2), position: 2, texts: [], tokens: 0 });

    await projection.write(log.batch());

    expect(await readSession(log)).toMatchObject({ last_message_preview: "first", message_count: 2 });
    expect((await readMessages(log))[1]).toMatchObject({ content: "[]", content_state: "redacted", preview: null });
  });

  it("what a rewind left behind is kept, marked, and neither counted nor previewed", async () => {
    const log = new LogBuilder(session)
      .open()
      .says("user", "one")
      .says("assistant", "two")
      .event({ type: "HistoryRewound", to: 1, items: [], line: branchLine([{ from: 2, to: 2 }]) });
    log.says("assistant", "other");

    await projection.write(log.batch());

    expect(await readSession(log)).toMatchObject({ message_count: 2, last_message_preview: "other" });
    expect((await readMessages(log)).map((row) => row.superseded)).toEqual([0, 1, 0]);
  });
});

describe("summaries", () => {
  it("the compacted summary is the chain of summaries in the order of what they cover", async () => {
    const log = new LogBuilder(session).open().says("user", "a").says("user", "b").summary(1, "第一", { from: 1, to: 1 });
    log.summary(2, "second 🙂", { from: 2, to: 2 });

    await projection.write(log.batch());

    const row = { compacted_summary: "第一\n\nsecond 🙂", compact_boundary_timestamp: START + 3, overlay_count: 2 };
    expect(await readSession(log)).toMatchObject(row);
  });

  it("a summary that replaces others stands alone, and gives way to them again when it is reverted", async () => {
    const log = new LogBuilder(session).open().summary(1, "one", { from: 1, to: 1 }).summary(2, "two", { from: 2, to: 2 });
    log.summary(3, "both", { from: 1, to: 2, replaces: [1, 2] });
    await projection.write(log.batch());
    expect(await readSession(log)).toMatchObject({ compacted_summary: "both", overlay_count: 1 });

    const restored = [1, 2].map((n) => ({
      id: makeId("ovl", n),
      kind: "summary" as const,
      from: n,
      to: n,
      items: 1,
      tokens: 5,
      boundary_timestamp: 1,
      generation: 0,
    }));
    log.epoch({
      trigger: "manual",
      ops: [{ op: "revert", compaction: makeId("cmp", 9), to: 2, overlays: restored, items: [], reduced: [] }],
    });
    await projection.write(log.batch(5));

    expect(await readSession(log)).toMatchObject({
      compacted_summary: "one\n\ntwo",
      overlay_count: 2,
      compact_boundary_timestamp: START + 3,
    });
  });

  it("a reset leaves no summary and no boundary", async () => {
    const log = new LogBuilder(session).open().summary(1, "one", { from: 1, to: 1 });
    log.epoch({ trigger: "manual", ops: [{ op: "reset", to: 1, overlays: [], items: [], reduced: [] }] });

    await projection.write(log.batch());

    expect(await readSession(log)).toMatchObject({ compacted_summary: null, compact_boundary_timestamp: null, overlay_count: 0 });
  });

  it("what was dropped stands in no summary, but the session shows that something left the view", async () => {
    const log = new LogBuilder(session).open().says("user", "a");
    log.epoch({ trigger: "guard", ops: [{ op: "drop", overlay: makeId("ovl", 1), replaces: [], from: 1, to: 1, items: 1 }] });

    await projection.write(log.batch());

    expect(await readSession(log)).toMatchObject({ compacted_summary: null, compact_boundary_timestamp: null, overlay_count: 1 });
  });
});

describe("compactions", () => {
  const id = makeId("cmp", 1);
  const requested: Event = { type: "CompactionRequested", compaction: id, trigger: "threshold", base_epoch: 0 };
  const started = (attempt: number): Event => ({
    type: "CompactionStarted",
    compaction: id,
    token: attempt,
    attempt,
    expires_at: 9,
    base_epoch: 0,
    ...summaryPlan(1, 1),
  });
  const failed = (attempt: number, final: boolean): Event => ({
    type: "CompactionFailed",
    compaction: id,
    token: attempt,
    attempt,
    failure: "empty",
    final,
  });
  const opened = () => new LogBuilder(session).open().event(requested).event(started(1));

  it("one that ends with a summary is completed, with its summary and its receipt", async () => {
    const log = opened().event(failed(1, false)).event(started(2));
    const overlay = makeId("ovl", 1);
    log.bodies.set(overlay, "总结 🙂");
    const op = {
      op: "summarize" as const,
      overlay,
      replaces: [],
      from: 1,
      to: 1,
      tokens: 1,
      bytes: 1,
      items: 1,
      boundary_timestamp: 1,
      keeps: [],
      generation: 0,
      mode: "transcript" as const,
      read: { ranges: [], overlays: [] },
    };
    log.epoch({ compaction: id, ops: [op] });

    await projection.write(log.batch());

    const row = { status: "completed", did_compact: 1, attempts: 2, failure: null, summary: "总结 🙂", epoch: 1 };
    expect(await readCompaction(log, id)).toMatchObject({ ...row, requested_at: START + 2000, finished_at: START + 6000 });
  });

  it("one that a turn in need took over says what it was then done for", async () => {
    const log = opened();
    log.epoch({ trigger: "inline", compaction: id, ops: [] });

    await projection.write(log.batch());

    expect(await readCompaction(log, id)).toMatchObject({ status: "completed", trigger: "inline" });
  });

  it("one that failed for good and trimmed instead is failed, and says what was dropped", async () => {
    const log = opened().event(failed(1, false)).event(started(2)).event(failed(2, true));
    const drop = { op: "drop" as const, overlay: makeId("ovl", 1), replaces: [], from: 1, to: 1, items: 1 };
    log.epoch({ trigger: "fallback", compaction: id, ops: [drop] });

    await projection.write(log.batch());

    const row = { status: "failed", did_compact: 0, attempts: 2, failure: "empty", trigger: "threshold", summary: null };
    expect(await readCompaction(log, id)).toMatchObject({ ...row, ops: JSON.stringify([drop]) });
  });

  it("one that failed once waits for its next attempt", async () => {
    const log = opened().event(failed(1, false));

    await projection.write(log.batch());

    expect(await readCompaction(log, id)).toMatchObject({ status: "requested", failure: "empty", attempts: 1, finished_at: null });
  });

  it("one that an inline change of the epoch made void is over, and the inline change has a row of its own", async () => {
    const log = opened();
    log.epoch({ trigger: "guard", ops: [{ op: "drop", overlay: makeId("ovl", 1), replaces: [], from: 1, to: 1, items: 1 }] });

    await projection.write(log.batch());

    expect(await readCompaction(log, id)).toMatchObject({ status: "failed", failure: "nothing_to_do", finished_at: START + 4000 });
    expect(await readCompaction(log, "epoch_1")).toMatchObject({ status: "completed", trigger: "guard", did_compact: 0, epoch: 1 });
  });
});
