/** Waiting in line: a request that cannot be taken while a turn runs is sent again after that turn. */
import type { Outcome } from "../../app/session-api";
import type { Schedule } from "../../app/session-ports";
import { parseId, type TurnId } from "../../domain/ids";
import type { SessionCalls } from "../session-calls";

/** Clients wait for an answer that long without a doubt. */
const MOST_WAIT_MS = 30_000;

interface Line {
  readonly calls: SessionCalls;
  readonly schedule: Schedule;
}

/** `send` may run several times: a refused request has changed nothing. After the longest wait the refusal is the answer. */
export async function sendInLine<T>({ calls, schedule }: Line, send: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
  let isLate = false;
  let stopWaiting = (): void => {};
  const late = new Promise<void>((resolve) => {
    stopWaiting = schedule(MOST_WAIT_MS, () => {
      isLate = true;
      resolve();
    });
  });
  try {
    for (;;) {
      const sent = await send();
      const turn = sent.ok || isLate ? null : findRunning(sent.error);
      if (turn === null) return sent;
      await Promise.race([calls.repeatable((api, caller) => api.waitForTurn(caller, turn)), late]);
    }
  } finally {
    stopWaiting();
  }
}

const findRunning = (error: { readonly code: string; readonly turn?: unknown }): TurnId | null =>
  error.code === "turn_running" && typeof error.turn === "string" ? parseId("trn", error.turn) : null;
