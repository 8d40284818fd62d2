/** What a kill does to a request, and the request sent again until the server has answered it. */
import { setTimeout as delay } from "node:timers/promises";
import { ApiError } from "../support/api-client.ts";

/** Between attempts, in milliseconds: the server is being killed and started meanwhile. */
const PAUSE = 50;

/** Waits before a request is sent again. */
export const pause = (): Promise<void> => delay(PAUSE);

/** Whether a kill, or the start after it, may have caused this. A refusal did not: that is a bug. */
export const isCut = (error: unknown): boolean =>
  error instanceof ApiError ? error.status >= 500 || error.status === 409 : isNetworkError(error);

/** `fetch` throws a TypeError when it cannot connect, or when the connection breaks in the middle of a body. */
const isNetworkError = (error: unknown): boolean => error instanceof TypeError || (error instanceof Error && "code" in error);

/** Repeats `work` until it gives a value; null: it is not done yet. Throws what no kill explains. */
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
