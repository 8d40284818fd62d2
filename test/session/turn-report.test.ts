/** The report of a turn, however long the turn was. */
import { describe, expect, test } from "vitest";
import type { ModelStreamPart } from "../../src/app/ports";
import type { TurnReport } from "../../src/contract/turn";
import type { TurnId } from "../../src/domain/ids";
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

test("a caller that waits with a limit is told the turn as it is at that time, and one that comes in between earlier", async () => {
  const life = new Life();
  await life.open();
  await life.send("go");
  const turn = life.events().find((event) => event.type === "TurnStarted")?.turn;
  if (!turn) throw new Error("no turn");
  const told: [string, string][] = [];
  const wait = (name: string, within?: number): void =>
    void life.service.waitForTurn(CALLER, turn, within).then((report) => report.ok && told.push([name, report.value.status]));
  wait("short", 2_000);
  wait("long", 10_000);
  wait("endless");

  life.time.advance(1_999);
  await settle();
  expect(told).toEqual([]);
  life.time.advance(1);
  await settle();
  expect(told).toEqual([["short", "generating"]]);

  await life.answer("done");
  await settle();
  expect(told.slice(1).toSorted()).toEqual([
    ["endless", "completed"],
    ["long", "completed"],
  ]);
});

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

describe("the list of turns", () => {
  const read = async (
    life: Life,
    page: { readonly after?: TurnId | null; readonly limit?: number; readonly order?: "asc" | "desc" } = {},
  ) => {
    const listed = await life.service.turns(CALLER, { after: null, limit: 50, order: "desc", ...page });
    if (!listed.ok) throw new Error(listed.error.code);
    return listed.value;
  };

  test("holds each turn as it is shown alone, in either order and in pages of any size", async () => {
    const life = await newLife();
    for (const text of ["one", "two", "three"]) await say(life, text, `reply ${text}`);
    await life.send("four");
    await life.send("five");
    const asked = life.events().flatMap((event) => (event.type === "TurnStarted" ? [event.turn] : []));
    const whole = await read(life, { order: "asc" });
    const alone = await Promise.all(whole.data.map(({ id }) => life.service.turn(CALLER, id)));

    expect(whole.data.map(({ status }) => status)).toEqual(["completed", "completed", "completed", "generating", "queued"]);
    expect(whole.data.slice(0, 4).map(({ id }) => id)).toEqual(asked);
    expect(alone.map((turn) => turn.ok && turn.value)).toEqual(whole.data);
    expect((await read(life)).data).toEqual(whole.data.toReversed());
    for (const order of ["asc", "desc"] as const) {
      const first = await read(life, { order, limit: 2 });
      const rest = await read(life, { order, after: first.data.at(-1)?.id ?? null });
      expect([first.has_more, rest.has_more]).toEqual([true, false]);
      expect([...first.data, ...rest.data]).toEqual((await read(life, { order })).data);
    }
  });

  test("of a session in which nothing was said is empty", async () => {
    expect(await read(await newLife())).toEqual({ data: [], has_more: false });
  });

  test("has no more turns on a page than one answer carries", async () => {
    const life = await newLife({ spec: { ...LARGE, id: "large", context_window: 10_000_000 } });
    for (let n = 0; n < 3; n++) await say(life, "go on", "猫".repeat(490_000));

    const page = await read(life);
    const rest = await read(life, { after: page.data.at(-1)?.id ?? null });

    expect([page.data.length, page.has_more]).toEqual([2, true]);
    expect([rest.data.length, rest.has_more]).toEqual([1, false]);
  });
});
