/**
 * One turn with many rounds of tools, whose results are many times the window. The view is compacted between the
 * rounds, and the turn continues with the original question.
 */
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, test } from "vitest";
import { createNodeSql } from "../../scripts/support/node-sql";
import type { ModelRequest, ModelSpec, ModelStreamPart } from "../../src/app/ports";
import { type PolicyChoice, toPolicyText } from "../../src/context/policy-choice";
import type { Part, ToolDefinition } from "../../src/domain/message";
import type { Sql } from "../../src/session/log/sql";
import { countingIds } from "../support/builders";
import { CALLER, failure, Life, SPEC, settle } from "./life";
import { type Answer, countBytes, failing, Pilot } from "./pilot";

const WINDOW = 32_000;
const spec: ModelSpec = { ...SPEC, context_window: WINDOW, max_output: 1_000 };
const tool: ToolDefinition = { name: "fetch_page", parameters: { type: "object" }, runs: { by: "http", tool: "fetch_page" } };
const QUESTION = "Read all the pages, please, and tell me the word on the last one.";

const english = (n: number): string =>
  `Page ${n}. ${`Page ${n} says nothing of note about the weather, the road or the people on it. `.repeat(400)}`.slice(0, 25_000);
const chinese = (n: number): string => `第${n}页。${"这一页没有说明天气、道路和路上的人。".repeat(2_000)}`.slice(0, 25_000);

interface Story {
  readonly rounds: number;
  /** The calls of one round. */
  readonly calls?: number;
  readonly page?: (n: number) => string;
  readonly policy?: PolicyChoice;
  readonly summary?: Answer;
  readonly sql?: Sql;
}

interface Told {
  readonly life: Life;
  readonly pilot: Pilot;
  /** The epoch in which each of the turn's requests was sent. */
  readonly epochs: readonly number[];
}

const ending = (request: ModelRequest, finish: "stop" | "tool_calls"): ModelStreamPart => ({
  type: "finish",
  finish,
  usage: { input: countBytes(request), output: 20, cached: 0, reasoning: 0 },
});

/** With all the requested sections. Without any it is a narrative. */
const summarizing: Answer = (request) => {
  const asked = `${request.system ?? ""}\n${JSON.stringify(request.messages.at(-1)?.parts)}`;
  const sections = [...new Set(asked.match(/## [A-Za-z ]+/g) ?? [])];
  const said = "The pages are being read, one after the other, and none of them said anything of note so far.";
  const text = sections.length === 0 ? said : sections.map((section) => `${section}\n${said}`).join("\n");
  return [{ type: "text", text }, ending(request, "stop")];
};

async function tell({
  rounds,
  calls = 1,
  page = english,
  policy = "balanced",
  summary = summarizing,
  sql = createNodeSql(),
}: Story): Promise<Told> {
  const life = new Life(sql);
  life.models = { resolve: async () => spec };
  let pages = 0;
  life.tools = { needsApproval: async () => false, run: async () => ({ output: page(++pages), failure: null }) };
  await life.service.open(CALLER, { model: spec.id, policy: toPolicyText(policy), system: null, tools: [tool], title: null, metadata: {} });
  await settle();
  const epochs: number[] = [];
  const turn: Answer = (request) => {
    epochs.push(life.runtime.state.view.epoch);
    if (epochs.length > rounds) return [{ type: "text", text: "The word is owl." }, ending(request, "stop")];
    const called = Array.from({ length: calls }, (_, index): ModelStreamPart => {
      const call_id = `call_${epochs.length}_${index}`;
      return { type: "tool_call", call: { type: "tool_call", call_id, name: tool.name, arguments: `{"n":${epochs.length}}` } };
    });
    return [...called, ending(request, "tool_calls")];
  };
  const pilot = new Pilot(life, { turn, summary });
  await pilot.say(QUESTION);
  // The time after which a failed summariser is called again.
  for (let waits = 0; life.runtime.state.turn && waits < 1_000; waits++) {
    await life.advance(5_000);
    await pilot.goOn();
  }
  return { life, pilot, epochs };
}

const counted = new Map<string, number>();
function countText(text: string): number {
  const known = counted.get(text) ?? encode(text).length;
  counted.set(text, known);
  return known;
}
const countPart = (part: Part): number =>
  part.type === "tool_result" ? countText(part.output) : part.type === "text" ? countText(part.text) : countText(JSON.stringify(part));
/** Counted by a true tokenizer. */
const countTokens = ({ messages, tools }: ModelRequest): number =>
  messages.flatMap(({ parts }) => parts).reduce((sum, part) => sum + countPart(part) + 4, countText(JSON.stringify(tools)));

const shownResults = ({ messages }: ModelRequest): readonly string[] =>
  messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "tool_result" ? [part.output] : [])));

function expectSound({ life, pilot, epochs }: Told, rounds: number): void {
  const { turns } = pilot;
  expect(life.runtime.state.last_turn).toMatchObject({ status: "completed", failure: null });
  expect(turns).toHaveLength(rounds + 1);
  expect(Math.max(...turns.map(countTokens))).toBeLessThan(WINDOW);
  for (const [index, { messages }] of turns.entries()) {
    expect(messages).toContainEqual({ role: "user", parts: [{ type: "text", text: QUESTION }] });
    const before = turns[index - 1];
    if (before && epochs[index] === epochs[index - 1]) expect(messages.slice(0, before.messages.length)).toEqual(before.messages);
  }
}

