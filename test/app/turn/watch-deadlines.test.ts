/** The deadlines of a model call: the first token, the idle time between two tokens, and the total. */
import { describe, expect, test } from "vitest";
import { watchDeadlines } from "../../../src/app/turn/watch-deadlines";
import type { ModelCapabilities } from "../../../src/context/model-input";
import { FakeSchedule } from "../../support/fake-schedule";

const DEADLINES = { firstTokenMs: 300, idleMs: 100, thinkingMs: 600, totalMs: 1_000 } as const;
const THINKS = { tools: true, images: true, files: true, reasoning: true } as const;

function watching(change: { readonly firstTokenMs?: number } = {}, capabilities?: ModelCapabilities) {
  const time = new FakeSchedule();
  const abort = new AbortController();
  let armed = 0;
  const schedule: typeof time.schedule = (ms, work) => {
    armed += 1;
    return time.schedule(ms, work);
  };
  const watch = watchDeadlines(
    { clock: time.now, schedule, deadlines: { ...DEADLINES, ...change } },
    { abort, spec: capabilities ? { capabilities } : {} },
  );
  const begun = time.now();
  /** The duration of the call. Null: it continues. */
  const lived = (ms: number): number | null => {
    for (let left = ms; left > 0 && !abort.signal.aborted; left--) time.advance(1);
    return abort.signal.aborted ? time.now() - begun : null;
  };
  return { watch, abort, lived, timers: () => armed };
}

describe("a model call is given up", () => {
  test("when its first token is late, though it may be silent for longer than between two", () => {
    const { watch, lived } = watching();
    expect(lived(299)).toBeNull();
    expect(lived(1)).toBe(300);
    expect(watch.expired).toBe(true);
  });

  test("when it falls silent after a token, and not because of the first token's deadline", () => {
    const { watch, lived } = watching();
    lived(250);
    watch.heard();
    expect(lived(99)).toBeNull();
    expect(lived(1)).toBe(350);
    expect(watch.expired).toBe(true);
  });

  test("sooner than the first token's deadline when it falls silent before that", () => {
    const { watch, lived } = watching();
    lived(10);
    watch.heard();
    expect(lived(1_000)).toBe(110);
  });

  test("when it speaks steadily beyond the total", () => {
    const { watch, lived } = watching();
    for (let n = 1; n <= 11; n++) {
      expect(lived(90)).toBeNull();
      watch.heard();
    }
    expect(lived(1_000)).toBe(1_000);
    expect(watch.expired).toBe(true);
  });

  test("at the total, though the first token may take longer", () => {
    expect(watching({ firstTokenMs: 5_000 }).lived(5_000)).toBe(1_000);
  });

  test("later when it is known to think: before its first word, and after a thought", () => {
    expect(watching({}, THINKS).lived(1_000)).toBe(600);
    const { watch, lived } = watching({}, THINKS);
    lived(50);
    watch.heard();
    expect(lived(1_000)).toBe(650);
    expect(watching({}, { ...THINKS, reasoning: false }).lived(1_000)).toBe(300);
  });

  test("as soon as any other once it has begun to write, though it thinks", () => {
    const { watch, lived } = watching({}, THINKS);
    lived(400);
    watch.heard();
    watch.heard(true);
    expect(lived(1_000)).toBe(500);
  });

  test("not while it says that it is there after a word, as between two thoughts", () => {
    const { watch, lived } = watching({}, THINKS);
    watch.heard(true);
    watch.heard();
    expect(lived(599)).toBeNull();
    expect(lived(1)).toBe(600);
  });

  test("with one timer, which no token but the first can move", () => {
    const { watch, timers, lived } = watching();
    for (let n = 0; n < 50; n++) {
      watch.heard();
      lived(1);
    }
    expect(timers()).toBe(2);
  });

  test("by none of the deadlines once it has ended", () => {
    const { watch, abort, lived } = watching();
    watch.heard();
    watch.end();
    expect(lived(2_000)).toBeNull();
    expect([watch.expired, abort.signal.aborted]).toEqual([false, false]);
  });
});
