import { describe, expect, it } from "vitest";
import type { ExecutionInput } from "../../src/app/read-api";
import type { ApprovalInput, PageInput, SessionApi, ToolResultInput } from "../../src/app/session-api";
import type { ExecutionDetail, ExecutionView } from "../../src/contract/execution";
import { err, ok } from "../../src/lib/result";
import { accepted, makeId, NOW, readProblem, SESSION, TENANT, turn, world } from "./support";

const base = `/v1/sessions/${SESSION}`;
const execution_id = makeId("exe");

const ended = (position: number) => ({
  id: execution_id,
  session_id: SESSION,
  turn_id: makeId("trn"),
  position,
  result_position: position + 1,
  tool_name: "look_up",
  call_id: "call_1",
  runs: "server" as const,
  status: "failed" as const,
  success: false,
  exit_code: null,
  duration_ms: 20,
  failure: "timeout" as const,
  error_message: "too late",
  arguments: "{}",
  created_at: NOW,
  started_at: NOW,
  finished_at: NOW,
});
const view = (position: number): ExecutionView => ({
  ...ended(position),
  item_id: makeId("msg"),
  approval: null,
  artifacts: [{ number: 0, type: "stderr", bytes: 2 }],
});

describe("one execution", () => {
  it("is the tenant's own, from the read model", async () => {
    const artifacts = [{ number: 0, type: "stderr", bytes: 2, content: { any: [null] }, content_state: "full" }] as const;
    const detail: ExecutionDetail = { ...ended(3), arguments_state: "full", output: "too late", output_state: "cut", artifacts };
    const asked: ExecutionInput[] = [];
    const readExecution = async (input: ExecutionInput) => {
      asked.push(input);
      return detail;
    };
    const answer = await world({ deps: { executions: { readExecution } } }).call("GET", `/v1/executions/${execution_id}`);

    expect([answer.status, await answer.json()]).toEqual([200, detail]);
    expect(asked).toEqual([{ tenant: TENANT, execution: execution_id }]);
  });

  it.each([execution_id, "exe_1", makeId("trn"), "%00"])("that is unknown, or named in another form, is not found: %s", async (id) => {
    const answer = await world().call("GET", `/v1/executions/${id}`);

    expect(answer.status).toBe(404);
    expect((await readProblem(answer)).errors?.map(({ field }) => field)).toEqual(["execution_id"]);
  });

  it("waits while the read model is out of reach", async () => {
    const readExecution = () => Promise.reject(new Error("D1 is down"));
    const answer = await world({ deps: { executions: { readExecution } } }).call("GET", `/v1/executions/${execution_id}`);

    expect((await readProblem(answer)).type).toBe("urn:longhand:problem:read_model_unavailable");
  });
});

describe("a session's executions", () => {
  it("are a page whose cursor is the last call's position", async () => {
    const asked: PageInput[] = [];
    const executions = async (_: unknown, page: PageInput) => {
      asked.push(page);
      return ok({ data: [view(9), view(4)], has_more: true });
    };
    const answer = await world({ session: { executions } }).call("GET", `${base}/executions?limit=2&after=12&order=desc`);

    expect(await answer.json()).toEqual({ data: [view(9), view(4)], has_more: true, next_cursor: "4" });
    expect(asked).toEqual([{ after: 12, limit: 2, order: "desc" }]);
  });
});

/** The app, and the calls that the session received. */
function door() {
  const results: ToolResultInput[] = [];
  const approvals: ApprovalInput[] = [];
  const session: Partial<SessionApi> = {
    toolResults: async (_, input) => {
      results.push(...input.results);
      return ok(accepted());
    },
    approvals: async (_, input) => {
      approvals.push(...input.approvals);
      return ok(accepted());
    },
    waitForTurn: async () => ok(turn()),
  };
  const { call } = world({ session });
  return { results, approvals, send: (path: string, body: unknown, headers = {}) => call("POST", `${base}/${path}`, { body, headers }) };
}

