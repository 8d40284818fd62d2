import { describe, expect, it } from "vitest";
import type { SessionApi, SessionError } from "../../src/app/session-api";
import { describeFailure } from "../../src/app/turn/describe-failure";
import { err, ok } from "../../src/lib/result";
import { accepted, description, KEY, makeId, readProblem, SESSION, TENANT, turn, world } from "./support";

const base = `/v1/sessions/${SESSION}`;
const fit = { floor: 9_000, limit: 8_000, biggest: [{ what: "system", tokens: 8_500 }] };

/** One failure of each reason. A missing reason does not compile. */
const sessionErrors: { readonly [C in SessionError["code"]]: readonly [Extract<SessionError, { code: C }>, number] } = {
  session_not_found: [{ code: "session_not_found" }, 404],
  session_erased: [{ code: "session_erased" }, 404],
  session_exists: [{ code: "session_exists" }, 409],
  turn_running: [{ code: "turn_running", turn: "trn_x" }, 409],
  queue_full: [{ code: "queue_full", limit: 16 }, 409],
  message_limit: [{ code: "message_limit", limit: 100 }, 409],
  rate_limited: [{ code: "rate_limited", limit: "concurrent_turns", of: "key", max: 20, seconds: 1 }, 429],
  no_turn: [{ code: "no_turn" }, 409],
  not_retryable: [{ code: "not_retryable", status: "completed" }, 409],
  call_not_open: [{ code: "call_not_open", index: 0, call: "c" }, 409],
  approval_not_open: [{ code: "approval_not_open", index: 0, execution: "exe_x" }, 409],
  schedule_not_found: [{ code: "schedule_not_found", schedule: "briefing" }, 404],
  schedule_limit: [{ code: "schedule_limit", limit: 16 }, 409],
  message_not_queued: [{ code: "message_not_queued", message: "msg_x" }, 409],
  stale: [{ code: "stale", reason: "turn_over" }, 409],
  compaction_running: [{ code: "compaction_running", compaction: "cmp_x" }, 409],
  draft_open: [{ code: "draft_open", compaction: "cmp_x" }, 409],
  not_drafted: [{ code: "not_drafted", compaction: "cmp_x" }, 409],
  draft_edited: [{ code: "draft_edited", edits: 2 }, 409],
  not_smaller: [{ code: "not_smaller", tokens_before: 900, tokens_after: 950 }, 422],
  not_newest: [{ code: "not_newest", newest: null }, 409],
  lease_held: [{ code: "lease_held", expires_at: 1 }, 409],
  branch_limit: [{ code: "branch_limit", limit: 500 }, 409],
  calls_unanswered: [{ code: "calls_unanswered", calls: [{ execution: makeId("exe"), call_id: "call_1" }] }, 409],
  storage_full: [{ code: "storage_full" }, 507],
  message_not_found: [{ code: "message_not_found", message: "msg_x" }, 404],
  client_id_taken: [{ code: "client_id_taken", message: "msg_x" }, 409],
  branch_not_found: [{ code: "branch_not_found", branch: 9 }, 404],
  fork_unfinished: [{ code: "fork_unfinished", from: "ses_x" }, 409],
  precondition_failed: [{ code: "precondition_failed", etag: null }, 412],
  idempotency_conflict: [{ code: "idempotency_conflict" }, 422],
  unknown_model: [{ code: "unknown_model", model: "m" }, 400],
  models_unavailable: [{ code: "models_unavailable" }, 503],
  turn_not_found: [{ code: "turn_not_found", turn: "trn_x" }, 404],
  compaction_not_found: [{ code: "compaction_not_found", compaction: "cmp_x" }, 404],
  request_not_found: [{ code: "request_not_found", turn: "trn_x", call: null, calls: 0 }, 404],
  request_unknown: [{ code: "request_unknown", model: "m" }, 422],
  budget_exhausted: [
    {
      code: "budget_exhausted",
      budget: "daily",
      of: "tenant",
      unit: "usd",
      amount: 1,
      spent: 0.9,
      reserved: 0.05,
      resets_at: 1_795_046_400_000,
    },
    402,
  ],
  budgets_unavailable: [{ code: "budgets_unavailable" }, 503],
  cannot_fit: [{ code: "cannot_fit", fit }, 422],
  would_not_fit: [{ code: "would_not_fit", tokens: 9_000, limit: 8_000 }, 422],
  too_many_items: [{ code: "too_many_items", items: 10_000 }, 422],
  context_too_large: [{ code: "context_too_large", characters: 9_000_000, limit: 8_000_000 }, 413],
  invalid: [{ code: "invalid", field: "content", detail: "no" }, 400],
};

