/** Runs the oracle's schedule as another system's rule, so that the provider, its cache and the ledger determine its cost. */
import { type Ask, type Moment, madeUp, type System, type SystemMessage } from "../systems/system.ts";
import type { Schedule } from "./schedule.ts";
import type { Tape } from "./tape.ts";

export function toSystem(name: string, { cuts }: Schedule, tape: Tape): System {
  const byCall = new Map(cuts.map((cut) => [cut.call, cut]));
  function decide({ messages, call, maxOutput, refused }: Moment): Ask | null {
    const cut = byCall.get(call);
    if (!cut || refused) return null;
    const from = tape.groups[cut.group]?.from ?? Number.POSITIVE_INFINITY;
    const at = messages.findIndex(({ positions }) => (positions[0] ?? 0) >= from);
    const becomes = (summary: string): SystemMessage[] => [madeUp("user", `[Conversation summary]\n${summary}`), ...messages.slice(at)];
    return {
      kind: "summarise",
      reads: messages.slice(0, at),
      form: cut.mode,
      cap: Math.min(cut.summary, maxOutput),
      trims: false,
      most: null,
      becomes,
    };
  }
  return { name, source: "knows the whole future", recovers: false, decide };
}
