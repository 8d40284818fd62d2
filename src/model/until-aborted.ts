/**
 * Settles as `work` does, or rejects with the signal's reason as soon as it is aborted. `work` may not know the signal, or
 * not obey it.
 */
export async function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const given = Promise.withResolvers<never>();
  const giveUp = (): void => given.reject(signal.reason);
  if (signal.aborted) giveUp();
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    return await Promise.race([work, given.promise]);
  } finally {
    signal.removeEventListener("abort", giveUp);
    // The promise that lost the race may still reject, and no caller awaits it.
    work.catch(() => undefined);
    given.promise.catch(() => undefined);
  }
}
