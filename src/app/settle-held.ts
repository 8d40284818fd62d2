/** What background workers brought while it could not take effect is judged now, each once. */
import type { HeldOutcomes } from "./held-outcomes";
import type { CompactionPorts } from "./plan-session";
import type { ModelSpec } from "./ports";
import { type Inside, settleCompaction } from "./settle-compaction";

export interface HeldPorts extends CompactionPorts {
  readonly held: HeldOutcomes;
}

/** True: an attempt failed and another is allowed. */
export function settleHeld(spec: ModelSpec, ports: HeldPorts, inside: Inside | null = null): boolean {
  const settled = ports.held.take().map((held) => settleCompaction({ ...held, next: null, inside }, spec, ports));
  return settled.some(({ next }) => next === "retry");
}
