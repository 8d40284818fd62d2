/** Calls as rows of executions, with the real migrations and statements in Node's SQLite. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeEach, describe, expect, test } from "vitest";
import type { Event } from "../../src/domain/events";
import type { ToolRun } from "../../src/domain/tool-run";
import { toStatements } from "../../src/read-model/statements";
import { createProjection } from "../../src/read-model/writer";
import { SimD1 } from "../simulation/sim-d1";
import { called, LogBuilder, makeId, SESSION, START, TENANT } from "./builders";
import { readRows } from "./rows";

const turn = makeId("trn", 1);
const at = (seq: number): number => START + seq * 1_000;
let db: D1Database;
let log: LogBuilder;
beforeEach(() => {
  db = new SimD1().direct;
  log = new LogBuilder().open();
});

const calls = (n: number, change: { readonly server?: true; readonly arguments?: string } = {}): Event => {
  const { server, ...written } = change;
  return { type: "ToolCalled", turn, item: called(log, "tool_call", n, written), ...(server && { server }) };
};
const results = (n: number, ran?: Partial<ToolRun>, change: { readonly output?: string; readonly is_error?: boolean } = {}): Event => {
  const item = called(log, "tool_result", n, change);
  const whole = ran && { ms: null, exit_code: null, failure: null, artifacts: [], ...ran };
  return { type: "ToolResultRecorded", turn, item, incarnation: "a", ...(whole && { ran: whole }) };
};
const write = (from = 1, to?: number) => createProjection(db).write(log.batch(from, to));
const rows = async () => Object.values((await readRows(db, log)).executions ?? {});

describe("the row of a call", () => {
  test("follows it from its record to its result", async () => {
    log.event(calls(1, { server: true, arguments: '{"of":"x"}' }));
    await write();
    expect(await rows()).toMatchObject([
      { status: "open", runs: "server", tool_name: "look_up", call_id: "call_1", arguments_json: '{"of":"x"}', success: null, last_seq: 2 },
    ]);

    log.event({ type: "ApprovalRequested", turn, execution: makeId("exe", 1) });
    await write(3);
    expect(await rows()).toMatchObject([{ status: "awaiting_approval" }]);
    log.event({ type: "ApprovalResolved", turn, execution: makeId("exe", 1), approved: true, incarnation: "a" });
    log.event({ type: "ToolStarted", turn, execution: makeId("exe", 1), incarnation: "a" });
    await write(4);
    expect(await rows()).toMatchObject([{ status: "running", started_at: at(5), finished_at: null }]);

    log.event(results(1, { ms: 40, exit_code: 0 }));
    await write(6);
    expect(await rows()).toMatchObject([
      {
        status: "succeeded",
        success: 1,
        exit_code: 0,
        duration_ms: 40,
        result_position: 2,
        finished_at: at(6),
        started_at: at(5),
        error_message: null,
      },
    ]);
  });

  test("says of what failed how, and how its output begins", async () => {
    const output = "no ".repeat(2_000);
    log.event(calls(1)).event(calls(2)).event(calls(3)).event(calls(4));
    log.event(results(1, { exit_code: 2 }, { is_error: true, output }));
    log.event(results(2, { failure: "denied" }, { is_error: true, output: "refused" }));
    log.event(results(3, { failure: "unknown_outcome" }, { is_error: true }));
    log.event(results(4, undefined, { is_error: true, output: "broken" }));
    await write();
    expect((await rows()).map(({ status, success, failure, error_message }) => [status, success, failure, error_message])).toEqual([
      ["failed", 0, null, output.slice(0, 2_000)],
      ["denied", 0, "denied", "refused"],
      ["unknown", null, "unknown_outcome", null],
      ["failed", 0, null, "broken"],
    ]);
  });

  test.each([
    ["completed", { type: "TurnCompleted", turn, finish: "stop" }],
    ["failed", { type: "TurnFailed", turn, failure: { kind: "crashed", status: null } }],
    ["was stopped", { type: "TurnStopped", turn, reason: "superseded" }],
    ["was interrupted", { type: "TurnInterrupted", turn }],
  ] as const)("of a turn that %s is cancelled if it is open, and no other", async (_, ended) => {
    const imported = called(log, "tool_call", 3, { turn: null });
    log.event(calls(1)).event(calls(2)).event(results(1));
    log.event({ type: "MessagesAppended", items: [imported], dequeued: [] });
    log.event(ended);
    await write();
    expect((await rows()).map(({ status, finished_at }) => [status, finished_at])).toEqual([
      ["succeeded", at(4)],
      ["cancelled", at(6)],
      ["unknown", null],
    ]);
  });

  test("is there for imported calls, too, with a result if that was imported", async () => {
    const items = [called(log, "tool_call", 1, { turn: null }), called(log, "tool_call", 2, { turn: null })];
    log.event({ type: "MessagesAppended", items, dequeued: [] });
    log.event({ type: "MessagesAppended", items: [called(log, "tool_result", 2, { turn: null })], dequeued: [] });
    await write();
    expect((await rows()).map(({ turn_id, runs, status }) => [turn_id, runs, status])).toEqual([
      [null, "client", "unknown"],
      [null, "client", "succeeded"],
    ]);
  });

  test("is the same whichever batches its events came in, doubled or late ones among them", async () => {
    log.event(calls(1, { server: true })).event({ type: "ToolStarted", turn, execution: makeId("exe", 1), incarnation: "a" });
    log.event(results(1, { ms: 3, artifacts: [{ type: "stderr", body: log.text('"e"').body, bytes: 3 }] }));
    log.event({ type: "TurnCompleted", turn, finish: "stop" });
    await write();
    const once = await readRows(db, log);

    db = new SimD1().direct;
    await write(1, 2);
    await write(1, 3);
    await write(2, 4);
    await write(1, 2);
    await write(3);
    await write();

    expect(await readRows(db, log)).toEqual(once);
  });

  test("keeps what is no content when its messages are redacted", async () => {
    const artifacts = [{ type: "stderr", body: log.text('"secret"').body, bytes: 8 }];
    log.event(calls(1, { arguments: '{"of":"secret"}' }));
    log.event(results(1, { exit_code: 1, artifacts }, { is_error: true, output: "secret" }));
    for (const position of [1, 2]) log.event({ type: "MessageRedacted", item: makeId("msg", position), position, texts: [], tokens: 0 });
    await write();
    expect(JSON.stringify(await readRows(db, log))).not.toContain("secret");
    expect(await rows()).toMatchObject([{ status: "failed", exit_code: 1, arguments_state: "redacted", arguments_json: "" }]);
  });

  test("leaves with its session, and so does what came with it", async () => {
    log.event(calls(1)).event(results(1, { artifacts: [{ type: "stderr", body: log.text('"e"').body, bytes: 3 }] }));
    await write();
    await createProjection(db).erase({ tenant: TENANT, session: SESSION, at: 1 });
    const left = await readRows(db, log);
    expect([left.executions, left.execution_artifacts]).toEqual([{}, {}]);
  });
});

test("what a turn left open, and one execution of a tenant, are found without reading the history", () => {
  const database = new DatabaseSync(":memory:");
  const folder = join(import.meta.dirname, "../../migrations");
  for (const file of readdirSync(folder).sort()) database.exec(readFileSync(join(folder, file), "utf8"));
  const explainPlan = (sql: string) =>
    database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => detail)
      .join();

  const [cancel] = toStatements({ op: "cancel_executions", turn, seq: 1, at: 1 });
  expect(explainPlan(cancel?.sql ?? "")).toContain("executions USING INDEX executions_open (tenant_id=? AND session_id=? AND turn_id=?)");
  expect(explainPlan("SELECT * FROM executions WHERE tenant_id = ?1 AND id = ?2")).toContain("executions_by_id (tenant_id=? AND id=?)");
});
