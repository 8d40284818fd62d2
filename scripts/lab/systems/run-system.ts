/** Runs one column under another system's rule. */

import type { Segments } from "../../../src/evaluate/segments";
import { type Figures, Ledger } from "../engine/ledger";
import { LabSession } from "../engine/session";
import { type Conditions, LAB_MODEL, toLimits, toSetup, USUAL } from "../engine/setup";
import { StepPlayer } from "../engine/step-player";
import type { Column } from "../engine/steps";
import type { System } from "./system.ts";
import { SystemCalls } from "./system-calls.ts";

export function runSystem(column: Column, system: System, by: { readonly segments: Segments; readonly conditions?: Conditions }): Figures {
  const { segments, conditions = USUAL } = by;
  const { window, system: prompt, steps } = column;
  const setup = toSetup("oneclaw", { guard: false, eachCall: false, countsChain: false, recall: false });
  const session = new LabSession({
    model: LAB_MODEL.id,
    system: prompt,
    policyText: setup.policyText,
    policy: setup.policy,
    recall: false,
    segments,
  });
  const ledger = new Ledger({ window, segments, prices: conditions.prices });
  const calls = new SystemCalls({ system, prompt, session, ledger, limits: toLimits(window, conditions.prices), conditions });
  const player = new StepPlayer({ session, calls, tally: ledger });
  for (const step of steps) player.play(step);
  return ledger.figures();
}
