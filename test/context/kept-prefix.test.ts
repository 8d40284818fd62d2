/** The part of a request's beginning that a change of the view leaves, which the provider's cache can still serve. */
import { describe, expect, test } from "vitest";
import { stateAfter } from "../../src/context/epoch-change";
import { keptPrefix } from "../../src/context/kept-prefix";
import type { EpochOp, Overlay } from "../../src/domain/compaction-events";
import type { SessionState } from "../../src/domain/state";
import { id, settings, sized } from "../support/builders";
import { behind, buildSummary, chat } from "./planning";

const system = { body: id("bod", 1), bytes: 40, tokens: 10 };
/** A chain of 300 and 200 over 1 to 20, and messages of 100 each from 21 to 30. */
const under = (policy: string, overlays: readonly Overlay[] = [buildSummary(1, 1, 10, 300), buildSummary(2, 11, 20, 200)]): SessionState =>
  behind(overlays, chat(10, 100, 21), { settings: settings({ policy, system, recall: false }) });
const kept = (state: SessionState, ...ops: readonly EpochOp[]): number => keptPrefix(sized(state), stateAfter(state, ops, "threshold"));

const summarize = (from: number, replaces: readonly Overlay["id"][]): EpochOp => ({
  op: "summarize",
  overlay: id("ovl", 9),
  from,
  to: 26,
  replaces,
  keeps: [],
  tokens: 50,
  bytes: 200,
  items: 6,
  boundary_timestamp: 27,
  generation: 0,
  mode: "transcript",
  read: { ranges: [], overlays: [] },
});
const drop: EpochOp = { op: "drop", overlay: id("ovl", 9), from: 23, to: 24, replaces: [], items: 2 };
const clear: EpochOp = { op: "clear_results", items: [{ position: 24, tokens: 7 }] };

describe("what stays of a request's beginning", () => {
  test.each<[string, readonly EpochOp[], number]>([
    ["behind a summary that is added: the chain", [summarize(21, [])], 10 + 500],
    ["behind one that replaces a part of the chain: the summaries before that part", [summarize(11, [id("ovl", 2)])], 10 + 300],
    ["behind one that takes all of its place: the system prompt", [summarize(1, [id("ovl", 1), id("ovl", 2)])], 10],
    ["behind a drop, which is said after the chain: the chain", [drop], 10 + 500],
    ["behind a result that is cleared: all before it", [clear], 10 + 500 + 300],
    ["with nothing changed: all", [], 10 + 500 + 1_000],
  ])("%s", (_, ops, tokens) => {
    expect(kept(under("balanced"), ...ops)).toBe(tokens);
  });

  test("is nothing where the summary stands before the system prompt; what is cleared behind it leaves it alone", () => {
    const one = [buildSummary(1, 1, 20, 300)];
    expect(kept(under("oneclaw", one), summarize(1, [id("ovl", 1)]))).toBe(0);
    expect(kept(under("oneclaw", one), drop)).toBe(0);
    expect(kept(under("oneclaw", one), clear)).toBe(10 + 300 + 300);
  });

  test("is the system prompt when what a summary stands for comes back", () => {
    const back: EpochOp = { op: "revert", compaction: id("cmp", 1), to: 20, overlays: [], items: chat(20, 100), reduced: [] };
    expect(kept(under("balanced"), back)).toBe(10);
  });
});
