/** The smallest stories of bugs that the simulation once found. */
import { describe, expect, test } from "vitest";
import { createNodeSql } from "../../scripts/support/node-sql";
import type { SummaryOutcome } from "../../src/app/session-api";
import type { ErasedUsage } from "../../src/domain/erased-usage";
import { ringAlarm } from "../../src/session/alarm";
import { readEvents } from "../../src/session/log/event-log";
import type { Sql } from "../../src/session/log/sql";
import { RECEIPT } from "../read-model/builders";
import { countingIds, id } from "../support/builders";
import { CALLER, failure, Life, MESSAGE, SPEC, settle } from "./life";

async function openLife(): Promise<Life> {
  const life = new Life();
  await life.open();
  return life;
}

const unreachable = { resolve: () => Promise.reject(new Error("the tenant's object is out of reach")) };
const never = { resolve: () => new Promise<never>(() => {}) };

describe("erasing", () => {
  test("leaves no job behind once the rows are gone", async () => {
    const life = await openLife();
    await life.send("hello");

    await life.service.erase(CALLER);

    expect(life.runtime.jobs.nextDue()).toBeNull();
  });
});

describe("between two turns", () => {
  test("waiting messages have their own job, although the model that answers them is not known yet", async () => {
    const life = await openLife();
    await life.send("first");
    await life.send("second");
    life.models = never;
    await life.answer("one");
    expect(life.runtime.state).toMatchObject({ turn: null, queue: [{}] });

    life.time.advance(60_000);
    ringAlarm(life.runtime);

    expect(life.runtime.jobs.get("recover_turn")).not.toBeNull();
  });

  test.each(Array.from({ length: 12 }, (_, microtasks) => microtasks))(
    "an event that is appended %i microtasks after the last write to the read model keeps its job",
    async (microtasks) => {
      const life = await openLife();
      let written: () => void = () => {};
      life.projection.write = () =>
        new Promise((resolve) => {
          written = resolve;
        });
      await life.service.patch(CALLER, { policy: "oneclaw" });
      await settle();

      written();
      for (let n = 0; n < microtasks; n++) await Promise.resolve();
      life.runtime.execute({ type: "ChangeSettings", at: life.time.now(), changes: { policy: "oneclaw" } });
      await settle();

      expect(life.runtime.jobs.get("project")).not.toBeNull();
    },
  );
});

describe("a stopped turn", () => {
  test("says nothing more, though a chunk was on its way", async () => {
    const life = await openLife();
    await life.send("tell me");
    life.calls[0]?.say({ type: "text", text: "Once" });
    await settle();
    await life.service.stop(CALLER, { idempotency: null });
    const stoppedAt = life.runtime.buffer.offset;

    life.calls[0]?.say({ type: "text", text: " upon a time" });
    await settle();
    life.time.advance(2_000);

    expect(life.runtime.buffer.read(stoppedAt, 10)).toEqual([]);
    const items = await life.service.items(CALLER, { after: null, limit: 10, order: "asc" });
    expect(items).toMatchObject({ value: { data: [{}, { content: [{ text: "Once" }], incomplete: true }] } });
  });
});

describe("a reply that has ended when its turn is stopped", () => {
  test("is not in later requests, which have the partial reply that was recorded", async () => {
    const life = await openLife();
    let digested: (digest: string) => void = () => {};
    life.digest = () =>
      new Promise((resolve) => {
        digested = resolve;
      });
    await life.send("hello");
    const look = (call_id: string) => ({ type: "tool_call", call: { type: "tool_call", call_id, name: "look", arguments: "{}" } }) as const;
    await life.say(look("call-1"), { type: "reasoning", text: "And once more." }, look("call-2"), {
      type: "finish",
      finish: "tool_calls",
      usage: null,
    });

    await life.service.stop(CALLER, { idempotency: null });
    digested("digest");
    await settle();
    await life.send("again");

    const sent = life.call.request.messages.flatMap(({ parts }) => parts.map(({ type }) => type));
    expect(life.asked).toBe("tt");
    expect(sent).not.toContain("tool_call");
  });
});

