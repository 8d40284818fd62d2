/** The texts that tell the model why a call failed. */
import type { ToolOutcome } from "../app/ports";
import { assertNever } from "../lib/assert-never";
import type { SafeFailure } from "./safe-fetch";

export function describeToolFailure(failure: SafeFailure): ToolOutcome {
  return { output: wordsFor(failure), failure };
}

function wordsFor(failure: SafeFailure): string {
  switch (failure) {
    case "refused_address":
      return "The call was refused: it would have gone to an address that is not of the public internet.";
    case "unreachable":
      return "The tool could not be reached, or its answer broke off. Whether it took effect is not known.";
    case "timeout":
      return "The tool did not answer in time. Whether it took effect is not known.";
    default:
      return assertNever(failure);
  }
}
