/** Requests that wait for a running turn: none is lost, none is taken twice, and none waits for ever. */
import { describe, expect, it } from "vitest";
import type { WholeSessionApi } from "../../../src/app/control-api";
import type { Outcome } from "../../../src/app/session-api";
import type { SessionCalls } from "../../../src/http/session-calls";
import { sendInLine } from "../../../src/http/surface/in-line";
import { err, ok } from "../../../src/lib/result";
import { FakeSchedule } from "../../support/fake-schedule";
import { description, makeId, turn } from "../support";

const TURN = makeId("trn");
const never = (): Promise<never> => new Promise(() => {});
const running = err({ code: "turn_running", turn: TURN } as const);

function createCalls(api: Partial<WholeSessionApi>): SessionCalls {
  const run: SessionCalls["once"] = (work) => work(api as WholeSessionApi, { tenant: makeId("ten"), session: makeId("ses") });
  return { session: makeId("ses"), once: run, repeatable: run, sealAlike: never, log: { info: () => {}, warn: () => {}, error: () => {} } };
}

/** Answers in order; the last answer again and again. */
function answering<T>(...answers: readonly Outcome<T>[]) {
  let sent = 0;
  const send = async (): Promise<Outcome<T>> => answers[Math.min(sent++, answers.length - 1)] ?? running;
  return { send, count: () => sent };
}

describe("a request in line", () => {
  it("is sent again after the turn that kept it out", async () => {
    const waited: string[] = [];
    const calls = createCalls({
      waitForTurn: async (_, id) => {
        waited.push(id);
        return ok(turn({ id }));
      },
    });
    const { send, count } = answering(running, running, ok("taken"));

    expect(await sendInLine({ calls, schedule: new FakeSchedule().schedule }, send)).toEqual(ok("taken"));
    expect([count(), waited]).toEqual([3, [TURN, TURN]]);
  });

  it("waits for the turn that is about to start, where none runs", async () => {
    const waited: string[] = [];
    const calls = createCalls({
      describe: async () => ok(description({ queued: [{ id: makeId("msg"), turn_id: TURN }] })),
      waitForTurn: async (_, id) => {
        waited.push(id);
        return ok(turn({ id }));
      },
    });
    const { send } = answering(err({ code: "turn_running", turn: "" }), ok("taken"));

    expect(await sendInLine({ calls, schedule: new FakeSchedule().schedule }, send)).toEqual(ok("taken"));
    expect(waited).toEqual([TURN]);
  });

  it("is tried once more after 30 seconds, and then refused, and its wait in the session's object ends with that time", async () => {
    const time = new FakeSchedule();
    const limits: unknown[] = [];
    const waitForTurn: WholeSessionApi["waitForTurn"] = (_, __, within) => {
      limits.push(within);
      return never();
    };
    const { send, count } = answering(running);
    const waits = sendInLine({ calls: createCalls({ waitForTurn }), schedule: time.schedule }, send);
    await Promise.resolve();
    expect(limits).toEqual([30_000]);

    time.advance(29_999);
    expect(count()).toBe(1);
    time.advance(1);

    expect(await waits).toEqual(running);
    expect(count()).toBe(2);
  });

  it("is refused after so many others were faster", async () => {
    const calls = createCalls({ waitForTurn: async () => ok(turn()) });
    const { send, count } = answering(running);

    expect(await sendInLine({ calls, schedule: new FakeSchedule().schedule }, send)).toEqual(running);
    expect(count()).toBe(32);
  });

  it("is sent again when the wait is cut off", async () => {
    const calls = createCalls({ waitForTurn: () => Promise.reject(new Error("the object moved")) });
    const { send } = answering(running, ok("taken"));

    expect(await sendInLine({ calls, schedule: new FakeSchedule().schedule }, send)).toEqual(ok("taken"));
  });

  it.each([
    ["refused for another reason", err({ code: "session_erased" } as const)],
    ["taken", ok(1)],
  ] as const)("is sent once when it is %s, and leaves no timer", async (_, answer) => {
    const time = new FakeSchedule();
    const { send, count } = answering<number>(answer);

    expect(await sendInLine({ calls: createCalls({}), schedule: time.schedule }, send)).toEqual(answer);
    time.advance(60_000);
    expect(count()).toBe(1);
  });
});
