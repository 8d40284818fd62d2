/** D1's transient failures. D1 errors carry no `.retryable`, so the message decides (Cloudflare's D1 documentation, list of errors). */
const TRANSIENT = [
  "Network connection lost",
  "storage caused object to be reset",
  "reset because its code was updated",
  "Cannot resolve D1 DB due to transient issue",
];

/** Waits before the second and the third try. They are short: a longer outage is left to the drain's own backoff. */
const PAUSES_MS = [20, 60];

const isTransient = (error: unknown): boolean => {
  const message = String(error);
  return TRANSIENT.some((known) => message.includes(known));
};

export type Pause = (ms: number) => Promise<void>;
export const pause: Pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Runs `work` up to three times. `work` must be safe to run twice: D1 may have committed a batch whose answer was lost. */
export async function withRetries<T>(work: () => Promise<T>, wait: Pause): Promise<T> {
  for (const ms of PAUSES_MS) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error)) throw error;
    }
    await wait(ms);
  }
  return work();
}
