/** The timer beside a stream, which runs as long as there is a listener. `test/workers` tests the rest. */
import { expect, test } from "vitest";
import { boundToKey, KEY_CHECK_MS } from "../../src/http/bound-stream";
import { FakeSchedule } from "../support/fake-schedule";

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

class Listening {
  readonly time = new FakeSchedule();
  looks = 0;
  cancelled = false;
  source: ReadableStreamDefaultController<Uint8Array> | null = null;
  readonly stream: ReadableStream<Uint8Array>;

  constructor() {
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.source = controller;
      },
      cancel: () => {
        this.cancelled = true;
      },
    });
    const isValid = async () => {
      this.looks += 1;
      return true;
    };
    this.stream = boundToKey({ stream, isValid, schedule: this.time.schedule, newPipe: () => new TransformStream() });
  }

  async advance(intervals: number): Promise<void> {
    for (let n = 0; n < intervals; n++) {
      this.time.advance(KEY_CHECK_MS);
      await settle();
    }
  }
}

test("a key is looked at once each interval while its stream is open", async () => {
  const listening = new Listening();
  await listening.advance(3);
  expect(listening.looks).toBe(3);
});

test("and stops once its client has disconnected, which the session learns", async () => {
  const listening = new Listening();
  await listening.advance(1);
  await listening.stream.cancel();
  await settle();
  await listening.advance(3);
  expect(listening).toMatchObject({ looks: 1, cancelled: true });
});

test("nor once the stream has ended", async () => {
  const listening = new Listening();
  listening.source?.close();
  expect(await new Response(listening.stream).text()).toBe("");
  await settle();
  await listening.advance(3);
  expect(listening.looks).toBe(0);
});

test("a stream that breaks is broken for its client too", async () => {
  const listening = new Listening();
  listening.source?.error(new Error("the object was reset"));
  await expect(new Response(listening.stream).text()).rejects.toThrow("the object was reset");
});
