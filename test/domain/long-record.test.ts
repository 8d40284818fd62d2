/** A record that only grows, as in an import: views stay immutable values, and the cost of each message does not depend on their number. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Event } from "../../src/domain/events";
import { fold } from "../../src/domain/evolve";
import type { View } from "../../src/domain/state";
import { appendToView } from "../../src/domain/view";
import { item, opened, stored, viewing } from "../support/builders";

describe("a view that is appended to", () => {
  test("is a value: whatever is appended to whichever view, each shows its own items alone", () => {
    const steps = fc.array(fc.record({ onto: fc.nat(), count: fc.nat(3), read: fc.boolean() }), { maxLength: 30 });
    fc.assert(
      fc.property(steps, (story) => {
        const views: View[] = [viewing([item(1, "user")]).view];
        const meant: number[][] = [[1]];
        for (const [n, { onto, count, read }] of story.entries()) {
          const place = onto % views.length;
          const [view, positions] = [views[place], meant[place]];
          if (!view || !positions) throw new Error("there is no such view");
          if (read) expect(view.items).toHaveLength(positions.length);
          const added = Array.from({ length: count }, (_, index) => 10 * (n + 1) + index);
          views.push(
            appendToView(
              view,
              added.map((position) => item(position, "user")),
            ),
          );
          meant.push([...positions, ...added]);
        }
        expect(views.map(({ items }) => items.map(({ position }) => position))).toEqual(meant);
      }),
    );
  });

  test("is plain data, and the same when it is written down", () => {
    const view = appendToView(viewing([item(1, "user")]).view, [item(2, "assistant")]);

    expect(JSON.parse(JSON.stringify(view))).toEqual(viewing([item(1, "user"), item(2, "assistant")]).view);
    expect({ ...view, epoch: 7 }.items.map(({ position }) => position)).toEqual([1, 2]);
    expect(view.items).toBe(view.items);
  });
});

const [SHORT, LONG] = [1_024, 32_768];
/** As many messages in short records as in one long record: linear is 1, quadratic 32. */
const MOST_GROWTH = 8;

test("the fold of an imported record takes time in proportion to its length", () => {
  const measureCpu = (size: number): number => {
    const append = (n: number): Event => ({ type: "MessagesAppended", items: [item(n, "user")], dequeued: [] });
    const events = stored([opened, ...Array.from({ length: size }, (_, index) => append(index + 1))]);
    const tries = [1, 2].map(() => {
      const before = process.cpuUsage();
      for (let folded = 0; folded < LONG; folded += size) expect(fold(events).view.items).toHaveLength(size);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    });
    return Math.min(...tries);
  };
  expect(measureCpu(LONG) / measureCpu(SHORT)).toBeLessThan(MOST_GROWTH);
});
