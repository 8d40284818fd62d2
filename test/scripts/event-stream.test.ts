import fc from "fast-check";
import { expect, test } from "vitest";
import { parseEventStream, type ServerSentEvent } from "../../scripts/support/event-stream";

/** The bytes of `text`, cut at the given places. */
async function* cut(text: string, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  for (const size of [...sizes, bytes.length]) {
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

async function read(text: string, sizes: readonly number[] = []): Promise<ServerSentEvent[]> {
  const events: ServerSentEvent[] = [];
  for await (const event of parseEventStream(cut(text, sizes))) events.push(event);
  return events;
}

test("comments and events without data yield nothing, and a cut-off event is dropped", async () => {
  const events = await read(": heartbeat\n\nevent: nothing\n\nid: 7\nevent: text.delta\ndata: one\ndata: two\n\ndata: half");
  expect(events).toEqual([{ event: "text.delta", data: "one\ntwo", id: "7" }]);
});

test("wherever the bytes are cut, the events are the same", async () => {
  const text = 'id: 1\nevent: a\ndata: {"text": "x: é 😀"}\n\ndata:second\n\n';
  const whole = await read(text);
  expect(whole).toHaveLength(2);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 9 })), async (sizes) => {
      expect(await read(text, sizes)).toEqual(whole);
    }),
  );
});

test("an event that comes in many pieces costs as much for each character however long it is", async () => {
  const measureCost = async (units: number, times: number): Promise<number> => {
    const text = `data: ${"x".repeat(units)}\n\n`;
    const sizes = Array.from({ length: units / 16 }, () => 16);
    const costs: number[] = [];
    for (let run = 0; run < 4; run++) {
      const from = process.cpuUsage();
      for (let n = 0; n < times; n++) await read(text, sizes);
      costs.push(process.cpuUsage(from).user);
    }
    return Math.max(1, Math.min(...costs));
  };
  expect((await measureCost(800_000, 1)) / (await measureCost(80_000, 10))).toBeLessThan(4);
});
