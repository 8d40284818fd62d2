import { describe, expect, test } from "vitest";
import { addToTotals, NO_CALLS } from "../../src/domain/call-totals";
import type { Command, ModelCall } from "../../src/domain/commands";
import type { Event } from "../../src/domain/events";
import { MAX_TITLE_TRIES } from "../../src/domain/state";
import { given, id, play, TENANT } from "../support/builders";

const call = (change: Partial<ModelCall> = {}): ModelCall => ({
  turn: null,
  purpose: "title",
  model: "cheap",
  epoch: 0,
  up_to: 2,
  usage: { input: 100, output: 10, cached: 60, reasoning: 4, cache_write: 20 },
  estimate: 100,
  request_digest: null,
  outcome: "stop",
  ms: 5,
  lease: null,
  ...change,
});
const finished = (change: Partial<ModelCall> = {}): Event => ({ type: "ModelCallFinished", ...call(change) });

describe("a session's totals", () => {
  test("have every call in them, whatever it was for and however it ended", () => {
    const calls = [
      finished({ purpose: "turn" }),
      finished({ usage: null, outcome: "timeout" }),
      finished({ purpose: "compaction", outcome: "stale" }),
    ];
    const { totals } = given(...calls);
    expect(totals).toMatchObject({ calls: 3, failed: 1, input: 200, uncached: 40, cached: 120, cache_write: 40, output: 20, reasoning: 8 });
  });

  test("count a call of unknown cost beside what the others cost", () => {
    const { totals } = given(finished({ cost: 0.1 }), finished({ cost: 0.2 }), finished(), finished({ cost: 0 }));
    expect(totals).toMatchObject({ calls: 4, cost: 0.3, unpriced: 1 });
  });

  test("count thinking once, also where it was counted beside the output", () => {
    const usage = { input: 1, output: 10, cached: 0, reasoning: 30 };
    expect(addToTotals(NO_CALLS, call({ usage }))).toMatchObject({ output: 40, reasoning: 30 });
  });

  test("take an input whose parts are more than it is for none uncached, never for less", () => {
    const usage = { input: 50, output: 0, cached: 60, reasoning: 0, cache_write: 10 };
    expect(addToTotals(NO_CALLS, call({ usage })).uncached).toBe(0);
  });
});

describe("a call for a title", () => {
  const title = { body: id("bod", 1), bytes: 5, tokens: 2 };
  const record = (change: Partial<Extract<Command, { type: "RecordTitle" }>> = {}): Command => ({
    type: "RecordTitle",
    at: 9,
    call: call(),
    title,
    tries: 0,
    ...change,
  });

  test("is in the ledger, sets the title, and moves nothing that a request is made of", () => {
    const before = given();
    const { events, state } = play([record()], before);
    expect(events.map(({ type }) => type)).toEqual(["ModelCallFinished", "SettingsChanged"]);
    expect(state).toMatchObject({ settings: { title }, title_tries: MAX_TITLE_TRIES, totals: { calls: 1 } });
    expect(state).toMatchObject({ view: before.view, anchor: before.anchor, ratios: before.ratios });
  });

  test("leaves a title that was set meanwhile as it is", () => {
    const own = { ...title, body: id("bod", 2) };
    const set: Command = { type: "ChangeSettings", at: 5, changes: { title: own } };
    const { events, state } = play([set, record()], given());
    expect(events.map(({ type }) => type)).toEqual(["SettingsChanged", "ModelCallFinished"]);
    expect(state.settings.title).toEqual(own);
  });

  test("is there once, however often it is recorded", () => {
    expect(play([record(), record()], given()).rejected).toBe("stale");
  });

  test("that failed costs the one try; one that the object died over leaves another, and no third", () => {
    const failed = play([record({ call: call({ outcome: "timeout" }), title: null })], given()).state;
    expect(failed.title_tries).toBe(MAX_TITLE_TRIES);
    const crashed = (tries: number) => record({ call: call({ outcome: "crashed", usage: null }), title: null, tries });
    expect(play([crashed(0)], given()).state.title_tries).toBe(1);
    expect(play([crashed(0), crashed(1)], given()).state.title_tries).toBe(MAX_TITLE_TRIES);
  });

  test("for a session that was erased meanwhile decides to nothing", () => {
    const { state } = play([{ type: "EraseSession", at: 1 }], given());
    expect(state.tenant).toBe(TENANT);
    expect(play([record()], state).rejected).toBe("session_erased");
  });
});
