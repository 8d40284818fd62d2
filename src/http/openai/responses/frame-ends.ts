/** How a response ends with a frame of its stream. */
import type { StreamFrame } from "../../../contract/frame";
import type { ResponseEvent } from "./events";
import { endTurn } from "./leg";
import type { LegEnd } from "./resource";

export type TurnEndFrame = Extract<StreamFrame, { type: "turn.completed" | "turn.failed" | "turn.stopped" | "turn.interrupted" }>;

const STATUSES = {
  "turn.completed": "completed",
  "turn.failed": "failed",
  "turn.stopped": "stopped",
  "turn.interrupted": "interrupted",
} as const satisfies Record<TurnEndFrame["type"], string>;

const fail = (message: string): LegEnd => ({ status: "failed", error: { code: "server_error", message } });

export const GONE = {
  "session.erased": fail("The conversation was deleted."),
  "stream.halted": fail("The conversation's storage is full: the response cannot go on."),
} satisfies Partial<Record<StreamFrame["type"], LegEnd>>;

export const readTurnEnd = (frame: TurnEndFrame): LegEnd =>
  endTurn({
    status: STATUSES[frame.type],
    finish: frame.type === "turn.completed" ? frame.finish : null,
    failure: frame.type === "turn.failed" ? frame.failure : null,
  });

/** Clients read the fields nested or flat. */
export const toErrorEvent = ({ code, message }: { readonly code: string; readonly message: string }): ResponseEvent => ({
  type: "error",
  code,
  message,
  param: null,
  error: { type: "server_error", code, message, param: null },
});