describe("every reason of a session is a problem document", () => {
  it.each(Object.values(sessionErrors).map(([error, status]) => [error.code, status, error] as const))(
    "%s is %i",
    async (code, status, error) => {
      const { app } = world({ session: { submit: async () => err(error) } });

      // The route cannot be refused for each of these reasons, so the answer is not held to what is documented of it.
      // The request names a model, so an unknown one is its own fault, and not the session's.
      const body = JSON.stringify({ content: "x", model: "m" });
      const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json", "x-request-id": "req-1" };
      const response = await app.request(`${base}/messages`, { method: "POST", body, headers });

      expect(response.status).toBe(status);
      const problem = await readProblem(response);
      const known = code === "invalid" ? "invalid_request" : code;
      expect(problem).toMatchObject({ type: `urn:longhand:problem:${known}`, status, request_id: "req-1" });
      expect(problem.title).not.toBe("");
      expect(problem.detail).not.toBe("");
    },
  );

  it("a full queue says when to come back", async () => {
    const { call } = world({ session: { submit: async () => err({ code: "queue_full", limit: 16 }) } });

    const response = await call("POST", `${base}/messages`, { body: { content: "x" } });

    expect(response.headers.get("retry-after")).toBe("1");
    expect((await readProblem(response)).limit).toBe(16);
  });

  it("what cannot fit comes with the floor, the limit and what weighs most", async () => {
    const { call } = world({ session: { context: async () => err({ code: "cannot_fit", fit }) } });

    expect((await readProblem(await call("POST", `${base}/context`, { body: { content: "x" } }))).fit).toEqual(fit);
  });
});

class Marked extends Error {
  readonly retryable?: boolean;
  readonly overloaded?: boolean;
  constructor(marks: { retryable?: boolean; overloaded?: boolean }) {
    // The runtime says nothing more, as on a full disk.
    super("internal error; reference = secret");
    Object.assign(this, marks);
  }
}

/** Fails once for each given error, then answers. */
function failing<T>(errors: readonly Error[], value: T): { call: () => Promise<T>; count: () => number } {
  let calls = 0;
  return {
    call: () => {
      const error = errors[calls++];
      return error ? Promise.reject(error) : Promise.resolve(value);
    },
    count: () => calls,
  };
}

describe("an object out of reach", () => {
  const reset = new Marked({ retryable: true });

  it("is asked once more with a fresh stub, when that is safe", async () => {
    const read = failing([reset], ok(description()));
    const { call, asked } = world({ session: { describe: read.call } });

    expect((await call("GET", base)).status).toBe(200);
    expect(asked.sessions).toHaveLength(2);
  });

  it("twice is 503, with a time to come back", async () => {
    const read = failing([reset, reset], ok(description()));
    const { call } = world({ session: { describe: read.call } });

    const response = await call("GET", base);

    expect([response.status, response.headers.get("retry-after"), read.count()]).toEqual([503, "1", 2]);
    expect((await readProblem(response)).type).toBe("urn:longhand:problem:unavailable");
  });

  it("does not receive a message twice, unless the message has a key", async () => {
    const attempt = async (headers: Record<string, string>) => {
      const submit = failing([reset], ok(accepted()));
      const session: Partial<SessionApi> = { submit: submit.call, waitForTurn: async () => ok(turn()) };
      const response = await world({ session }).call("POST", `${base}/messages`, { body: { content: "x" }, headers });
      return [response.status, submit.count()];
    };

    expect(await attempt({})).toEqual([503, 1]);
    expect(await attempt({ "idempotency-key": "k" })).toEqual([200, 2]);
  });

  it("is waited for again, when it was reset during a turn", async () => {
    const wait = failing([reset], ok(turn()));
    const session: Partial<SessionApi> = { submit: async () => ok(accepted()), waitForTurn: wait.call };

    expect((await world({ session }).call("POST", `${base}/messages`, { body: { content: "x" } })).status).toBe(200);
  });

  it("is not asked again when it has too much to do", async () => {
    const read = failing([new Marked({ overloaded: true, retryable: true })], ok(description()));
    const { call } = world({ session: { describe: read.call } });

    const response = await call("GET", base);

    expect([response.status, response.headers.get("retry-after"), read.count()]).toEqual([503, "1", 1]);
    expect((await readProblem(response)).type).toBe("urn:longhand:problem:overloaded");
  });
});

