import { describe, expect, test } from "vitest";
import type { ChatModel, CompactionJob, Log, ModelStreamPart } from "../../src/app/ports";
import type { LeaseOutcome, Outcome, SummaryOutcome } from "../../src/app/session-api";
import { ok } from "../../src/lib/result";
import { type ConsumerDeps, consumeCompactions, consumeDeadLetters, type QueueMessage } from "../../src/queue/consumer";
import { id, SESSION, TENANT } from "../support/builders";

const JOB = { tenant: TENANT, session: SESSION, compaction: id("cmp", 1) };
const NOW = 1_000_000;
const MINUTE = 60_000;

function message(body: unknown = JOB): QueueMessage & { settled: unknown[] } {
  const settled: unknown[] = [];
  return {
    body,
    attempts: 1,
    settled,
    ack: () => settled.push("ack"),
    retry: (options) => settled.push(["retry", options?.delaySeconds ?? null]),
  };
}

function logged(): Log & { lines: string[] } {
  const lines: string[] = [];
  const write = (event: string): void => {
    lines.push(event);
  };
  return { lines, info: write, warn: write, error: write };
}

const spec = {
  id: "m",
  provider: "embedded",
  upstream_id: "m",
  base_url: null,
  context_window: 8_000,
  max_output: 500,
  source: "deployment",
} as const;
const leased = (token: number): LeaseOutcome => ({
  kind: "leased",
  token,
  timeoutMs: 15_000,
  part: { request: { model: spec, purpose: "compaction", system: "s", messages: [], tools: [], maxOutput: 100 }, part: 0, next: null },
});

/** A model that answers each call with the next list of chunks. */
function scriptModel(...answers: (readonly ModelStreamPart[] | "throws")[]): ChatModel {
  return {
    async *stream() {
      const answer = answers.shift();
      if (answer === "throws") throw new TypeError("defect");
      yield* answer ?? [];
    },
    render: async () => ({ url: "", body: "" }),
  };
}

type HoldsLease = ReturnType<ConsumerDeps["sessions"]>["holdsLease"];

interface World extends ConsumerDeps {
  readonly recorded: { token: number; outcome: SummaryOutcome }[];
  readonly sent: CompactionJob[];
  readonly log: ReturnType<typeof logged>;
}

/** `next`: the session's answer to each outcome. */
function world(input: {
  leases: LeaseOutcome[];
  next?: ("done" | "retry")[];
  model?: ChatModel;
  reach?: () => void;
  suspended?: boolean[];
  holdsLease?: HoldsLease;
}): World {
  const recorded: World["recorded"] = [];
  const sent: World["sent"] = [];
  const model = input.model ?? scriptModel();
  const { leases, next = [] } = input;
  return {
    recorded,
    sent,
    log: logged(),
    isSuspended: async () => input.suspended?.shift() ?? false,
    queue: { send: async (job) => void sent.push(job) },
    clock: () => NOW,
    random: () => 0,
    schedule: () => () => {},
    model: () => model,
    sessions: () => ({
      leaseCompaction: async (): Promise<Outcome<LeaseOutcome>> => {
        input.reach?.();
        return ok(leases.shift() ?? { kind: "nothing", reason: "over" });
      },
      holdsLease: input.holdsLease ?? (async () => ok(true)),
      recordCompaction: async (_, { token, outcome }) => {
        recorded.push({ token, outcome });
        return ok({ next: next.shift() ?? "done" });
      },
    }),
  };
}

const summary: readonly ModelStreamPart[] = [
  { type: "text", text: "They " },
  { type: "text", text: "met." },
  { type: "finish", finish: "stop", usage: null },
];

