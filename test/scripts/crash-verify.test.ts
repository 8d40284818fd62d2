import { describe, expect, test } from "vitest";
import type { ClientRecord } from "../../scripts/crash-test/client";
import { findFaults, verify } from "../../scripts/crash-test/verify";
import { createRandom } from "../../scripts/support/random";

const client = (sent: string[], acknowledged = sent): ClientRecord => ({
  name: "c",
  session: "s",
  sent,
  acknowledged: new Set(acknowledged),
  resent: 0,
});
const stored = (...texts: string[]): Map<string, string[]> => new Map([["s", texts]]);
const clean = { lost: [], doubled: [], reordered: [], unknown: [] };

describe("the crash test's verdict", () => {
  test("every acknowledged message once and in order is clean, whatever others say between", () => {
    const verdict = verify([client(["a1", "a2"]), client(["b1"])], stored("a1", "b1", "a2"));
    expect(verdict).toEqual({ acknowledged: 3, ...clean });
  });

  test("a message that was never acknowledged may be missing", () => {
    expect(verify([client(["a1", "a2"], ["a1"])], stored("a1"))).toEqual({ acknowledged: 1, ...clean });
  });

  test("an acknowledged message that is not there is lost", () => {
    expect(verify([client(["a1", "a2"])], stored("a1")).lost).toEqual(["a2"]);
  });

  test("a message twice is doubled, acknowledged or not", () => {
    expect(verify([client(["a1", "a2"], ["a1"])], stored("a1", "a2", "a2")).doubled).toEqual(["a2"]);
  });

  test("a message before an earlier one is reordered", () => {
    expect(verify([client(["a1", "a2"])], stored("a2", "a1")).reordered).toEqual(["a1"]);
  });

  test("a message that no client sent is reported", () => {
    expect(verify([client(["a1"])], stored("a1", "z")).unknown).toEqual(["z"]);
  });
});

describe("a crash test's run", () => {
  const tried = { acknowledged: 3, ...clean };

  test("passes when messages were acknowledged, requests were cut off, and nothing is wrong", () => {
    expect(findFaults(tried, 1)).toEqual([]);
  });

  test.each([
    ["nothing was acknowledged", { ...tried, acknowledged: 0 }, 1, /no message was acknowledged/],
    ["no request was cut off", tried, 0, /sent again/],
    ["a message is lost", { ...tried, lost: ["a1"] }, 1, /^lost: a1$/],
    ["a message is doubled", { ...tried, doubled: ["a1"] }, 1, /^doubled: a1$/],
    ["a message is out of order", { ...tried, reordered: ["a1"] }, 1, /^out of order: a1$/],
    ["no client sent a message", { ...tried, unknown: ["z"] }, 1, /^no client sent it: z$/],
  ])("fails when %s, and says so", (_, verdict, resent, fault) => {
    expect(findFaults(verdict, resent)).toEqual([expect.stringMatching(fault)]);
  });
});

describe("seeded randomness", () => {
  const draw = (seed: number): number[] => {
    const random = createRandom(seed);
    return Array.from({ length: 200 }, () => random.between(5, 9));
  };

  test("the same seed draws the same, another seed something else", () => {
    expect(draw(7)).toEqual(draw(7));
    expect(draw(7)).not.toEqual(draw(8));
  });

  test("both bounds are drawn and none outside them", () => {
    expect([...new Set(draw(1))].sort()).toEqual([5, 6, 7, 8, 9]);
  });
});