describe("a session whose disk is full when its call commits", () => {
  const full = new Error("database or disk is full: SQLITE_FULL");
  const hidden = new Error("internal error; reference = abc");
  const hide = () => Promise.reject(hidden);

  /** Fails where the call would write, as its object does. */
  const onFullDisk = <T>(answer: Awaited<ReturnType<SessionApi["describe"]>> | T, error = full) => {
    const asked: (true | undefined)[] = [];
    const call = async ({ isFull }: { readonly isFull?: true }) => {
      asked.push(isFull);
      if (!isFull) throw error;
      return answer as never;
    };
    return { asked, call };
  };

  it("is asked once more, without writing: a read is answered, and a change is 507", async () => {
    const [read, write] = [onFullDisk(ok(description())), onFullDisk(err({ code: "storage_full" }))];
    const { call, log } = world({ session: { describe: read.call, submit: write.call } });

    expect((await call("GET", base)).status).toBe(200);
    const refused = await call("POST", `${base}/messages`, { body: { content: "x" } });

    expect([refused.status, (await readProblem(refused)).type]).toEqual([507, "urn:longhand:problem:storage_full"]);
    expect([read.asked, write.asked]).toEqual([
      [undefined, true],
      [undefined, true],
    ]);
    expect(log.map(({ event }) => event).filter((event) => event === "http.disk_full")).toHaveLength(2);
  });

  it("is 507, or 503 for a read, when the second call finds no room either", async () => {
    const reject = () => Promise.reject(full);
    const { call } = world({ session: { describe: reject, submit: reject } });

    expect((await call("GET", base)).status).toBe(503);
    expect((await call("POST", `${base}/messages`, { body: { content: "x" } })).status).toBe(507);
  });

  // What could not begin has freed what the next one needs.
  it("is asked once more when its object could not begin, although it can be read by then", async () => {
    const [read, write] = [onFullDisk(ok(description()), hidden), onFullDisk(err({ code: "storage_full" }), hidden)];
    const events = failing([], ok({ data: [], has_more: false }));
    const { call } = world({ session: { describe: read.call, submit: write.call, events: events.call } });

    expect((await call("GET", base)).status).toBe(200);
    const refused = await call("POST", `${base}/messages`, { body: { content: "x" } });

    expect([refused.status, (await readProblem(refused)).type]).toEqual([507, "urn:longhand:problem:storage_full"]);
    expect([read.asked, write.asked, events.count()]).toEqual([[undefined, true], [undefined, true], 0]);
  });

  it("is 507, or 503 for a read, when its object cannot begin the second time either, and 503 when the tenant's cannot", async () => {
    const { call, log } = world({ session: { describe: hide, submit: hide }, tenant: { registerSession: hide } });

    expect((await call("GET", base)).status).toBe(503);
    expect((await call("POST", `${base}/messages`, { body: { content: "x" } })).status).toBe(507);
    expect((await call("POST", "/v1/sessions", { body: {} })).status).toBe(503);
    expect(log.map(({ event }) => event)).not.toContain("http.defect");
  });

  it("says nothing of a disk where there is none: a deployment's hidden error is a defect", async () => {
    const read = onFullDisk(ok(description()), hidden);
    const { call, log } = world({ session: { describe: read.call, submit: hide }, config: { isLocal: false } });

    expect((await call("GET", base)).status).toBe(500);
    expect((await call("POST", `${base}/messages`, { body: { content: "x" } })).status).toBe(500);
    expect([read.asked, log.map(({ event }) => event).filter((event) => event.startsWith("http.d"))]).toEqual([
      [undefined],
      ["http.defect", "http.defect"],
    ]);
  });
});

describe("a change whose error says why it failed", () => {
  it.each([
    [{ overloaded: true }, "overloaded"],
    [{ overloaded: true, retryable: true }, "overloaded"],
    [{ retryable: true }, "unavailable"],
  ])("is passed on at once: %o", async (marks, code) => {
    const change = failing([new Marked(marks)], ok(accepted()));
    const { call, asked } = world({ session: { submit: change.call } });

    const response = await call("POST", `${base}/messages`, { body: { content: "x" } });

    expect([response.status, (await readProblem(response)).type]).toEqual([503, `urn:longhand:problem:${code}`]);
    expect([asked.sessions.length, change.count()]).toEqual([1, 1]);
  });
});

describe("a list while D1 cannot answer", () => {
  it.each([
    ["D1_ERROR: no such table: sessions: SQLITE_ERROR", "not_migrated"],
    ["D1_ERROR: database or disk is full: SQLITE_FULL", "full"],
    ["D1_ERROR: database disk image is malformed: SQLITE_CORRUPT", "corrupt"],
    ["D1_ERROR: secret content", "other"],
  ])("is 503, and the log line names the cause, without the database's words: %s", async (message, cause) => {
    const { call, log } = world({
      deps: { sessionList: { listSessions: () => Promise.reject(new Error(message)), isListed: async () => false } },
    });

    const response = await call("GET", "/v1/sessions");

    expect([response.status, (await readProblem(response)).type]).toEqual([503, "urn:longhand:problem:read_model_unavailable"]);
    const [line] = log.filter(({ event }) => event === "http.read_model_unavailable");
    expect(line).toMatchObject({ fields: { cause } });
    expect(JSON.stringify(line)).not.toContain("secret");
  });
});

