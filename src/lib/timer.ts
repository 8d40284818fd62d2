/** Runs `work` after `ms`. The returned function cancels it. */
export function startTimer(ms: number, work: () => void): () => void {
  const timer = setTimeout(work, ms);
  return () => clearTimeout(timer);
}

/** Rejects with a `TimeoutError` where the work has not ended after `ms`. What the work comes to later counts for nothing. */
export function within<T>(ms: number, schedule: typeof startTimer, work: Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const cancel = schedule(ms, () => reject(new DOMException(`no answer within ${ms} ms`, "TimeoutError")));
    void work.then(resolve, reject).finally(cancel);
  });
}

/**
 * Ends one step of a long loop: what waits runs before the next step. One thread serves many objects, and on a local server the whole API,
 * which answers no request while a loop runs whose awaits are all answered within the process. A step should take less than 100 ms. The caller
 * must read the state again, as after every await, and is in no transaction.
 */
export const giveWay = (schedule: typeof startTimer = startTimer): Promise<void> => new Promise((resolve) => void schedule(0, resolve));