describe("a stop that is sent again with its key", () => {
  const idempotency = { key: "k", digest: "same" };

  test("stops no other turn, and is answered with the turn that it stopped", async () => {
    const life = await openLife();
    await life.send("first");
    const stopped = await life.service.stop(CALLER, { idempotency });
    await life.send("second");

    const again = await life.service.stop(CALLER, { idempotency });

    expect(life.runtime.state.turn?.phase).toBe("generating");
    const turn = stopped.ok ? stopped.value.turn.id : "";
    expect(stopped).toMatchObject({ value: { replayed: false, turn: { id: turn, status: "stopped" } } });
    expect(again).toMatchObject({ value: { replayed: true, turn: { id: turn, status: "stopped" } } });
    await life.answer("still here");
    expect(life.runtime.state.last_turn?.status).toBe("completed");
  });

  test("is refused for another request, and stops nothing", async () => {
    const life = await openLife();
    await life.service.submit(CALLER, { ...MESSAGE, idempotency: { key: "k", digest: "a message" } });
    await settle();

    const stopped = await life.service.stop(CALLER, { idempotency });

    expect(stopped).toEqual({ ok: false, error: { code: "idempotency_conflict" } });
    expect(life.runtime.state.turn).not.toBeNull();
  });

  test("stops what runs, if there was nothing to stop before", async () => {
    const life = await openLife();
    expect(await life.service.stop(CALLER, { idempotency })).toEqual({ ok: false, error: { code: "no_turn" } });
    await life.send("hello");

    expect(await life.service.stop(CALLER, { idempotency })).toMatchObject({ value: { replayed: false } });
  });
});

describe("a retry that is sent again with its key", () => {
  const idempotency = { key: "k", digest: "a retry" };

  async function failedLife(): Promise<Life> {
    const life = await openLife();
    await life.send("first");
    await life.say(failure("quota"));
    return life;
  }

  test("runs no other turn, also when the first one has failed too, and is answered with that one", async () => {
    const life = await failedLife();
    const retried = await life.service.retry(CALLER, { idempotency });
    await settle();
    await life.say(failure("quota"));
    const { seq } = life.runtime.state;

    const again = await life.service.retry(CALLER, { idempotency });

    const turn = retried.ok ? retried.value.turn_id : null;
    expect(retried).toMatchObject({ value: { turn_id: life.runtime.state.last_turn?.id, replayed: false } });
    expect(again).toMatchObject({ value: { turn_id: turn, replayed: true } });
    expect(life.runtime.state).toMatchObject({ seq, turn: null });
  });

  test("is refused for another request, and runs nothing", async () => {
    const life = await openLife();
    await life.service.submit(CALLER, { ...MESSAGE, idempotency: { key: "k", digest: "a message" } });
    await settle();
    await life.say(failure("quota"));

    expect(await life.service.retry(CALLER, { idempotency })).toEqual({ ok: false, error: { code: "idempotency_conflict" } });
    expect(life.runtime.state.turn).toBeNull();
  });

  test("that was refused is not remembered: it runs once it may", async () => {
    const life = await openLife();
    await life.send("first");
    expect(await life.service.retry(CALLER, { idempotency })).toMatchObject({ error: { code: "turn_running" } });
    await life.say(failure("quota"));

    expect(await life.service.retry(CALLER, { idempotency })).toMatchObject({ value: { replayed: false } });
  });
});

describe("the live stream of a later life", () => {
  test("does not tell a client without an offset to go back, though the running turn began in an earlier one", async () => {
    const ids = countingIds();
    const first = new Life(createNodeSql(), "life-1", ids);
    await first.open();
    await first.service.submit(CALLER, { ...MESSAGE, run: false });
    await new Life(first.sql, "life-2", ids).send("hello");
    const third = new Life(first.sql, "life-3", ids);

    const stream = await third.service.stream(CALLER, { after: null, turn: null });
    const { value } = stream.ok ? await stream.value.getReader().read() : {};

    const heard = new TextDecoder().decode(value);
    expect(heard).toContain("event: turn.started");
    expect(heard).not.toContain("stream.rewind");
  });
});

const long = "seventeen words that say nothing at all about any of the things that matter here today ".repeat(60);
const summary: SummaryOutcome = {
  ok: true,
  text: "They exchanged words.",
  finish: "stop",
  model: SPEC.id,
  estimate: 900,
  usage: { input: 1_000, output: 5, cached: 0, reasoning: 0 },
  ms: 5,
};

/** A session above its threshold that has requested a compaction: three exchanges, the last of which was counted at 7,000 tokens. */
async function overThreshold(): Promise<Life> {
  const life = await openLife();
  for (const input of [2_000, 4_500]) {
    await life.send(long);
    await life.answer("noted", input);
  }
  await life.send("and?");
  await life.answer("that is all", 7_000);
  return life;
}

const requestedId = (life: Life) => {
  const { requested } = life.runtime.state.compaction;
  if (!requested) throw new Error("no compaction was requested");
  return requested.id;
};

async function lease(life: Life): Promise<number> {
  const leased = await life.service.leaseCompaction(CALLER, requestedId(life));
  if (!leased.ok || leased.value.kind !== "leased") throw new Error(`not leased: ${JSON.stringify(leased)}`);
  return leased.value.token;
}