describe("a defect", () => {
  it("is 500 with the request's id, and its text is neither returned nor logged", async () => {
    const { call, log } = world({ session: { describe: () => Promise.reject(new TypeError("secret content")) } });

    const response = await call("GET", base, { headers: { "x-request-id": "req-9" } });

    expect(response.status).toBe(500);
    expect(await readProblem(response)).toMatchObject({ type: "urn:longhand:problem:internal", request_id: "req-9" });
    expect(log.filter(({ level }) => level === "error")).toMatchObject([
      { event: "http.defect", fields: { request_id: "req-9", name: "TypeError", route: "/v1/sessions/:session_id" } },
    ]);
    expect(JSON.stringify(log)).not.toContain("secret");
  });
});

describe("a turn that failed says what is left to do", () => {
  it.each([
    ["cannot_fit", "Use a model with a larger window"],
    ["unknown_model", "Set a model for the session"],
    ["timeout", "Retry the turn."],
  ] as const)("%s", (kind, said) => {
    expect(describeFailure({ kind, status: null }).remedy).toContain(said);
  });

  it.each(["overflow", "cannot_fit"] as const)("%s, by our own figures where they say why", (kind) => {
    const remedy = (floor: number) => describeFailure({ kind, status: 400, fit: { floor, limit: 1_920, biggest: [] } }).remedy;
    expect(remedy(6_515)).toMatch(/^Raise the model's window .* shorten the system prompt.*: about 6,515 tokens of 1,920\.$/);
    expect(remedy(1_500)).toMatch(/^Use a model with a larger window/);
  });
});

describe("a request that is too large in bytes", () => {
  const bytes = { floor: 9_000_000, limit: 8_000_000 };
  const large = { floor: 2_000_000, limit: 1_500_000, biggest: [], bytes };

  it.each([
    [
      "cannot_fit",
      { kind: "cannot_fit", status: null, fit: large },
      "takes about 9000000 bytes; a request to a model holds at most 8000000.",
    ],
    ["payload", { kind: "payload", status: null, bytes }, "would be 9000000 bytes; at most 8000000 are sent to a model. It was not sent."],
  ] as const)("says so where the turn failed as %s, and offers no larger window", (_, failure, said) => {
    const { detail, remedy } = describeFailure(failure);

    expect(detail).toContain(said);
    expect(remedy).toBe("Shorten the system prompt, tools, pins or this message.");
  });

  it("says so where it was refused at once", async () => {
    const { call } = world({ session: { context: async () => err({ code: "cannot_fit", fit: large }) } });
    const problem = await readProblem(await call("POST", `${base}/context`, { body: { content: "x" } }));
    expect(problem).toMatchObject({ title: "Request too large", fit: { bytes } });
    expect(problem.detail).toContain("takes about 9000000 bytes");
  });
});

describe("the request id", () => {
  it("is the client's, if it has the form of one", async () => {
    const response = await world().app.request("/healthz", { headers: { "x-request-id": "Abc-1._z" } });

    expect(response.headers.get("x-request-id")).toBe("Abc-1._z");
  });

  it.each(["with space", "x".repeat(65), "a/b", ""])("is ours in place of %j", async (given) => {
    const response = await world().app.request("/healthz", { headers: { "x-request-id": given } });

    expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("is on every answer and in one line of the log, which has the route's pattern and no path", async () => {
    const { call, log } = world();

    const response = await call("GET", `${base}/context?content=secret`);

    expect(log).toMatchObject([
      {
        event: "http.request",
        fields: {
          ...{ request_id: response.headers.get("x-request-id"), method: "GET", route: "/v1/sessions/:session_id/context", status: 404 },
          ...{ tenant_id: TENANT, session: SESSION },
        },
      },
    ]);
    expect(JSON.stringify(log)).not.toMatch(/secret|lh_test/);
  });

  it("is on answers that were never authenticated too", async () => {
    const response = await world().call("GET", base, { key: null });

    expect((await readProblem(response)).request_id).toBe(response.headers.get("x-request-id"));
  });
});

describe("answers", () => {
  it("are not kept by caches", async () => {
    const { call } = world({ session: { describe: async () => ok(description()) } });

    expect((await call("GET", base)).headers.get("cache-control")).toBe("no-store");
  });
});
