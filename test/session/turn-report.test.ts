/** The report of a turn, however long the turn was. */
import { expect, test } from "vitest";
import type { ModelStreamPart } from "../../src/app/ports";
import type { TurnReport } from "../../src/contract/turn";
import { CALLER, Life, settle } from "./life";
import { newLife, say, trim } from "./talk";

const CALLS = 125;

const buildCalls = (round: number): ModelStreamPart[] =>
  Array.from({ length: CALLS }, (_, n) => ({
    type: "tool_call",
    call: { type: "tool_call", call_id: `${round}.${n}`, name: "look", arguments: "{}" },
  }));

/** Five rounds of 125 calls with results, 1,250 items. `answered` of them have their results. */
async function longTurn(answered: number): Promise<Life> {
  const life = new Life();
  life.models = { resolve: async (id) => ({ ...LARGE, id }) };
  await life.open();
  await life.send("go");
  for (let round = 1; round <= 5; round++) {
    await life.say(...buildCalls(round), { type: "finish", finish: "tool_calls", usage: null });
    if (round > answered) break;
    const results = buildCalls(round).flatMap((chunk) =>
      chunk.type === "tool_call" ? [{ execution_id: null, call_id: chunk.call.call_id, output: "seen", is_error: false }] : [],
    );
    await life.service.toolResults(CALLER, { results, idempotency: null });
    await settle();
  }
  return life;
}

const LARGE = {
  provider: "embedded",
  upstream_id: "large",
  base_url: null,
  context_window: 1_000_000,
  max_output: 1_000,
  source: "deployment",
} as const;

async function readReport(life: Life): Promise<TurnReport> {
  const turn = life.events().find((event) => event.type === "TurnStarted")?.turn;
  const report = turn && (await life.service.turn(CALLER, turn));
  if (!report?.ok) throw new Error("no such turn");
  return report.value;
}

test("the report of a long turn holds its reply and whole messages only, and says that older ones are left out", async () => {
  const life = await longTurn(5);
  await life.answer("done");
  const report = await readReport(life);
  expect(report).toMatchObject({ status: "completed", items_truncated: true });
  // Of the newest 1,000 items: the last reply, three whole rounds, and the results of one whose reply begins before them.
  expect(report.items).toHaveLength(1 + 3 * 126 + 125);
  expect(report.items.at(-1)).toMatchObject({ role: "assistant", content: [{ text: "done" }] });
});

test("it is the same when other turns have come since", async () => {
  const life = await longTurn(5);
  await life.answer("done");
  const before = await readReport(life);
  await life.send("and?");
  await life.answer("nothing");
  expect((await readReport(life)).items).toEqual(before.items);
});

test("the report of a long turn that waits for tools holds every open call", async () => {
  const report = await readReport(await longTurn(4));
  expect(report).toMatchObject({ status: "awaiting_tools", items_truncated: true });
  expect(report.open_calls.map((call) => call.call_id)).toEqual(Array.from({ length: CALLS }, (_, n) => `5.${n}`));
});

test("the report of a short turn leaves nothing out", async () => {
  const life = new Life();
  await life.open();
  await life.send("hello");
  await life.useTool("c", "seen", 20);
  await life.answer("hi");
  const report = await readReport(life);
  expect(report.items.map((item) => item.role)).toEqual(["assistant", "tool", "assistant"]);
  expect(report.items_truncated).toBe(false);
});

test("a trim between two turns is reported with the second, with or without a listener, and with no other", async () => {
  const life = await newLife();
  await say(life, "one", "1");
  await say(life, "two", "2");
  trim(life);
  await say(life, "three", "3");
  await say(life, "four", "4");

  const turns = life.events().flatMap((event) => (event.type === "TurnStarted" ? [event.turn] : []));
  const reports = await Promise.all(turns.map((turn) => life.service.turn(CALLER, turn)));

  const notice = { code: "history_trimmed", text: "Conversation history has been automatically trimmed" };
  expect(reports.map((report) => report.ok && report.value.notices)).toEqual([[], [], [notice], []]);
});