describe("an outcome that came during a turn", () => {
  test("takes effect at the next wake-up when the models were out of reach as the turn ended", async () => {
    const life = await overThreshold();
    const compaction = requestedId(life);
    const token = await lease(life);
    await life.send("one more thing");
    await life.service.recordCompaction(CALLER, { compaction, token, outcome: summary, part: 0, next: null });
    const reachable = life.models;
    life.models = unreachable;
    life.calls.at(-1)?.say({ type: "failure", failure: { kind: "quota", status: 402 } });
    await settle();
    expect(life.runtime.state).toMatchObject({ turn: null, view: { epoch: 0 } });

    life.models = reachable;
    await life.service.leaseCompaction(CALLER, compaction);

    expect(life.runtime.state.view).toMatchObject({ epoch: 1, overlays: [{ kind: "summary" }] });
  });

  test("is kept when it comes while the models are out of reach", async () => {
    const life = await overThreshold();
    const compaction = requestedId(life);
    const token = await lease(life);
    const reachable = life.models;
    life.models = unreachable;
    await life.service.recordCompaction(CALLER, { compaction, token, outcome: summary, part: 0, next: null });

    life.models = reachable;
    await life.service.leaseCompaction(CALLER, compaction);

    expect(life.runtime.state.view.epoch).toBe(1);
  });
});

describe("a turn that is recovered", () => {
  test("records no reply again whose text is all that is stored of its stream", async () => {
    const life = await openLife();
    await life.send("look it up");
    const call = { type: "tool_call", call: { type: "tool_call", call_id: "call-1", name: "look", arguments: "{}" } } as const;
    await life.say({ type: "text", text: "I look." });
    await life.say(call, { type: "finish", finish: "tool_calls", usage: null });
    const results = [{ execution_id: null, call_id: "call-1", output: "found", is_error: false }];
    await life.service.toolResults(CALLER, { results, idempotency: null });
    await settle();
    expect(life.asked).toBe("tt");
    // The disk was full when the frame of the second call was to be stored.
    expect(life.sql.all("DELETE FROM frames WHERE lines LIKE '%turn.resumed%' RETURNING first").length).toBeGreaterThan(0);

    const next = new Life(life.sql, "life-2");
    next.runtime.wake();
    await settle();
    await next.answer("found it");

    const items = await next.service.items(CALLER, { after: null, limit: 10, order: "asc" });
    expect(next.runtime.state.last_turn?.status).toBe("completed");
    const shown = items.ok ? items.value.data.map(({ role, incomplete }) => `${role}${incomplete ? ", cut off" : ""}`) : [];
    expect(shown).toEqual(["user", "assistant", "tool", "assistant"]);
  });
});

const readLedger = (life: Life) => readEvents(life.sql, 0, Number.MAX_SAFE_INTEGER).filter((event) => event.type === "ModelCallFinished");

describe("a model call that is cut short", () => {
  test("is in the ledger with its estimate and digest when the turn is stopped, and once only", async () => {
    const life = await openLife();
    await life.send("hello");
    life.calls[0]?.say({ type: "text", text: "Well, " });
    await settle();
    life.time.advance(700);
    await life.service.stop(CALLER, { idempotency: null });
    await life.answer("I think", 90);

    expect(readLedger(life)).toMatchObject([{ outcome: "aborted", usage: null, request_digest: "digest", ms: 700, up_to: 1 }]);
    expect(readLedger(life)[0]?.estimate).toBeGreaterThan(0);
  });

  test("is in the ledger when a message interrupts the turn, and the next call is another one", async () => {
    const life = await openLife();
    await life.send("hello");
    await life.send("no, wait", "interrupt");
    await life.answer("Waiting.");

    expect(readLedger(life).map(({ outcome, usage }) => [outcome, usage?.input ?? null])).toEqual([
      ["aborted", null],
      ["stop", 10],
    ]);
  });

  test("is in the ledger when its object dies, said anything or not, as the next life finds it", async () => {
    const life = await openLife();
    await life.send("hello");
    const next = new Life(life.sql, "life-2");
    next.runtime.wake();
    await settle();
    await next.answer("Hello.");

    expect(readLedger(next)).toMatchObject([{ outcome: "crashed", usage: null, request_digest: "digest", ms: 0 }, { outcome: "stop" }]);
  });

  test("is not made up when the object dies before the model was asked, or after the reply was recorded", async () => {
    const life = await openLife();
    await life.send("hello");
    await life.answer("Hello.");
    life.models = { resolve: () => new Promise(() => {}) };
    await life.send("and?");
    new Life(life.sql, "life-2").runtime.wake();

    expect(readLedger(life).map(({ outcome }) => outcome)).toEqual(["stop"]);
  });
});

