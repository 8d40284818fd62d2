/** The verdict on a long run, with invented runs, and the faults of its model. */
import { expect, test } from "vitest";
import type { Run } from "../../scripts/soak/conduct";
import { drawCurves, findGrowth, type Sample, sparkline, toCsv } from "../../scripts/soak/curves";
import { drawFault, SHARES, startFaultyProvider } from "../../scripts/soak/faulty-provider";
import { Latencies, readFootprint, toSpread } from "../../scripts/soak/figures";
import { findFaults } from "../../scripts/soak/report";
import { createRandom } from "../../scripts/support/random";

const sample = (changes: Partial<Sample>): Sample => ({
  at: 0,
  kills: 0,
  acknowledged: 0,
  rss_mb: 100,
  fds: 50,
  state_mb: 1,
  files: 4,
  ack_p50: 10,
  ack_p95: 20,
  ack_p99: 30,
  first_p50: 40,
  first_p95: 50,
  first_p99: 60,
  lag: 0,
  ...changes,
});

function buildRun(changes: Partial<Run["findings"]>, notes: Partial<Run["notes"]> = {}): Run {
  const messages = { acknowledged: 10, lost: [], doubled: [], reordered: [], unknown: [] };
  return {
    kills: 3,
    notes: { ack: new Latencies(), firstToken: new Latencies(), resent: 4, ends: {}, refused: [], ...notes },
    told: [],
    samples: [],
    findings: { messages, turns: 10, compactions: 1, unended: [], lag: 0, differences: [], ...changes },
    wall_ms: 1,
  };
}

test("a run in which nothing is wrong has no fault", () => {
  expect(findFaults(buildRun({}), { kills: 3 })).toEqual([]);
});

test.each([
  ["a turn without an end", buildRun({ unended: ["ses_1: trn_1"] }), /no end: ses_1/],
  ["a row that is not what the log says", buildRun({ differences: ["messages[1].content"] }), /read model differs/],
  ["a list that stays behind", buildRun({ lag: 2 }), /2 messages are not in the lists/],
  ["a refusal that no crash explains", buildRun({}, { refused: ["POST was answered 400"] }), /refused: POST/],
  ["a run that no kill met", buildRun({}, { resent: 0 }), /no kill met one/],
])("%s speaks against it", (_, run, said) => {
  expect(findFaults(run, { kills: 3 }).join("\n")).toMatch(said);
});

test("fewer kills than wanted speak against it", () => {
  expect(findFaults(buildRun({}), { kills: 4 })).toEqual(["3 kills, 4 were wanted"]);
});

test("growth compares the last quarter with the first by their medians, and needs both", () => {
  const rising = Array.from({ length: 8 }, (_, at) => sample({ rss_mb: 100 + 50 * at, fds: null }));
  expect(findGrowth(rising)).toEqual([{ what: "memory", first: 150, last: 450 }]);
  expect(findGrowth(rising.slice(0, 3))).toEqual([]);
});

test("a curve goes from its lowest to its highest, with a gap where nothing is known", () => {
  expect(sparkline([0, null, 7])).toBe("▁ █");
  expect(sparkline([5, 5])).toBe("▁▁");
  expect(sparkline(Array.from({ length: 500 }, (_, at) => at))).toHaveLength(60);
  expect(drawCurves([sample({ lag: null })])).toMatch(/^lag +nothing known$/m);
});

test("the file has a line for each sample, and nothing where nothing is known", () => {
  expect(toCsv([sample({ at: 1.26, rss_mb: null })]).split("\n")).toEqual([
    "at,kills,acknowledged,rss_mb,fds,state_mb,files,ack_p50,ack_p95,ack_p99,first_p50,first_p95,first_p99,lag",
    "1.3,0,0,,50,1,4,10,20,30,40,50,60,0",
  ]);
});

test("latencies are told for the time since the last look, and for all of it", () => {
  const latencies = new Latencies();
  for (let ms = 1; ms <= 100; ms++) latencies.add(ms);
  expect(latencies.takeRecent()).toEqual({ count: 100, p50: 51, p95: 96, p99: 100 });
  expect(latencies.takeRecent()).toEqual(toSpread([]));
  expect(latencies.all().count).toBe(100);
});

test("a group without a workerd has no footprint", () => {
  expect(readFootprint(process.pid)).toBeNull();
});

test("the model's faults come in their shares, and not at all once it is calm", async () => {
  const random = createRandom(5);
  const drawn = Array.from({ length: 5_000 }, () => drawFault(random));
  for (const [fault, share] of SHARES) {
    const count = drawn.filter((each) => each === fault).length;
    expect(count, fault).toBeGreaterThan(share * 5 * 0.3);
    expect(count, fault).toBeLessThan(share * 5 * 2);
  }
  const provider = await startFaultyProvider(random);
  try {
    provider.calm();
    const body = JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: "Hello" }] });
    const ask = async () => (await fetch(`${provider.baseUrl}/chat/completions`, { method: "POST", body })).text();
    for (const said of await Promise.all(Array.from({ length: 20 }, ask))) expect(said).toContain("[DONE]");
    expect(provider.faults()).toEqual({ overflow: 0 });
  } finally {
    await provider.close();
  }
}, 30_000);
