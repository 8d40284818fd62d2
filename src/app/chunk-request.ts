/** One call of a summariser, as the session hands it out. */

import type { SummaryStage } from "../context/prompts";
import type { ChunkCursor } from "../context/summary-chunks";
import type { ModelRequest } from "./ports";

/** Where a chunked summary continues. */
export interface NextChunk extends ChunkCursor {
  readonly stage: SummaryStage;
}

export interface ChunkRequest {
  readonly request: ModelRequest;
  /** How many parts were done before it. It identifies a part that is delivered twice. */
  readonly part: number;
  /** Null when this part's answer completes the summary. */
  readonly next: NextChunk | null;
}
