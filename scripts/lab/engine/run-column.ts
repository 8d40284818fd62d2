/** Plays one column under one policy: a session in which everything recorded happens, with one model call for each assistant message. */

import type { Segments } from "../../../src/evaluate/segments";
import { type Figures, Ledger } from "./ledger";
import { ModelCalls } from "./model-calls";
import { LabSession } from "./session";
import { type Conditions, LAB_MODEL, type Setup, toLimits, toSetup, USUAL } from "./setup";
import { StepPlayer } from "./step-player";
import type { Column } from "./steps";

export function runColumn({ window, system, steps }: Column, setup: Setup, segments: Segments): Figures {
  const { policyText, policy, recall } = setup;
  const ledger = new Ledger({ window, segments, prices: setup.prices });
  const session = new LabSession({ model: LAB_MODEL.id, system, policyText, policy, recall, segments });
  const calls = new ModelCalls({ session, setup, limits: toLimits(window, setup.prices), ledger });
  const player = new StepPlayer({ session, calls, tally: ledger });
  for (const step of steps) player.play(step);
  return ledger.figures();
}

/** Large enough that nothing leaves the view. */
const UNLIMITED = 100_000_000;

/** The same calls, with the complete history in each request. */
export const runUnlimited = (column: Column, segments: Segments, conditions: Conditions = USUAL): Figures =>
  runColumn(
    { ...column, window: UNLIMITED },
    toSetup("oneclaw", { ...conditions, guard: false, eachCall: false, countsChain: false, recall: false }),
    segments,
  );
