/** What a session announces reaches the tenant's object once each, whatever fails between the commit and the call. */
import { beforeEach, describe, expect, test } from "vitest";
import type { AnnouncementPort } from "../../src/app/announcement-ports";
import { createKnownInterest, INTEREST_MS } from "../../src/app/known-interest";
import type { Announcement } from "../../src/app/to-announcements";
import { err, ok } from "../../src/lib/result";
import { ringAlarm } from "../../src/session/alarm";
import { createAnnouncementSource } from "../../src/tenant/look-ups/announcement-source";
import { countingIds, id, TENANT } from "../support/builders";
import { CALLER, Life, MESSAGE } from "./life";

/** The tenant's object: what its endpoints want, and what it was told. */
class HookTenant {
  wanted: readonly string[] = [];
  isAway = false;
  losesAnswers = false;
  asked = 0;
  readonly told: Announcement[] = [];

  async ask(): Promise<readonly string[]> {
    this.asked += 1;
    if (this.isAway) throw new Error("out of reach");
    return this.wanted;
  }

  async announce(_: string, announcements: readonly Announcement[]) {
    if (this.isAway) return err({ code: "idempotency_conflict" as const });
    for (const each of announcements) if (!this.told.some(({ seq, type }) => seq === each.seq && type === each.type)) this.told.push(each);
    if (this.losesAnswers) throw new Error("the answer was lost");
    return ok(null);
  }

  get types(): readonly string[] {
    return this.told.map(({ type }) => type);
  }
}

let tenant: HookTenant;
let port: AnnouncementPort;
let life: Life;

/** What an isolate knows outlives an object, and its clock is the object's. */
function newIsolate(): AnnouncementPort {
  const known = createKnownInterest({ ask: () => tenant.ask(), now: () => life.time.now(), generation: () => 0, max: 10 });
  return createAnnouncementSource({ tenant: TENANT, known, stub: tenant });
}

beforeEach(() => {
  tenant = new HookTenant();
  life = new Life();
  port = newIsolate();
  life = new Life(undefined, "life-1", countingIds(), { announcements: () => port });
});

/** Another life of the object, over the same database and in the same isolate. */
function restart(): void {
  let count = 10_000;
  life = new Life(life.sql, "life-2", (prefix) => id(prefix, ++count), { announcements: () => port });
}
async function finishTurn(text = "hello"): Promise<void> {
  await life.send(text);
  await life.answer("done");
}
async function ring(ms: number): Promise<void> {
  await life.advance(ms);
  ringAlarm(life.runtime);
  await life.advance(0);
}
const waiting = (): number => life.sql.all("SELECT n FROM announcements").length;
const job = () => life.runtime.jobs.get("announce");

