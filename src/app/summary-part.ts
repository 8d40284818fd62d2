/** One call of a summariser, as the session hands it out. */
import type { FoldPoint } from "../context/fold";
import type { SummaryStage } from "../context/prompts";
import type { ModelRequest } from "./ports";

/** Where a fold continues. */
export interface FoldNext extends FoldPoint {
  readonly stage: SummaryStage;
}

export interface SummaryPart {
  readonly request: ModelRequest;
  /** How many parts were done before it. It identifies a part that is delivered twice. */
  readonly part: number;
  /** Null when this part's answer completes the summary. */
  readonly next: FoldNext | null;
}
