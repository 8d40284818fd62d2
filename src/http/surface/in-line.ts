/** Waiting in line: a request that a running turn keeps out is sent again after that turn. */
import type { Schedule } from "../../app/session-ports";
import { parseId, type TurnId } from "../../domain/ids";
import type { Result } from "../../lib/result";
import type { HttpError } from "../problem";
import type { SessionCalls } from "../session-calls";

/** Clients wait that long for the beginning of an answer without a doubt. */
const MOST_WAIT_MS = 30_000;
/** Of several requests in line only one gets its turn each time, so that a request may have to try as often as there are others. */
const MOST_TRIES = 32;

interface Line {
  readonly calls: SessionCalls;
  readonly schedule: Schedule;
}

/**
 * `send` may run several times. It runs again only after a refusal, which has changed nothing, so that the request is taken once at most.
 * After the longest wait the refusal is the answer.
 */
export async function sendInLine<T, E extends HttpError>(
  { calls, schedule }: Line,
  send: () => Promise<Result<T, E>>,
): Promise<Result<T, E>> {
  let isLate = false;
  let stopWaiting = (): void => {};
  const late = new Promise<void>((resolve) => {
    stopWaiting = schedule(MOST_WAIT_MS, () => {
      isLate = true;
      resolve();
    });
  });
  try {
    for (let tries = 1; ; tries++) {
      const sent = await send();
      if (sent.ok || sent.error.code !== "turn_running" || isLate || tries === MOST_TRIES) return sent;
      const turn = parseId("trn", "turn" in sent.error ? sent.error.turn : "") ?? (await findNext(calls));
      if (turn !== null) await Promise.race([waitFor(calls, turn), late]);
    }
  } finally {
    stopWaiting();
  }
}

/** The turn that is about to start, where messages wait and no turn runs. */
async function findNext(calls: SessionCalls): Promise<TurnId | null> {
  const described = await calls.repeatable((api, caller) => api.describe(caller));
  return described.ok ? (described.value.turn?.id ?? described.value.queued[0]?.turn_id ?? null) : null;
}

/** A wait that is cut off ends: the request is sent again, and is answered by whatever cut the wait off. */
async function waitFor(calls: SessionCalls, turn: TurnId): Promise<void> {
  try {
    await calls.repeatable((api, caller) => api.waitForTurn(caller, turn, MOST_WAIT_MS));
  } catch {
    return;
  }
}