describe("a recovery that fails once", () => {
  /** A database whose first transaction fails. */
  function failingOnce(sql: Sql): Sql {
    let failed = false;
    return {
      ...sql,
      transaction: (work) => {
        if (failed) return sql.transaction(work);
        failed = true;
        throw new Error("the storage is out of order");
      },
    };
  }

  test("is tried again by the next call", async () => {
    const life = await openLife();
    await life.send("hello");
    const next = new Life(failingOnce(life.sql), "life-2");

    await expect(next.service.describe(CALLER)).rejects.toThrow("the storage is out of order");
    await next.service.describe(CALLER);
    await settle();
    await next.answer("Hello.");

    expect(next.runtime.state.last_turn).toMatchObject({ status: "completed" });
  });

  test("is tried again by the alarm, which comes back for it", async () => {
    const life = await openLife();
    await life.send("hello");
    const next = new Life(failingOnce(life.sql), "life-2");

    ringAlarm(next.runtime);
    expect(next.alarmAt).not.toBeNull();
    ringAlarm(next.runtime);
    await settle();

    expect(next.asked).toBe("t");
  });
});

describe("an outcome that is held back", () => {
  test("and whose epoch ends comes to nothing when the turn has ended, and is in the ledger as a call that was made", async () => {
    const life = await overThreshold();
    const compaction = requestedId(life);
    const token = await lease(life);
    await life.send("one more thing");
    await life.service.recordCompaction(CALLER, { compaction, token, outcome: summary, part: 0, next: null });
    expect(life.sql.all("SELECT compaction FROM pending_outcomes")).toHaveLength(1);

    const change = { base_epoch: 0, ops: [], receipt: RECEIPT };
    life.runtime.execute({ type: "ChangeEpoch", at: life.time.now(), compaction: id("cmp", 99), trigger: "guard", change });
    life.models = unreachable;
    await life.service.stop(CALLER, { idempotency: null });
    await settle();

    expect(life.sql.all("SELECT compaction FROM pending_outcomes")).toEqual([]);
    expect(readLedger(life).at(-1)).toMatchObject({ purpose: "compaction", outcome: "stale", usage: summary.usage, lease: token });
  });

  test("is in the sums that outlive the session which is erased over it", async () => {
    const life = await overThreshold();
    const input = { compaction: requestedId(life), token: await lease(life), outcome: summary, part: 0, next: null };
    await life.send("one more thing");
    await life.service.recordCompaction(CALLER, input);
    const handed: ErasedUsage[] = [];
    life.usageArchive = { keep: async (_, usage) => handed.splice(0, handed.length, ...usage) };

    await life.service.erase(CALLER);

    const { input: read, output } = summary.usage ?? {};
    expect(handed.filter(({ purpose }) => purpose === "compaction")).toMatchObject([{ calls: 1, input: read, output }]);
  });

  test("and that is no longer needed is not deferred: its call is recorded at once, and once", async () => {
    const life = await overThreshold();
    const input = { compaction: requestedId(life), token: await lease(life), outcome: summary, part: 0, next: null };
    await life.service.patch(CALLER, { system: "Be brief." });
    await life.send("one more thing");
    await life.service.recordCompaction(CALLER, input);
    await life.service.recordCompaction(CALLER, input);

    expect(life.sql.all("SELECT compaction FROM pending_outcomes")).toEqual([]);
    expect(readLedger(life).filter((event) => event.purpose === "compaction")).toMatchObject([{ outcome: "stale", estimate: 900 }]);
  });
});

describe("the watchdog of a compaction", () => {
  test("does not give a compaction up because the models are out of reach", async () => {
    const life = await overThreshold();
    const next = new Life(life.sql, "life-2");
    next.models = unreachable;

    const leased = await next.service.leaseCompaction(CALLER, requestedId(life));

    expect(leased).toEqual({ ok: true, value: { kind: "nothing", reason: "models_unreachable" } });
    expect(next.runtime.state.compaction.requested).not.toBeNull();
  });

  test("fires less and less often while no worker takes the work", async () => {
    const life = await overThreshold();
    const waits: number[] = [];
    for (let ring = 0; ring < 10; ring++) {
      const due = life.runtime.jobs.get("wake_compaction")?.due_at ?? 0;
      waits.push(due - life.time.now());
      life.time.advance(due - life.time.now());
      ringAlarm(life.runtime);
    }
    expect(waits.slice(0, 3)).toEqual([60_000, 120_000, 240_000]);
    expect(waits.at(-1)).toBe(3_600_000);
  });

  test("sends no second worker while a lease runs, and one as soon as it has run out", async () => {
    const life = await overThreshold();
    const ring = () => {
      life.time.advance((life.runtime.jobs.get("wake_compaction")?.due_at ?? 0) - life.time.now());
      ringAlarm(life.runtime);
    };
    life.time.advance(59_000);
    await lease(life);
    const expires = life.runtime.state.compaction.lease?.expires_at;
    const sent = life.jobs.length;

    ring();

    expect(life.jobs).toHaveLength(sent);
    expect(life.runtime.jobs.get("wake_compaction")?.due_at).toBe(expires);
    ring();
    expect(life.jobs).toHaveLength(sent + 1);
  });
});
