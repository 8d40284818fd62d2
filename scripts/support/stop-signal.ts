import { Failure } from "./output.ts";

/** Resolves when somebody wants this process to end: a signal, or the death of scripts/run.mjs, which closes its channel. */
export function stopRequested(): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => resolve();
    // Stays installed: a Ctrl-C arrives from the terminal and once more from npm.
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop);
    process.on("disconnect", stop);
  });
}

/** `work`, given up with a `Failure` when somebody wants this process to end: what `finally` cleans up is then cleaned up. */
export function untilStopped<T>(work: Promise<T>): Promise<T> {
  const stopped = stopRequested().then((): never => {
    throw new Failure("Stopped.");
  });
  return Promise.race([work, stopped]);
}
