/** One program with the client's bundle in each JavaScript runtime that this machine has; others are skipped. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { findRuntime, RUNTIMES, RuntimeBench } from "../../../scripts/client/runtimes";

const MINUTES = 60_000;
let bench: RuntimeBench;

beforeAll(async () => {
  bench = await RuntimeBench.open();
}, 2 * MINUTES);
afterAll(() => bench?.close());

const found = RUNTIMES.map((runtime) => ({ runtime, command: findRuntime(runtime) }));

for (const { runtime, command } of found) {
  test.skipIf(command === null)(
    `the client streams, resumes and runs tools in: ${runtime}`,
    async () => {
      const { offsets, text, output, status, results, roles, cuts } = await bench.run(runtime, command ?? "");

      expect(cuts).toBeGreaterThan(offsets.length / 2);
      expect(offsets.length).toBeGreaterThan(3);
      expect(offsets).toEqual([...new Set(offsets)].toSorted((a, b) => a - b));
      expect(text).not.toBe("");
      expect(text).toBe(output);
      expect(status).toBe("completed");
      expect(results).toEqual(["晴 in 巴黎"]);
      expect(roles).toEqual(["user", "assistant", "user", "assistant", "tool", "assistant"]);
    },
    2 * MINUTES,
  );
}
