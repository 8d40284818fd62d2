/** Runs `work` after `ms`. The returned function cancels it. */
export function startTimer(ms: number, work: () => void): () => void {
  const timer = setTimeout(work, ms);
  return () => clearTimeout(timer);
}

/** Rejects with a `TimeoutError` where the work has not ended after `ms`. What the work comes to later counts for nothing. */
export function within<T>(ms: number, schedule: typeof startTimer, work: PromiseLike<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const cancel = schedule(ms, () => reject(new DOMException(`no answer within ${ms} ms`, "TimeoutError")));
    void Promise.resolve(work).then(resolve, reject).finally(cancel);
  });
}

/** The answer of another object is no `Promise` of this realm's own, and is awaited like one. */
const isPending = (answer: unknown): answer is PromiseLike<unknown> => answer instanceof Object && "then" in answer;

/** The port of another object or service, where each call that it does not answer at once fails after `ms`. */
export function limitCalls<T extends object>(port: T, ms: number, schedule: typeof startTimer): T {
  return new Proxy(port, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      return (...input: unknown[]): unknown => {
        const answer: unknown = Reflect.apply(method, target, input);
        return isPending(answer) ? within(ms, schedule, answer) : answer;
      };
    },
  });
}

/**
 * Ends one step of a long loop: what waits runs before the next step. One thread serves many objects, and on a local server the whole API,
 * which answers no request while a loop runs whose awaits are all answered within the process. A step should take less than 100 ms. The caller
 * must read the state again, as after every await, and is in no transaction.
 */
export const giveWay = (schedule: typeof startTimer = startTimer): Promise<void> => new Promise((resolve) => void schedule(0, resolve));
