/** What one call of a summariser is asked, as the session hands it out. */
import type { FoldPoint } from "../context/fold";
import type { SummaryStage } from "../context/prompts";
import type { ModelRequest } from "./ports";

/** Where a fold goes on. */
export interface FoldNext extends FoldPoint {
  readonly stage: SummaryStage;
}

export interface SummaryPart {
  readonly request: ModelRequest;
  /** How many parts were done before it: what is delivered twice is told by it. */
  readonly part: number;
  /** Null: with this part's answer the summary is complete. */
  readonly next: FoldNext | null;
}
