/** States along the log: each equals the fold of the log up to that point, and none is required. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fold } from "../../src/domain/evolve";
import { CHECKPOINT_EVERY_EVENTS, readCheckpoint, stateAt, viewWhenNewest, writeCheckpoint } from "../../src/session/log/checkpoints";
import { readTurnCalls } from "../../src/session/log/turn-calls";
import { drawn } from "../support/effort";
import { CALLER, Life, SPEC, settle } from "./life";
import { change, hear, policies, steps } from "./script";
import { listTurns } from "./sent";
import { compact, newLife, say } from "./talk";

const readSeqs = (life: Life): number[] => life.sql.all<{ seq: number }>("SELECT seq FROM checkpoints ORDER BY seq").map(({ seq }) => seq);
const EVERY = CHECKPOINT_EVERY_EVENTS;

/** A log of `count` events, with a summary in the middle. */
async function longLife(events: number): Promise<Life> {
  const life = await newLife({ policy: '{"preset":"oneclaw","keep":{"system_messages":true}}' });
  const append = async (n: number) => {
    const role = n % 5 === 0 ? "system" : n % 2 === 0 ? "user" : "assistant";
    const parts = [{ type: "text", text: `message ${n}` }] as const;
    await life.service.submit(CALLER, { role, parts, run: false, onBusy: "queue", tools: null, idempotency: null });
  };
  for (let n = 0; life.runtime.state.seq < events; n++) {
    await append(n);
    if (n % 200 === 150) await compact(life, 200);
  }
  await settle();
  return life;
}

test("at every seq of any conversation, a checkpoint reads as the fold of the log from its start", async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.constantFrom(...policies), async (story, policy) => {
      const life = await newLife({ policy, system: "Be brief." });
      for (const [n, step] of story.entries()) {
        await hear(life, step, n);
        await change(life, step);
      }
      const events = life.events();
      for (let seq = 1; seq <= events.length; seq++) {
        const state = fold(events.slice(0, seq));
        writeCheckpoint(life.sql, state);
        expect(readCheckpoint(life.sql, seq)).toEqual(state);
        expect(readCheckpoint(life.sql, seq)?.seq).toBe(seq);
      }
    }),
    { numRuns: drawn(25) },
  );
});

describe("a long session", () => {
  test("leaves a checkpoint at least every so many events, and its state anywhere is the fold of the log to there", async () => {
    const life = await longLife(EVERY * 4 + 50);
    const events = life.events();

    const seqs = readSeqs(life);
    expect(seqs).toHaveLength(4);
    for (const [index, seq] of seqs.entries()) expect(seq - (index + 1) * EVERY).toBeLessThan(10);
    for (const seq of [1, EVERY - 1, EVERY, EVERY + 1, EVERY * 3 + 7, events.length]) {
      expect(life.sql.transaction(() => stateAt(life.sql, seq))).toEqual(fold(events.slice(0, seq)));
    }
    expect(readSeqs(life)).toEqual(seqs);
  });

  test("tells of each position the view of when it was the newest, with checkpoints as without", async () => {
    const life = await longLife(EVERY * 3);
    const last = life.runtime.state.next_position - 1;
    const positions = [1, 2, EVERY - 1, EVERY, EVERY + 1, EVERY * 2, last - 1, last];
    const told = () => positions.map((position) => viewWhenNewest(life.sql, position));

    const near = told();
    life.sql.all("DELETE FROM checkpoints");

    expect(near).toEqual(told());
    expect(near.map(({ to }) => to)).toEqual(positions);
  });

  test("that are missing are created by the first request for a past state, up to that state", async () => {
    const life = await longLife(EVERY * 4 + 50);
    life.sql.all("DELETE FROM checkpoints");

    const seq = EVERY * 3 + 7;
    expect(life.sql.transaction(() => stateAt(life.sql, seq))).toEqual(fold(life.events().slice(0, seq)));

    expect(readSeqs(life)).toEqual([EVERY, EVERY * 2, EVERY * 3]);
  });

  test("ignores those of another state version, and replaces them", async () => {
    const life = await longLife(EVERY * 2 + 50);
    life.sql.all("UPDATE checkpoints SET version = version - 1, text = '{}'");

    expect(readCheckpoint(life.sql, EVERY * 2 + 50)).toBeNull();
    const seq = EVERY * 2 + 20;
    expect(life.sql.transaction(() => stateAt(life.sql, seq))).toEqual(fold(life.events().slice(0, seq)));
    expect(readSeqs(life)).toEqual([EVERY, EVERY * 2]);
  });
});

test("a checkpoint from before a redaction has the message as it was, and one from after it has the placeholder", async () => {
  const life = await newLife();
  for (let n = 1; n <= 3; n++) await say(life, `a question of some length, number ${n}`, `a reply of some length, number ${n}`);
  const states = [life.runtime.state];
  for (const position of [1, 4, 1]) {
    const [item] = life.runtime.state.view.items.filter((each) => each.position === position);
    if (!item) throw new Error("nothing there");
    await life.service.redact(CALLER, item.id);
    states.push(life.runtime.state);
  }

  for (const state of states) writeCheckpoint(life.sql, state);

  for (const state of states) expect(readCheckpoint(life.sql, state.seq)).toEqual(state);
  expect(states.map(({ view }) => view.items.filter(({ redacted }) => redacted).length)).toEqual([0, 1, 2, 2]);
  expect(life.runtime.state).toEqual(fold(life.events()));
});

test("a state too large for a row goes without a checkpoint", async () => {
  const life = await newLife();
  const { state } = life.runtime;
  const title = { body: "b".repeat(600_000), bytes: 1, tokens: 1 };

  writeCheckpoint(life.sql, JSON.parse(JSON.stringify({ ...state, pins: [title] })));

  expect(readSeqs(life)).toEqual([]);
});

describe("a turn's calls", () => {
  test("are found by an index, in order, and no other turn's are among them", async () => {
    const life = await newLife();
    for (let n = 0; n < 5; n++) await say(life, `question ${n}`, `reply ${n}`);
    const [, , third] = listTurns(life);
    if (!third) throw new Error("no third turn");

    const calls = readTurnCalls(life.sql, third);

    const wanted = life.events().filter((event) => event.type === "ModelCallFinished" && event.turn === third);
    expect(calls).toEqual(wanted);
    const query =
      "EXPLAIN QUERY PLAN SELECT seq FROM events WHERE type = 'ModelCallFinished' AND json_extract(data, '$.turn') = ? ORDER BY seq";
    expect(life.sql.all<{ detail: string }>(query, third)[0]?.detail).toContain("calls_by_turn");
  });

  test("carry what their request was asked with, and nothing of a credential", async () => {
    const life = new Life();
    life.models = { resolve: async () => ({ ...SPEC, credential: "a-name", prices: { input: 1, cached: 1, cache_write: 1, output: 1 } }) };
    await life.open();
    await life.send("hello?");
    await life.answer("hello!");

    const [turn] = listTurns(life);
    const [call] = turn ? readTurnCalls(life.sql, turn) : [];

    expect(call?.asked).toEqual({
      seq: 2,
      at: 1_000,
      max_output: null,
      model: {
        provider: "embedded",
        upstream_id: "test-model",
        base_url: null,
        context_window: 8_000,
        max_output: 1_000,
        source: "deployment",
      },
    });
  });
});
