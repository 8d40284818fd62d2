/** An event that callers wait for. Each waiting caller is woken once. */
export interface Signal {
  /** Resolves when the signal is given next, or after `ms`. */
  next(ms?: number): Promise<void>;
  give(): void;
}

export function createSignal(schedule: (ms: number, work: () => void) => () => void): Signal {
  const waiters = new Set<() => void>();
  return {
    next: (ms) =>
      new Promise((resolve) => {
        let cancel = (): void => {};
        const wake = (): void => {
          cancel();
          waiters.delete(wake);
          resolve();
        };
        waiters.add(wake);
        if (ms !== undefined) cancel = schedule(ms, wake);
      }),
    give() {
      for (const wake of [...waiters]) wake();
    },
  };
}