describe("200 rounds of 25 KB each in a window of 32,000 tokens", () => {
  test.each(["balanced", "oneclaw", "odincode"] as const)(
    "%s: the turn completes, no request is over the window, and between two epochs the prefix only grows at its end",
    async (policy) => {
      const told = await tell({ rounds: 200, policy });

      expectSound(told, 200);
      expect(new Set(told.epochs).size).toBeGreaterThan(40);
      expect(told.life.events().filter(({ type }) => type === "CompactionFailed")).toEqual([]);
      const recorded = [...told.life.runtime.content.readForwards({ from: 1, to: 1_000 })].flatMap(({ parts }) => parts);
      expect(recorded.flatMap((part) => (part.type === "tool_result" ? [part.output] : []))).toEqual(
        Array.from({ length: 200 }, (_, index) => english(index + 1)),
      );
    },
    30_000,
  );

  test("also where no summary can be had: the oldest rounds leave", async () => {
    const told = await tell({ rounds: 60, summary: failing });
    expectSound(told, 60);
    expect(told.life.events().filter(({ type }) => type === "CompactionFailed").length).toBeGreaterThan(0);
  });

  test("a round's cost does not grow with the rounds before it: as many rows are read in the last fifty as in the second fifty", async () => {
    let rows = 0;
    const sql = createNodeSql();
    const counting: Sql = {
      ...sql,
      all: (query, ...params) => {
        const found = sql.all<never>(query, ...params);
        rows += found.length;
        return found;
      },
    };
    const at: number[] = [];
    await tell({
      rounds: 200,
      policy: "oneclaw",
      sql: counting,
      page: (n) => {
        at[n] = rows;
        return english(n);
      },
    });
    const [begun = 0, later = 0, last = 0, end = 0] = [at[50], at[100], at[150], at[200]];
    expect(end - last).toBeLessThan(1.2 * (later - begun));
  });
});

describe("what a tool has just returned is read by the model", () => {
  test("in full where it fits at all, however little room it leaves", async () => {
    const { pilot } = await tell({ rounds: 20, page: chinese });
    const seen = pilot.turns.map((request) => shownResults(request).at(-1));
    expect(seen.slice(1)).toEqual(Array.from({ length: 20 }, (_, index) => chinese(index + 1)));
  });

  test("of several that do not fit together as many as do, the others by their ends", async () => {
    const told = await tell({ rounds: 10, calls: 6 });
    expectSound(told, 10);
    for (const request of told.pilot.turns.slice(1)) {
      const newest = shownResults(request).slice(-6);
      expect(newest.filter((output) => output.length === 25_000).length).toBeGreaterThanOrEqual(3);
      for (const output of newest) expect(output).toMatch(/^Page \d+\. /);
    }
  });

  test("cut where it is recorded, at 30,000 characters", async () => {
    const { pilot } = await tell({ rounds: 1, page: () => "a".repeat(31_000) });
    expect(shownResults(pilot.turns[1] as ModelRequest)).toEqual([
      `${"a".repeat(30_000)}\n\n[... content truncated, showing first 30000 of 31000 characters ...]`,
    ]);
  });
});

describe("a model that calls tools for ever", () => {
  const short = (n: number): string => `Page ${n}.`;

  test("is stopped at the policy's number of rounds, and may be asked again", async () => {
    const { life, pilot } = await tell({ rounds: 1_000, page: short, policy: { preset: "balanced", tools: { max_rounds: 5 } } });
    expect(life.runtime.state.last_turn).toMatchObject({ status: "failed", failure: { kind: "round_limit" } });
    expect(pilot.turns).toHaveLength(5);

    expect(await life.service.retry(CALLER, { idempotency: null })).toMatchObject({ ok: true });
    await settle();
    await pilot.goOn();
    expect(pilot.turns).toHaveLength(10);
    expect(life.runtime.state.last_turn).toMatchObject({ status: "failed", failure: { kind: "round_limit" } });
  });

  test("250 rounds are allowed where no policy says otherwise", async () => {
    const { pilot } = await tell({ rounds: 1_000, page: short, policy: "oneclaw" });
    expect(pilot.turns).toHaveLength(250);
  });
});

test("a turn outlives a deployment after each of its rounds, and the end of three lives in a row that bring it no further ends it", async () => {
  const ids = countingIds();
  let life = new Life(undefined, "life-1", ids);
  const deploy = async (): Promise<void> => {
    const next = new Life(life.sql, `${life.runtime.deps.incarnation}+`, ids);
    next.time.advance(life.time.now() + 60_000);
    life = next;
    await life.service.describe(CALLER);
    await settle();
  };
  await life.open();
  await life.send("long task");
  for (let round = 1; round <= 12; round++) {
    await life.useTool(`call_${round}`, `page ${round}`, 100);
    await deploy();
    expect(life.runtime.state.turn).toMatchObject({ attempt: round + 1, stalled_lives: 1 });
  }

  await deploy();
  await deploy();
  expect(life.runtime.state.turn).toMatchObject({ stalled_lives: 3 });
  await deploy();
  expect(life.runtime.state.last_turn).toMatchObject({ status: "failed", failure: { kind: "crashed" } });

  expect(await life.service.retry(CALLER, { idempotency: null })).toMatchObject({ ok: true });
  await settle();
  await life.answer("done");
  expect(life.runtime.state.last_turn).toMatchObject({ status: "completed" });
});

test("a call that fails and is made again is no round of tools", async () => {
  const life = new Life();
  await life.open({ preset: "oneclaw", tools: { max_rounds: 4 } });
  await life.send("work");
  for (let round = 1; round <= 4; round++) {
    await life.say(failure("rate_limit"));
    await life.advance(30_000);
    await life.useTool(`call_${round}`, `found ${round}`, 100);
    expect(life.runtime.state.turn?.rounds ?? round).toBe(round);
  }

  expect(life.runtime.state.last_turn?.failure?.kind).toBe("round_limit");
  expect(life.events().filter(({ type }) => type === "ToolResultRecorded")).toHaveLength(4);
});