describe("a session whose tenant wants to know", () => {
  beforeEach(() => {
    tenant.wanted = ["session.created", "turn.completed", "turn.awaiting_tools"];
  });

  test("tells what it committed, once each and in order, and keeps nothing of it", async () => {
    await life.open();
    await finishTurn();

    expect(tenant.told).toMatchObject([
      { type: "session.created", data: { id: CALLER.session } },
      { type: "turn.completed", data: { id: life.runtime.state.last_turn?.id, finish: "stop" } },
    ]);
    expect([waiting(), job()]).toEqual([0, null]);
  });

  test("tells of a turn the sum of its calls, as the turn's report has it", async () => {
    await life.open();
    await life.send("look");
    const call = { type: "tool_call", call: { type: "tool_call", call_id: "one", name: "look", arguments: "{}" } } as const;
    await life.say(call, { type: "finish", finish: "tool_calls", usage: { input: 100, output: 10, cached: 40, reasoning: 0 } });
    await life.service.toolResults(CALLER, {
      results: [{ execution_id: null, call_id: "one", output: "found", is_error: false }],
      idempotency: null,
    });
    await life.advance(0);
    await life.say(
      { type: "text", text: "done" },
      { type: "finish", finish: "stop", usage: { input: 120, output: 5, cached: 100, reasoning: 2 } },
    );

    const told = tenant.told.find(({ type }) => type === "turn.completed");
    expect(told?.data).toMatchObject({ usage: { input: 220, output: 15, cached: 140, reasoning: 2 }, cost: null });
  });

  test("tells it again after a lost answer, as the same event", async () => {
    await life.open();
    tenant.losesAnswers = true;
    await finishTurn();
    expect([tenant.types, waiting()]).toEqual([["session.created", "turn.completed"], 1]);

    tenant.losesAnswers = false;
    await ring(60_000);

    expect([tenant.types, waiting(), job()]).toEqual([["session.created", "turn.completed"], 0, null]);
  });

  test("goes on with its turns while the tenant's object is away, and tells all of it afterwards", async () => {
    tenant.isAway = true;
    await life.open();
    await finishTurn();
    await finishTurn("again");
    expect([life.runtime.state.last_turn?.status, tenant.types, waiting()]).toEqual(["completed", [], 3]);

    tenant.isAway = false;
    await ring(60 * 60_000);

    expect([tenant.types, waiting()]).toEqual([["session.created", "turn.completed", "turn.completed"], 0]);
  });

  test("tells in its next life what it had committed before it died", async () => {
    await life.open();
    tenant.isAway = true;
    await finishTurn();
    restart();
    tenant.isAway = false;

    await ring(60 * 60_000);

    expect(tenant.types).toEqual(["session.created", "turn.completed"]);
  });

  test("tells nothing more once it is erased, not even that it was opened again as a tombstone", async () => {
    await life.open();
    tenant.isAway = true;
    await finishTurn();
    await life.service.erase(CALLER, true);
    tenant.isAway = false;
    await ring(60 * 60_000);

    expect(tenant.types).toEqual(["session.created"]);
    expect([waiting(), job()]).toEqual([0, null]);
  });

  test("announces that a turn waits for the client once, and not again for a part of the results", async () => {
    await life.open();
    await life.send("look twice");
    const call = (call_id: string) => ({ type: "tool_call", call: { type: "tool_call", call_id, name: "look", arguments: "{}" } }) as const;
    await life.say(call("one"), call("two"), { type: "finish", finish: "tool_calls", usage: null });
    await life.service.toolResults(CALLER, {
      results: [{ execution_id: null, call_id: "one", output: "found", is_error: false }],
      idempotency: null,
    });
    await life.advance(0);

    const waits = tenant.told.filter(({ type }) => type === "turn.awaiting_tools");
    expect(waits.map(({ data }) => [data.id, data.execution_ids])).toEqual([
      [life.runtime.state.turn?.id, [expect.stringMatching(/^exe_/), expect.stringMatching(/^exe_/)]],
    ]);
  });
});

describe("a session whose tenant has no endpoint", () => {
  test("asks once a minute, tells nothing, and keeps nothing", async () => {
    await life.open();
    for (let turn = 0; turn < 10; turn++) await finishTurn(`question ${turn}`);
    expect([tenant.asked, tenant.told]).toEqual([1, []]);
    expect(waiting()).toBeGreaterThan(0);

    await ring(INTEREST_MS + 1);

    expect([tenant.asked, tenant.told, waiting(), job()]).toEqual([2, [], 0, null]);
  });

  test("tells an endpoint all that was committed after its creation, though its isolate knew of none yet", async () => {
    await life.open();
    await finishTurn("before");
    expect(tenant.asked).toBe(1);
    // Here the answer to the creation leaves. The isolate has an answer that is older, and fresh.
    tenant.wanted = ["turn.completed"];
    await finishTurn("after");
    const after = life.runtime.state.last_turn?.id;
    expect(tenant.told).toEqual([]);

    await ring(INTEREST_MS + 1);

    expect(tenant.told.map(({ data }) => data.id)).toContain(after);
    expect(waiting()).toBe(0);
  });

  test("does not take an answer from before its commit for one from after it, in a later life either", async () => {
    await life.open();
    await port.lookUp();
    tenant.wanted = ["turn.completed"];
    await finishTurn();
    restart();
    life.runtime.announcer.start();
    await life.advance(0);
    expect(waiting()).toBeGreaterThan(0);

    await ring(INTEREST_MS * 2);

    expect(tenant.types).toContain("turn.completed");
  });
});

test("a throwaway session announces nothing", async () => {
  tenant.wanted = ["session.created", "turn.completed"];
  const input = { model: "test-model", policy: "oneclaw", system: null, tools: null, title: null, metadata: {}, throwaway: true } as const;
  await life.service.open(CALLER, input);
  await life.service.submit(CALLER, MESSAGE);
  await life.advance(0);
  await life.answer("done");

  expect([tenant.told, job()]).toEqual([[], null]);
});