describe("a compaction job", () => {
  test("leases, summarises, hands the outcome back and is acknowledged", async () => {
    const deps = world({ leases: [leased(4)], model: scriptModel(summary) });
    const job = message();
    await consumeCompactions([job], deps);
    expect(deps.recorded).toEqual([
      { token: 4, outcome: { model: "m", estimate: 1, ok: true, text: "They met.", finish: "stop", usage: null, ms: 0 } },
    ]);
    expect(job.settled).toEqual(["ack"]);
  });

  test("of a suspended tenant leases nothing and asks no model: the session asks again later", async () => {
    const deps = world({ leases: [leased(4)], model: scriptModel(summary), suspended: [true] });
    const job = message();
    await consumeCompactions([job], deps);
    expect(deps.recorded).toEqual([]);
    expect(job.settled).toEqual(["ack"]);
  });

  test("that failed is tried once more at once, when the session allows it", async () => {
    const failure: ModelStreamPart = { type: "failure", failure: { kind: "unavailable", status: 503 } };
    const deps = world({ leases: [leased(1), leased(2)], next: ["retry", "done"], model: scriptModel([failure], summary) });
    await consumeCompactions([message()], deps);
    expect(deps.recorded.map(({ token, outcome }) => [token, outcome.ok])).toEqual([
      [1, false],
      [2, true],
    ]);
  });

  test.each<[string, HoldsLease, boolean]>([
    [
      "is asked again in the way that it taught, while the lease is held and the call is paid",
      async (_, { reservation }) => ok(reservation === 7),
      true,
    ],
    ["is handed back where the lease is lost: a message may have been redacted", async () => ok(false), false],
    ["is handed back where the session is out of reach", () => Promise.reject(new Error("away")), false],
  ])("a refusal that teaches something %s", async (_, holdsLease, isAsked) => {
    const refusal: ModelStreamPart = { type: "failure", failure: { kind: "invalid_param", status: 400, refused: "stream_options" } };
    const lease = leased(1);
    if (lease.kind !== "leased") throw new Error("not leased");
    const compatible = { ...spec, provider: "openai-compatible" as const };
    const part = { ...lease.part, request: { ...lease.part.request, model: compatible, reservation: 7 } };
    const deps = world({ leases: [{ ...lease, part }], model: scriptModel([refusal], summary), holdsLease });
    await consumeCompactions([message()], deps);
    expect(deps.recorded).toMatchObject([{ outcome: { ok: isAsked, lesson: { stream_options: false } } }]);
  });

  test("whose model throws, or ends without saying so, also after a tool call, hands back a failure", async () => {
    const call: ModelStreamPart = { type: "tool_call", call: { type: "tool_call", call_id: "c", name: "look_up", arguments: "{}" } };
    for (const [answer, failure] of [
      ["throws", "internal"],
      [[], "unavailable"],
      [[call], "unavailable"],
    ] as const) {
      const deps = world({ leases: [leased(1)], model: scriptModel(answer) });
      await consumeCompactions([message()], deps);
      expect(deps.recorded).toMatchObject([{ outcome: { ok: false, failure } }]);
    }
  });

  test("doubled or late finds nothing to do and is acknowledged", async () => {
    const job = message();
    const deps = world({ leases: [] });
    await consumeCompactions([job, message()], deps);
    expect(deps.recorded).toEqual([]);
    expect(job.settled).toEqual(["ack"]);
  });

  test("whose lease another worker holds comes back when that has run out", async () => {
    const job = message();
    await consumeCompactions([job], world({ leases: [{ kind: "held", until: NOW + 20_500 }] }));
    expect(job.settled).toEqual([["retry", 21]]);
  });

  /** Chunks that take a minute each, without end. */
  function endlessFold() {
    let now = NOW;
    const first = leased(1);
    if (first.kind !== "leased") throw new Error("not leased");
    const deps = world({ leases: [first] });
    const model: ChatModel = {
      async *stream() {
        now += MINUTE;
        yield* summary;
      },
      render: async () => ({ url: "", body: "" }),
    };
    const parts: number[] = [];
    const sessions: ConsumerDeps["sessions"] = (job) => ({
      ...deps.sessions(job),
      recordCompaction: async (_, { part, leaves }) => {
        parts.push(part);
        return ok(leaves ? { next: "later" } : { next: "continue", part: { ...first.part, part: part + 1 }, timeoutMs: MINUTE });
      },
    });
    return { parts, deps: { ...deps, clock: (): number => now, sessions, model: () => model } };
  }

  test("that has more to read than one delivery has time for goes on with a job of its own, in time, and uses no retry", async () => {
    const { parts, deps } = endlessFold();
    const job = message();

    await consumeCompactions([job], deps);

    expect(parts).toEqual(Array.from({ length: parts.length }, (_, n) => n));
    expect(parts.length).toBeGreaterThan(10);
    expect(deps.clock() - NOW).toBeLessThan(15 * MINUTE);
    expect(deps.sent).toEqual([JOB]);
    expect(job.settled).toEqual(["ack"]);
  });

  test("that cannot be sent anew comes back by a retry", async () => {
    const { deps } = endlessFold();
    const job = message();
    const send = (): Promise<void> => Promise.reject(new Error("the queue is out of reach"));

    await consumeCompactions([job], { ...deps, queue: { send } });

    expect(job.settled).toEqual([["retry", null]]);
  });

  test("that cannot reach its session is tried again, and the rest of the batch goes on", async () => {
    let calls = 0;
    const reach = (): void => {
      calls += 1;
      if (calls === 1) throw new Error("Network connection lost");
    };
    const [lost, fine] = [message(), message()];
    await consumeCompactions([lost, fine], world({ leases: [], reach }));
    expect([lost.settled, fine.settled]).toEqual([[["retry", null]], ["ack"]]);
  });

  test("that is not a job of ours is said and never tried again", async () => {
    const deps = world({ leases: [leased(1)] });
    const broken = [message(null), message({ ...JOB, tenant: "ten_x" }), message({ ...JOB, session: undefined })];
    await consumeCompactions(broken, deps);
    expect(broken.map((job) => job.settled)).toEqual([["ack"], ["ack"], ["ack"]]);
    expect(deps.log.lines).toEqual(Array(3).fill("compaction_job_malformed"));
  });
});

test("a dead letter is said and acknowledged: the session's watchdog asks again", () => {
  const log = logged();
  const dead = message();
  consumeDeadLetters([dead, message("?")], log);
  expect(dead.settled).toEqual(["ack"]);
  expect(log.lines).toHaveLength(2);
});
