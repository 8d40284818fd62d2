/** Work that one at a time does is never left undone, whenever it is asked for. */
import { expect, it } from "vitest";
import { createWorker } from "../../src/app/channels/worker";

it.each(Array.from({ length: 12 }, (_, moment) => moment))(
  "work that is asked for again %s microtasks after its beginning is done again",
  async (moment) => {
    let done = 0;
    let running: Promise<unknown> = Promise.resolve();
    const background = (work: Promise<unknown>): void => {
      running = work;
    };
    const failed = (error: unknown): never => {
      throw error;
    };
    const worker = createWorker(async () => void done++, { background, failed });
    worker.start();
    for (let n = 0; n < moment; n++) await null;
    worker.start();
    await running;
    expect(done).toBe(2);
  },
);
