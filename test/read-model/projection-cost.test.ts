/** The projector's estimate of its statements is correct. A batch with more statements than an invocation allows would fail forever. */
import { expect, test } from "vitest";
import { BATCH_COST, countD1Rows, d1CostOfBatch } from "../../src/app/projection/projection-cost";
import type { Event, StoredEvent } from "../../src/domain/events";
import { createProjection } from "../../src/read-model/writer";
import { called, LogBuilder, makeId, modelCall } from "./builders";

/** The number of statements in a batch of these events. */
async function countStatements(events: readonly StoredEvent[]): Promise<number> {
  const sizes: number[] = [];
  const statement = { bind: () => statement };
  const db = {
    prepare: () => statement,
    batch: async (statements: readonly unknown[]) => {
      sizes.push(statements.length);
      return [{ results: [{ last_seq: Number.MAX_SAFE_INTEGER, erased: 0 }] }];
    },
  };
  const log = new LogBuilder();
  await createProjection(db as unknown as D1Database).write({ tenant: log.tenant, session: log.session, events, bodies: log.bodies });
  return sizes.reduce((sum, size) => sum + size, 0);
}

const log = new LogBuilder();
const text = [{ type: "text", text: "said" }] as const;
const [call, turn, compaction] = [log.item("assistant", text), makeId("trn", 1), makeId("cmp", 1)];
const overlay = (number: number) =>
  ({ id: makeId("ovl", number), kind: "dropped", from: 1, to: number, tokens: 1, items: number }) as const;

const artifact = (n: number) => ({ type: "stderr", body: makeId("bod", n), bytes: 2 });
const RAN = { ms: 1, exit_code: 0, failure: null, artifacts: [artifact(1), artifact(2)] } as const;

const events: readonly (readonly [string, Event])[] = [
  ["an imported message", { type: "MessagesAppended", items: [call], dequeued: [] }],
  [
    "an imported reply of 128 calls",
    { type: "MessagesAppended", items: Array.from({ length: 129 }, () => log.item("tool_call", text)), dequeued: [] },
  ],
  [
    "an imported reply of calls that are executions",
    { type: "MessagesAppended", items: [called(log, "tool_call", 1), called(log, "tool_call", 2)], dequeued: [] },
  ],
  ["a call of a tool", { type: "ToolCalled", turn, item: called(log, "tool_call", 3) }],
  ["a result with artifacts", { type: "ToolResultRecorded", turn, item: called(log, "tool_result", 3), incarnation: "a", ran: RAN }],
  ["a tool begun", { type: "ToolStarted", turn, execution: makeId("exe", 3), incarnation: "a" }],
  ["a redacted message", { type: "MessageRedacted", item: makeId("msg", 1), position: 1, texts: [], tokens: 0 }],
  ["a reply", { type: "AssistantReplied", turn, item: call }],
  ["a call of the model", modelCall()],
  ["a compaction asked for", { type: "CompactionRequested", compaction, trigger: "threshold", base_epoch: 0 }],
  ["a failed attempt", { type: "CompactionFailed", compaction, token: null, attempt: 1, failure: "timeout", final: true }],
  ["a turn that ended", { type: "TurnCompleted", turn, finish: "stop" }],
];

test.each(events)("%s costs no more than is reckoned", async (_, event) => {
  const [stored] = new LogBuilder().event(event).events;
  if (!stored) throw new Error("no event");
  expect(await countStatements([stored])).toBeLessThanOrEqual(countD1Rows(stored) + BATCH_COST);
});

test("a change of epoch costs no more than is reckoned, whatever it does", async () => {
  const changes = new LogBuilder()
    .summary(3, "so far", { from: 1, to: 3, replaces: [1, 2] })
    .epoch({ ops: [{ op: "clear_results", items: [] }] })
    .epoch({ ops: [{ op: "revert", compaction, overlays: [overlay(1), overlay(2)], items: [], reduced: [], to: 3 }] })
    .epoch({ ops: [{ op: "reset", overlays: [overlay(1), overlay(2), overlay(3)], items: [], reduced: [], to: 3 }] });
  for (const event of changes.events) expect(await countStatements([event])).toBeLessThanOrEqual(countD1Rows(event) + BATCH_COST);
  expect(await countStatements(changes.events)).toBeLessThanOrEqual(d1CostOfBatch(changes.events));
});
