/** The effects of a kill on a request, and the repetition of a request until the server has answered it. */
import { setTimeout as delay } from "node:timers/promises";
import { ApiError } from "../support/api-client.ts";

/** Milliseconds between attempts, while the server is killed and restarted. */
const PAUSE = 50;

/** Waits before a request is repeated. */
export const pause = (): Promise<void> => delay(PAUSE);

/** Whether a kill, or the restart after it, can have caused this error. A refusal is not caused by a kill: it is a bug. */
export const isCut = (error: unknown): boolean =>
  error instanceof ApiError ? error.status >= 500 || error.status === 409 : isNetworkError(error);

/** `fetch` throws a TypeError when it cannot connect, or when the connection breaks while a body is read. */
const isNetworkError = (error: unknown): boolean => error instanceof TypeError || (error instanceof Error && "code" in error);

/** Repeats `work` until it returns a value other than null. Throws errors that a kill does not explain. */
export async function untilDone<T>(work: () => Promise<T | null>, onCut: () => void): Promise<T> {
  for (;;) {
    try {
      const done = await work();
      if (done !== null) return done;
    } catch (error) {
      if (!isCut(error)) throw error;
    }
    onCut();
    await pause();
  }
}
