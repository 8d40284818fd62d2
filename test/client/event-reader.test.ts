/** The reader of server-sent events: what it makes of any pieces, and of any part of a stream. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EventReader, type ServerEvent } from "../../packages/client/src/event-reader.ts";

const MINUTE = 60_000;
const format = ({ id, type, data }: ServerEvent): string => `id: ${id}\nevent: ${type}\ndata: ${data}\n\n`;

const events = fc.array(
  fc.record({
    id: fc.nat().map(String),
    type: fc.constantFrom("text.delta", "turn.completed"),
    data: fc.string({ unit: "binary" }).map((text) => JSON.stringify({ text: `狗🐕${text}` })),
  }),
  { maxLength: 6 },
);

/** The bytes of a stream with comments in it, and how many of them each event needs to be complete. */
function write(all: readonly ServerEvent[]): { readonly bytes: Uint8Array; readonly ends: readonly number[] } {
  const utf8 = new TextEncoder();
  const blocks = all.map((event) => utf8.encode(`: heartbeat\n\n${format(event)}`));
  const bytes = new Uint8Array(blocks.flatMap((block) => [...block]));
  let end = 0;
  return { bytes, ends: blocks.map(({ length }) => (end += length)) };
}

function cutInto(bytes: Uint8Array<ArrayBuffer>, sizes: readonly number[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0, index = 0; at < bytes.length; index++) {
    const size = sizes[index % sizes.length] ?? 1;
    pieces.push(bytes.slice(at, at + size));
    at += size;
  }
  return pieces;
}

/** A body that ends, or breaks, behind its last piece. */
const toBody = (pieces: readonly Uint8Array[], fault?: Error) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      if (!fault) controller.close();
    },
    pull(controller) {
      if (fault) controller.error(fault);
    },
  });

async function readAll(reader: EventReader): Promise<ServerEvent[]> {
  const seen: ServerEvent[] = [];
  for (let event = await reader.next(); event; event = await reader.next()) seen.push(event);
  return seen;
}

const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 });

describe("an event reader", () => {
  test("reads the same events from any pieces, also from pieces of a character", async () => {
    await fc.assert(
      fc.asyncProperty(events, sizes, async (all, pieces) => {
        const reader = new EventReader(toBody(cutInto(new Uint8Array(write(all).bytes), pieces)), MINUTE);
        expect(await readAll(reader)).toEqual(all);
        expect(reader.fault).toBeUndefined();
      }),
    );
  });

  test("reads exactly the complete events of a stream that breaks, and says that it broke", async () => {
    const fault = new Error("reset");
    await fc.assert(
      fc.asyncProperty(events, fc.nat(), async (all, at) => {
        const { bytes, ends } = write(all);
        const end = at % (bytes.length + 1);
        const reader = new EventReader(toBody([bytes.slice(0, end)], fault), MINUTE);
        const seen = await readAll(reader);
        // The second line end of an event's blank line completes it.
        expect(seen).toEqual(all.filter((_, index) => (ends[index] ?? 0) <= end));
        expect(reader.fault).toBe(fault);
      }),
    );
  });

  test("takes a connection that stays silent for lost", async () => {
    const bytes = new TextEncoder().encode(format({ id: "1", type: "notice", data: "{}" }));
    const silent = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(bytes) });
    const reader = new EventReader(silent, 20);
    expect(await readAll(reader)).toHaveLength(1);
    expect(String(reader.fault)).toContain("sent nothing for 20 ms");
  });

  test("releases the connection when it is closed", async () => {
    let reason: unknown = "open";
    const body = new ReadableStream<Uint8Array>({
      cancel: () => {
        reason = "cancelled";
      },
    });
    new EventReader(body, MINUTE).close();
    expect(reason).toBe("cancelled");
  });
});
