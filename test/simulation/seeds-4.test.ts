/** A quarter of the simulation's seeds (docs/simulation.md). */
import { testPart } from "./run-seeds";

testPart(4);
