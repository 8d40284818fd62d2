/**
 * Finds a turn that makes no progress: its model makes a call again that has failed in the same way. Without this, such a turn would go on to
 * `tools.max_rounds`, hundreds of model calls later.
 */
import type { ItemMeta, Part } from "../../domain/message";
import type { SessionPorts } from "../session-ports";
import { CUT_OFF_CALL } from "../tools/judge-call";

/** Rounds of the same calls with the same errors. */
const SAME_ROUNDS = 3;
/** Rounds that are compared: a model may go to and fro between calls that fail. */
const COMPARED_ROUNDS = 12;

/** Reads the newest results of the turn only, as long as they are errors. */
export function standsStill({ writer, content }: Pick<SessionPorts, "writer" | "content">): boolean {
  const { turn, view } = writer.state;
  if (!turn || turn.rounds < SAME_ROUNDS) return false;
  const counts = new Map<string, number>();
  for (const round of newestRounds(view.items, turn.id)) {
    const failed = describeFailed(round.flatMap((item) => content.readParts(item)));
    const count = (counts.get(failed ?? "") ?? 0) + 1;
    if (failed === null || count === SAME_ROUNDS) return failed !== null;
    counts.set(failed, count);
  }
  return false;
}

/** Each round's calls and results, newest first. */
function* newestRounds(items: readonly ItemMeta[], turn: string): Generator<readonly ItemMeta[]> {
  let round: ItemMeta[] = [];
  let rounds = 0;
  for (let index = items.length - 1; index >= 0 && rounds < COMPARED_ROUNDS; index--) {
    const item = items[index];
    if (item?.turn !== turn) break;
    if (item.kind === "tool_result" && round.at(-1)?.kind === "tool_call") {
      yield round;
      rounds++;
      round = [];
    }
    if (item.kind === "tool_result" || item.kind === "tool_call") round.push(item);
  }
  if (round.length > 0 && rounds < COMPARED_ROUNDS) yield round;
}

const CUT_OFF = CUT_OFF_CALL.output;

/** The calls and their errors as one text. Null when a call succeeded. Calls that were cut off are the same wherever they were cut. */
function describeFailed(parts: readonly Part[]): string | null {
  const isCut = parts.some((part) => part.type === "tool_result" && part.output === CUT_OFF);
  const told = parts.flatMap((part) => {
    if (part.type === "tool_call") return [[part.name, isCut ? "" : part.arguments]];
    return part.type === "tool_result" ? [[part.name, part.output]] : [];
  });
  const succeeded = parts.some((part) => part.type === "tool_result" && !part.is_error);
  return succeeded ? null : JSON.stringify(told);
}
