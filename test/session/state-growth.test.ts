/** What a session keeps in its state does not grow with its age: each field has a bound. */
import { describe, expect, test } from "vitest";
import { createNodeSql } from "../../scripts/support/node-sql";
import type { Event } from "../../src/domain/events";
import { evolve } from "../../src/domain/evolve";
import { initialState, type SessionState } from "../../src/domain/state";
import { CHECKPOINT_EVERY_EVENTS } from "../../src/session/log/checkpoints";
import { packState } from "../../src/session/log/packed-state";
import { loadState } from "../../src/session/log/snapshots";
import { SessionStore } from "../../src/session/log/store";
import { id, item, itemId, SESSION, settings, TENANT } from "../support/builders";
import { dropAll, writeLongLog } from "./long-log";

/** What bounds each field. A new field does not compile until it is here. */
const BOUNDS: Readonly<Record<keyof SessionState, string>> = {
  lifecycle: "one word",
  tenant: "one id",
  session: "one id",
  settings: "a reference and a size for each text",
  pins: "32, by the schema of their route",
  seq: "a number",
  next_position: "a number",
  messages: "a number",
  opened_at: "a number",
  updated_at: "a number",
  archived_at: "a number",
  turn: "the calls of one reply",
  last_turn: "one turn",
  queue: "32 messages",
  imported_calls: "the calls of one imported message",
  branch: "500 branches, and a range for each cut-off reply that was retried",
  fork: "the line of the source, until all is copied",
  view: "the model's window: what leaves it is covered by overlays that replace older ones",
  anchor: "one count",
  doubted: "one count",
  compaction: "one request, one lease, one draft, 16 unsettled calls, 32 commits",
  ratios: "8 models",
  plain: "the models that were asked in one epoch",
  redactions: "a number",
  totals: "numbers",
  title_tries: "a number",
  schedules: "16",
};

type Put = (event: Event) => void;

/** One day of a session that uses everything. */
function liveDay(n: number, now: () => SessionState, put: Put): void {
  const turn = id("trn", n);
  const text = { body: id("bod", n), bytes: 9, tokens: 3 };
  const model = `model-${n}`;
  const call = { model, epoch: now().view.epoch, up_to: now().next_position - 1, estimate: 900, request_digest: "digest", ms: 9 } as const;
  const usage = { input: 1_000, output: 50, cached: 0, reasoning: 5 };
  const asked = {
    seq: now().seq,
    at: 1,
    max_output: null,
    plain: true,
    model: { provider: "openai", upstream_id: model, base_url: null },
  } as const;
  const next = () => now().next_position;
  put({ type: "SettingsChanged", changes: { title: text, model } });
  put({ type: "PinsSet", pins: [{ ...text, from: [n] }] });
  put({ type: "ScheduleRemoved", name: `schedule-${n - 1}` });
  put({ type: "MessageQueued", message: { item: item(0, "user", { id: itemId(n), turn }), turn, rest: [], tools: null }, front: false });
  put({
    type: "TurnStarted",
    turn,
    incarnation: "life",
    attempt: 1,
    item: item(next(), "user", { id: itemId(n), turn }),
    tools: null,
    retry_of: null,
  });
  put({ type: "ModelCallFinished", turn, purpose: "turn", ...call, usage, outcome: "tool_calls", lease: null, asked } as Event);
  const tool = { execution: id("exe", n), call_id: `call_${n}`, name: "look" };
  put({ type: "ToolCalled", turn, item: item(next(), "tool_call", { turn, tool }) });
  const result = next();
  put({ type: "ToolResultRecorded", turn, item: item(result, "tool_result", { turn, tool }), incarnation: "life" });
  put({ type: "AssistantReplied", turn, item: item(next(), "assistant", { turn, incomplete: true }) });
  put({ type: "TurnFailed", turn, failure: { kind: "unavailable", status: null } });
  put({ type: "MessageRedacted", item: itemId(result), position: result, tokens: 3, texts: [], cause: "retention" });
  const { view, compaction } = now();
  put({ type: "CompactionRequested", compaction: id("cmp", n), trigger: "threshold", base_epoch: view.epoch } as Event);
  put({
    type: "CompactionStarted",
    compaction: id("cmp", n),
    token: compaction.next_token,
    attempt: 1,
    expires_at: 9,
    base_epoch: view.epoch,
    range: { from: 1, to: next() - 1 },
    source: { from: 1, to: next() - 1 },
    items: 4,
    mode: "transcript",
    merge: null,
    split: null,
    instructions: null,
    inline: null,
  } as unknown as Event);
  put(dropAll(now(), { n, trigger: "threshold", keep: 0 }));
}

describe("after a thousand days more, each field of the state has the size that it had", () => {
  const DAYS = 1_000;
  let state: SessionState = initialState;
  const put: Put = (event) => {
    state = evolve(state, { ...event, seq: state.seq + 1, at: 1_700_000_000_000 + state.seq });
  };
  put({ type: "SessionOpened", tenant_id: TENANT, session: SESSION, settings: settings() });
  for (let n = 1; n <= DAYS; n++) liveDay(n, () => state, put);
  const before = state;
  for (let n = DAYS + 1; n <= 2 * DAYS; n++) liveDay(n, () => state, put);
  const after = state;
  const units = (value: unknown): number => JSON.stringify(value)?.length ?? 0;

  test.each(Object.entries(BOUNDS))("%s: %s", (field) => {
    const name = field as keyof SessionState;
    // Numbers and ids get a digit longer.
    expect(units(after[name])).toBeLessThan(units(before[name]) * 1.2 + 10);
  });

  test("and together they are small", () => {
    expect(after.seq).toBeGreaterThan(25_000);
    expect(units(after)).toBeLessThan(20_000);
  });
});

test("16,000 results that retention removed leave nothing in the state, and no checkpoint is missing", () => {
  const sql = createNodeSql();
  writeLongLog(sql, 64_700);
  const store = new SessionStore(sql, { onAppend: () => {}, onCommit: () => {} });
  const before = packState(store.state).length;
  const results = sql.all<{ position: number; id: string }>(
    "SELECT position, json_extract(meta, '$.id') AS id FROM items WHERE json_extract(meta, '$.kind') = 'tool_result' LIMIT 16000",
  );
  expect(results).toHaveLength(16_000);

  for (let start = 0; start < results.length; start += 50) {
    const items = results
      .slice(start, start + 50)
      .map(({ position, id: of }) => ({ item: of as ReturnType<typeof itemId>, position, tokens: 12 }));
    expect(store.execute({ type: "ExpireResults", at: 1, items }).ok).toBe(true);
  }

  expect(store.state.redactions).toBe(16_000);
  expect(packState(store.state).length).toBeLessThan(before + 20);
  expect(sql.all("SELECT count(*) AS kept FROM checkpoints")).toEqual([{ kept: Math.floor(store.state.seq / CHECKPOINT_EVERY_EVENTS) }]);
  expect(loadState(sql).state).toEqual(store.state);
});
