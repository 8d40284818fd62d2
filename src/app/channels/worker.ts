/** Work that one at a time does, however often it is asked for. */
import type { Background } from "../ports";

export interface Worker {
  /** Begins the work, or lets it look once more when it is under way. */
  start(): void;
}

export function createWorker(
  work: () => Promise<void>,
  { background, failed }: { readonly background: Background; readonly failed: (error: unknown) => void },
): Worker {
  let isRunning = false;
  let isAskedAgain = false;
  async function run(): Promise<void> {
    try {
      do {
        isAskedAgain = false;
        await work();
      } while (isAskedAgain);
    } finally {
      // At once: what is asked for behind the last look begins the work anew.
      isRunning = false;
    }
  }
  return {
    start() {
      isAskedAgain = true;
      if (isRunning) return;
      isRunning = true;
      background(run().catch(failed));
    },
  };
}