describe("a client's result", () => {
  it("may say how the call went, and bring what came beside it", async () => {
    const { results, send } = door();
    const artifacts = [
      { type: "stderr", content: "oh" },
      { type: "x".repeat(64), content: null },
    ];

    const answer = await send("tool_results", { results: [{ execution_id, output: "1", exit_code: -1, duration_ms: 12.6, artifacts }] });

    expect(answer.status).toBe(200);
    expect(results).toEqual([{ execution_id, call_id: null, output: "1", is_error: false, exit_code: -1, duration_ms: 13, artifacts }]);
  });

  it.each([
    ["an exit code that is no integer", { exit_code: 1.5 }, "exit_code"],
    ["a negative duration", { duration_ms: -1 }, "duration_ms"],
    ["too many artifacts", { artifacts: Array.from({ length: 17 }, () => ({ type: "a", content: 1 })) }, "artifacts"],
    ["an artifact without a type", { artifacts: [{ type: "", content: 1 }] }, "artifacts.0.type"],
    ["an artifact with too long a type", { artifacts: [{ type: "x".repeat(65), content: 1 }] }, "artifacts.0.type"],
    ["an artifact without content", { artifacts: [{ type: "a" }] }, "artifacts.0.content"],
    ["an artifact with more fields", { artifacts: [{ type: "a", content: 1, name: "b" }] }, "artifacts.0.name"],
  ])("is refused with %s", async (_, change, field) => {
    const { results, send } = door();

    const answer = await send("tool_results", { results: [{ execution_id, output: "1", ...change }] });

    expect([answer.status, (await readProblem(answer)).errors?.map((error) => error.field)]).toEqual([400, [`results.0.${field}`]]);
    expect(results).toEqual([]);
  });
});

describe("approvals", () => {
  it("are given to the session, and answered with the turn", async () => {
    const { approvals, send } = door();
    const other = makeId("exe", 2);

    const answer = await send("approvals", {
      approvals: [
        { execution_id, approved: true },
        { execution_id: other, approved: false, reason: "too dear" },
      ],
    });

    expect([answer.status, await answer.json()]).toEqual([200, JSON.parse(JSON.stringify(turn()))]);
    expect(approvals).toEqual([
      { execution_id, approved: true, reason: null },
      { execution_id: other, approved: false, reason: "too dear" },
    ]);
  });

  it("are acknowledged where that is asked for", async () => {
    const answer = await door().send("approvals", { approvals: [{ execution_id, approved: true }] }, { prefer: "respond-async" });

    expect([answer.status, await answer.json()]).toEqual([
      202,
      { message_id: makeId("msg"), turn_id: makeId("trn"), position: 3, queued: false, cursor: 41 },
    ]);
  });

  it.each([
    ["none", [], "approvals"],
    ["too many", Array.from({ length: 129 }, () => ({ execution_id, approved: true })), "approvals"],
    ["one without an answer", [{ execution_id }], "approvals.0.approved"],
    ["one whose answer is text", [{ execution_id, approved: "yes" }], "approvals.0.approved"],
    ["one by the provider's id", [{ call_id: "call_1", approved: true }], "approvals.0.execution_id"],
    ["a reason without end", [{ execution_id, approved: false, reason: "x".repeat(4_001) }], "approvals.0.reason"],
  ])("are refused with %s", async (_, approvals, field) => {
    const answer = await door().send("approvals", { approvals });

    expect(answer.status).toBe(400);
    expect((await readProblem(answer)).errors?.map((error) => error.field)).toContain(field);
  });

  it("for calls that wait for no approval are a conflict, at the one that is not open", async () => {
    const approvals = async () => err({ code: "approval_not_open", index: 1, execution: execution_id } as const);
    const body = {
      approvals: [
        { execution_id, approved: true },
        { execution_id, approved: true },
      ],
    };
    const answer = await world({ session: { approvals } }).call("POST", `${base}/approvals`, { body });

    expect([answer.status, (await readProblem(answer)).errors?.map(({ field }) => field)]).toEqual([409, ["approvals.1"]]);
  });
});
