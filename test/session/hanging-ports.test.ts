/** Ports of a session that never answer. What the session does on a failure it does on a hang, too: turns go on, or fail with a cause that passes. */
import { describe, expect, it } from "vitest";
import { NO_BUDGETS } from "../../scripts/support/no-budgets";
import type { KnownBudgets } from "../../src/app/budget-counters";
import { NO_LIMITS } from "../../src/contract/limits";
import { ringAlarm } from "../../src/session/alarm";
import type { RuntimeDeps } from "../../src/session/runtime-deps";
import { countingIds } from "../support/builders";
import { Life, SPEC, settle } from "./life";

/** Calls that a test holds back. */
function createGate() {
  const gate = { isShut: false };
  const hold = <A extends readonly unknown[], T>(work: (...input: A) => Promise<T>): ((...input: A) => Promise<T>) => {
    return (...input) => (gate.isShut ? new Promise<T>(() => {}) : work(...input));
  };
  return { gate, hold };
}

type Hold = ReturnType<typeof createGate>["hold"];

const limits = { ...NO_LIMITS, tenant: { concurrent_turns: 5 } };
const slots = { take: async () => null, report: async () => {}, release: async () => {} };
const wanted = { types: ["turn.completed"], asked: 1 };
const peekNothing = { mark: () => 0, peek: () => null };

const PORTS: Readonly<Record<string, (hold: Hold) => Partial<RuntimeDeps>>> = {
  "the tenant's standing": (hold) => ({ isSuspended: hold(async () => false) }),
  "the limits": (hold) => ({ limits: { read: hold(async () => limits), slots } }),
  "taking slots": (hold) => ({ limits: { read: async () => limits, slots: { ...slots, take: hold(slots.take) } } }),
  "reporting slots": (hold) => ({ limits: { read: async () => limits, slots: { ...slots, report: hold(slots.report) } } }),
  "releasing slots": (hold) => ({ limits: { read: async () => limits, slots: { ...slots, release: hold(slots.release) } } }),
  models: (hold) => ({ models: () => ({ resolve: hold(async () => SPEC) }) }),
  budgets: (hold) => {
    let known: KnownBudgets | null = null;
    const lookUp = hold(async () => {
      known = { revision: 0, budgets: [] };
      return known;
    });
    return { budgets: () => ({ ...NO_BUDGETS, peek: () => known, lookUp }) };
  },
  "what webhooks want": (hold) => ({
    announcements: () => ({ ...peekNothing, lookUp: hold(async () => wanted), hand: async () => {} }),
  }),
  announcing: (hold) => ({ announcements: () => ({ ...peekNothing, lookUp: async () => wanted, hand: hold(async () => {}) }) }),
  "the queue": (hold) => ({ queue: { send: hold(async () => {}) } }),
  "the read model": (hold) => ({
    projection: () => ({ write: hold(async () => {}), erase: async () => ({ rows: 0 }), forgetEndUsers: async () => true }),
  }),
  "the audit log": (hold) => ({ acts: () => ({ record: hold(async () => {}) }) }),
  files: (hold) => ({ files: () => ({ keep: hold(async () => {}) }) }),
};

/** Half an hour in which a model answers at once. Returns how the newest turn ended. */
async function passTime(life: Life): Promise<string | null> {
  for (let n = 0; n < 180; n++) {
    life.time.advance(10_000);
    ringAlarm(life.runtime);
    await settle();
    if (life.runtime.state.turn) await life.answer("hi");
  }
  return life.runtime.state.last_turn?.status ?? null;
}

/** Sends without waiting for the answer. */
function post(life: Life, text: string): void {
  void life.send(text).catch(() => {});
}

describe.each(Object.entries(PORTS))("while %s hangs", (name, build) => {
  it("a turn ends, and once it answers the next turns are completed", async () => {
    const { gate, hold } = createGate();
    const life = new Life(undefined, "life-1", countingIds(), build(hold));
    gate.isShut = name === "budgets";
    await life.open();
    gate.isShut = true;
    post(life, "one");
    const ended = await passTime(life);
    post(life, "two");
    await passTime(life);
    gate.isShut = false;
    await life.send("three");
    await passTime(life);

    // Without its model, and without leave to spend money, a turn cannot go on.
    expect(ended).toBe(["models", "budgets"].includes(name) ? "failed" : "completed");
    expect([life.runtime.state.turn, life.runtime.state.queue, life.runtime.state.last_turn?.status]).toEqual([null, [], "completed"]);
    expect(life.calls.at(-1)?.messages.at(-1)).toBe("user: three");
  });
});
