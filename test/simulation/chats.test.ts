/** Rules I51 to I53, over many seeds. */
import { simulateChats } from "./chats";
import { testSeeds } from "./test-seeds";

const SEEDS_IN_TESTS = 120;
const MOST_SEEDS = 2_000;

/** What the runs must have done, or they prove nothing. */
const TRIED = ["deliveries"];

testSeeds({
  title: "a delivery leads to one turn and one visible reply, whatever is repeated, late, lost or killed",
  file: "test/simulation/chats.test.ts",
  simulate: simulateChats,
  seeds: SEEDS_IN_TESTS,
  mostSeeds: MOST_SEEDS,
  tried: TRIED,
});
