/** A quarter of the simulation's seeds (docs/invariants.md). */
import { testPart } from "./run-seeds";

testPart(4);
