/** The table of the estimator's error: the meaning of its figures, and the missed goals. */
import { expect, test } from "vitest";
import { CORPUS_NAMES, type Corpus, generateCorpora } from "../../scripts/estimates/corpora";
import { quantile, toFigures, toTotals } from "../../scripts/estimates/figures";
import { findMissed } from "../../scripts/estimates/goals";
import { type Estimate, playCorpus } from "../../scripts/estimates/play-corpus";
import { findStale, formatFigures } from "../../scripts/estimates/report";
import { countBy } from "../../scripts/lab/true-tokens";
import { sized } from "../support/effort";

const named = (name: string, seed = 1): Corpus => {
  const [found] = generateCorpora(seed, [name]);
  if (!found) throw new Error(`no corpus ${name}`);
  return found;
};

/** Errors of at most 30 by default. */
const estimate = (expected: number, planned = expected + 30): Estimate => ({ reports: 1, counted: 100, expected, planned });
const buildFigures = (by: { readonly before?: readonly Estimate[]; readonly after?: readonly Estimate[] }) =>
  toFigures({ name: "made up", before: by.before ?? [estimate(100)], after: by.after ?? [estimate(100)] });

test("the same seed writes the same conversations, another one others", () => {
  expect(named("mixed results")).toEqual(named("mixed results"));
  expect(named("mixed results", 2)).not.toEqual(named("mixed results"));
});

/** One of each kind: prose, another script, code, and what is none of them. */
const SOME = ["English", "JSON, compact", "mixed results"];

/** The test counts megabytes of text, which takes time on a busy machine. */
const SECONDS = 60_000;

test.each(sized({ whole: CORPUS_NAMES, small: SOME }))(
  "the goals hold on %s with another seed than the table's",
  { timeout: SECONDS },
  (name) => {
    expect(findMissed([toFigures(playCorpus(named(name, 2_002), 1))])).toEqual([]);
  },
);

test("before a report every request of a conversation is estimated whole, and planned with a quarter and a little more", () => {
  const { before } = playCorpus(named("English"), 1);
  for (const { expected, planned, reports } of before) {
    expect(reports).toBe(0);
    expect(Math.abs((planned - 8) / expected - 1.25)).toBeLessThan(0.01);
  }
});

test("after a report only what came since is estimated: a request is off by less the more of it was counted", () => {
  const { after } = playCorpus(named("German"), 1);
  const sizes = (reports: number) =>
    after.filter((one) => one.reports === reports).map(({ expected, counted }) => Math.abs(expected / counted - 1));
  expect(sizes(1)).toHaveLength(10);
  expect(quantile(sizes(11), 0.5)).toBeLessThan(quantile(sizes(1), 0.5));
});

/** Its counts are those of o200k for English, and up to three times those for Hindi. */
test.each(["Hindi", "Thai", "mixed languages"])("the bound follows another tokenizer from the second report on: %s", (name) => {
  countBy("cl100k");
  const { after } = playCorpus(named(name), 1);
  countBy("o200k");
  const later = after.filter(({ reports }) => reports > 1);
  const within = later.filter(({ expected, counted, planned }) => Math.abs(expected - counted) <= planned - expected);
  expect(within.length / later.length).toBeGreaterThanOrEqual(0.85);
});

test("a provider that counts a third more is known after its first report", () => {
  const { before, after } = toFigures(playCorpus(named("English"), 1.33));
  expect(before.estimate.median).toBeLessThan(-0.2);
  expect(after.estimate.median_size).toBeLessThan(0.03);
});

test("a share of estimates is told by the nearest rank, and of none it is 0", () => {
  expect([0, 0.5, 0.95, 1].map((share) => quantile([5, 1, 4, 2, 3], share))).toEqual([1, 3, 5, 5]);
  expect(quantile([], 0.5)).toBe(0);
});

test.each([
  [
    "what is planned before a report is 16 % short",
    { before: [...Array.from({ length: 19 }, () => estimate(100)), estimate(60, 84)] },
    "made up: planned before the first report, under: 16.0 %, at most 15.0 % was expected",
  ],
  [
    "every other estimate after a report is 4 % off",
    { after: [estimate(96), estimate(104)] },
    "made up: estimate after a report, median: 4.0 %, at most 3.0 % was expected",
  ],
  [
    "one estimate of ten is 11 % off",
    { after: [...Array.from({ length: 9 }, () => estimate(100)), estimate(111)] },
    "made up: estimate after a report, p95: 11.0 %, at most 10.0 % was expected",
  ],
  [
    "one count of ten is further off than the bound says",
    { after: [...Array.from({ length: 9 }, () => estimate(98, 103)), estimate(94, 99)] },
    "made up: outside of the stated bound after a report: 10.0 %, at most 5.0 % was expected",
  ],
  ["no request came after a report", { after: [] }, "made up: no request came after a report"],
])("a goal is missed where %s", (_where, given, said) => {
  expect(findMissed([buildFigures(given)])).toEqual([said]);
});

test("padding is no error of the estimate, and an estimate that is short but padded is no miss", () => {
  expect(findMissed([buildFigures({ before: [estimate(81, 101)], after: [estimate(100, 125)] })])).toEqual([]);
});

test("the last rows are all corpora as one, and the requests of them that one report came before", () => {
  const played = [playCorpus(named("German"), 1), playCorpus(named("French"), 1)];
  const [all, second] = toTotals(played);
  expect(all?.before.requests).toBe(240);
  expect([all?.after.requests, second?.after.requests]).toEqual([220, 20]);
});

test("a document is stale where a row is not as it is printed, however wide its columns are", () => {
  const rows = [buildFigures({}), { ...buildFigures({ after: [estimate(101)] }), corpus: "another" }];
  const printed = formatFigures(rows).replaceAll("  ", "   ");
  expect(findStale(rows, printed)).toEqual([]);
  expect(findStale(rows, printed.replace(/another(.*)1\.0/, "another$19.9"))).toEqual(["another"]);
});
