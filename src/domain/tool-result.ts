/** Tool results as they enter the conversation. */
import type { NewResult, NewToolRun } from "./commands";
import type { Event } from "./events";
import type { ItemMeta } from "./message";
import type { OpenCall, OpenTurn, SessionState } from "./state";

/** The item that holds the result of `call`. */
export function resultItem(draft: NewResult, of: { turn: OpenTurn; call: OpenCall; is_error: boolean; position: number }): ItemMeta {
  const { execution, call_id, name } = of.call;
  const tool = { execution, call_id, name, is_error: of.is_error };
  return { ...draft, kind: "tool_result", turn: of.turn.id, tool, position: of.position };
}

export function toolRan(
  { item: draft, is_error, ran }: Omit<NewToolRun, "execution">,
  { turn, call, incarnation, position }: { turn: OpenTurn; call: OpenCall; incarnation: string; position: number },
): Event {
  const item = resultItem(draft, { turn, call, is_error, position });
  return { type: "ToolResultRecorded", turn: turn.id, item, incarnation, ran };
}

/** Results for calls that were started, are still open, and whose end will not be observed. */
export function lostResults(state: SessionState, lost: readonly NewToolRun[], incarnation: string): Event[] {
  const { turn } = state;
  if (!turn) return [];
  const begun = lost.flatMap((result) => {
    const call = turn.open_calls.find((each) => each.execution === result.execution && each.started);
    return call ? [{ result, call }] : [];
  });
  return begun.map(({ result, call }, index) => toolRan(result, { turn, call, incarnation, position: state.next_position + index }));
}
