/** `work`, or the signal's reason as soon as it is aborted: what is awaited may not know of the signal, or not heed it. */
export async function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const given = Promise.withResolvers<never>();
  const giveUp = (): void => given.reject(signal.reason);
  if (signal.aborted) giveUp();
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    return await Promise.race([work, given.promise]);
  } finally {
    signal.removeEventListener("abort", giveUp);
    // Whatever becomes of the one that lost, nobody waits for it.
    work.catch(() => undefined);
    given.promise.catch(() => undefined);
  }
}
