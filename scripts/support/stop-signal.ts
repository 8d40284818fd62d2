import { Failure } from "./output.ts";

let requested: Promise<void> | null = null;

/**
 * Resolves when this process is asked to stop: by a signal, or by the death of scripts/run.mjs, which closes its channel. From
 * the first call on, a signal does not end the process, and later calls report a request that came before them.
 */
export function stopRequested(): Promise<void> {
  requested ??= new Promise((resolve) => {
    const stop = (): void => resolve();
    // The listener stays installed, because a Ctrl-C arrives from the terminal and once more from npm.
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop);
    process.on("disconnect", stop);
  });
  return requested;
}

/**
 * Opens a resource, works with it until this process is asked to stop, and closes it. From the call on a signal does not end the
 * process: one that comes while the resource opens is seen afterwards, so that the resource is closed.
 */
export async function useUntilStopped<R extends { close(): Promise<void> }, T>(
  open: () => Promise<R>,
  work: (resource: R) => Promise<T>,
): Promise<T> {
  void stopRequested();
  const resource = await open();
  try {
    return await untilStopped(work(resource));
  } finally {
    await resource.close();
  }
}

/** Runs `work`, and rejects with a `Failure` when this process is asked to stop, so that `finally` blocks clean up. */
export function untilStopped<T>(work: Promise<T>): Promise<T> {
  const stopped = stopRequested().then((): never => {
    throw new Failure("Stopped.");
  });
  return Promise.race([work, stopped]);
}
