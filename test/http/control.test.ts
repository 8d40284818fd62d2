/** Manual changes of the view over HTTP: the calls to the session's object, and the wording of the responses. */
import { describe, expect, it } from "vitest";
import type { CompactOutcome, ControlApi } from "../../src/app/control-api";
import type { CompactionView } from "../../src/contract/compaction";
import type { ShownPlan } from "../../src/contract/plan";
import { err, ok } from "../../src/lib/result";
import { makeId, readProblem, SESSION, world } from "./support";

const base = `/v1/sessions/${SESSION}`;
const next = { tokens: 900, source: "estimated", error_bound: 180 } as const;
const breaker = { open: true, failures: 3, fruitless: 0, closes_after: 40 };
const nothing: ShownPlan = { kind: "none", reason: "nothing_older", next, breaker };

const compaction: CompactionView = {
  id: makeId("cmp"),
  seq: 12,
  trigger: "manual",
  status: "requested",
  did_compact: false,
  requested_at: 77,
  finished_at: null,
  attempts: 0,
  failure: null,
  epoch: null,
  range: null,
  keep_recent: 500,
  up_to: null,
  instructions: null,
  rebuild: false,
  model: null,
  policy: null,
  draft: null,
  ops: [],
  summary: null,
  receipt: null,
  cache: null,
  reverted: null,
};

function answering(outcome: CompactOutcome, replayed = false) {
  const seen: Parameters<ControlApi["compact"]>[1][] = [];
  const compact: ControlApi["compact"] = async (_, input) => {
    seen.push(input);
    return ok({ ...outcome, replayed });
  };
  return { ...world({ session: { compact } }), seen };
}

describe("asking for a compaction", () => {
  it("passes on the given fields; the policy decides the others", async () => {
    const { call, seen } = answering({ kind: "requested", compaction });

    await call("POST", `${base}/compactions`);
    await call("POST", `${base}/compactions`, { body: { dry_run: true, instructions: "Keep names.", keep_recent: 500, up_to: 9 } });

    expect(seen).toEqual([
      { dryRun: false, instructions: null, keepRecent: null, upTo: null, idempotency: null },
      { dryRun: true, instructions: "Keep names.", keepRecent: 500, upTo: 9, idempotency: null },
    ]);
  });

  it("is 202 with the compaction and where to find it, while a worker does it", async () => {
    const response = await answering({ kind: "requested", compaction }).call("POST", `${base}/compactions`, {
      headers: { prefer: "respond-async" },
    });

    expect(response.status).toBe(202);
    expect(response.headers.get("location")).toBe(`${base}/compactions/${compaction.id}`);
    expect(response.headers.get("preference-applied")).toBe("respond-async");
    expect(await response.json()).toEqual(compaction);
  });

  it("is 201 when it was done at once", async () => {
    const response = await answering({ kind: "done", compaction }).call("POST", `${base}/compactions`);

    expect(response.status).toBe(201);
  });

  it("is 200 with the plan when there is nothing to do, or it was a dry run", async () => {
    const response = await answering({ kind: "plan", plan: nothing }).call("POST", `${base}/compactions`, { body: { dry_run: true } });

    expect([response.status, await response.json()]).toEqual([200, nothing]);
  });

  it("says that a key had been seen", async () => {
    const headers = { "idempotency-key": "k-1" };
    const response = await answering({ kind: "requested", compaction }, true).call("POST", `${base}/compactions`, { headers });

    expect(response.headers.get("idempotent-replayed")).toBe("true");
  });

  it("is 409 while one is under way, and names it", async () => {
    const compact: ControlApi["compact"] = async () => err({ code: "compaction_running", compaction: compaction.id });
    const response = await world({ session: { compact } }).call("POST", `${base}/compactions`);

    expect(response.status).toBe(409);
    expect(await readProblem(response)).toMatchObject({ type: "urn:longhand:problem:compaction_running", compaction_id: compaction.id });
  });

  it.each([
    [{ keep_recent: 0 }, "keep_recent"],
    [{ keep_recent: 1.5 }, "keep_recent"],
    [{ up_to: "9" }, "up_to"],
    [{ up_to: -1 }, "up_to"],
    [{ instructions: " " }, "instructions"],
    [{ instructions: "x".repeat(4_001) }, "instructions"],
    [{ dry_run: "yes" }, "dry_run"],
    [{ keep: 5 }, "keep"],
  ])("with %j is refused by the field's name", async (body, field) => {
    const { call, seen } = answering({ kind: "requested", compaction });

    const response = await call("POST", `${base}/compactions`, { body });

    expect(response.status).toBe(400);
    expect((await readProblem(response)).errors?.map((each) => each.field)).toEqual([field]);
    expect(seen).toEqual([]);
  });
});

describe("taking one back", () => {
  const path = `${base}/compactions/${compaction.id}/revert`;
  const reverted: CompactionView = { ...compaction, status: "reverted", reverted: { by: makeId("cmp", 2), at: 99 } };

  it("answers with the compaction, reverted", async () => {
    const revertCompaction: ControlApi["revertCompaction"] = async () => ok({ compaction: reverted, replayed: false });
    const response = await world({ session: { revertCompaction } }).call("POST", path);

    expect([response.status, await response.json()]).toEqual([200, reverted]);
  });

  it("is 409 for any but the newest, and names that", async () => {
    const revertCompaction: ControlApi["revertCompaction"] = async () => err({ code: "not_newest", newest: "cmp_newer" });
    const response = await world({ session: { revertCompaction } }).call("POST", path);

    expect(response.status).toBe(409);
    expect(await readProblem(response)).toMatchObject({ type: "urn:longhand:problem:not_newest", newest_compaction_id: "cmp_newer" });
  });

  it("is 422 with both figures when it would not fit", async () => {
    const revertCompaction: ControlApi["revertCompaction"] = async () => err({ code: "would_not_fit", tokens: 9_000, limit: 8_000 });
    const response = await world({ session: { revertCompaction } }).call("POST", path);

    expect(response.status).toBe(422);
    expect(await readProblem(response)).toMatchObject({ type: "urn:longhand:problem:would_not_fit", tokens: 9_000, limit: 8_000 });
  });
});

describe("forgetting the summary", () => {
  it("answers with what was done, or with nothing when there is none", async () => {
    const done = await world({ session: { resetSummary: async () => ok(compaction) } }).call("DELETE", `${base}/summary`);
    const none = await world({ session: { resetSummary: async () => ok(null) } }).call("DELETE", `${base}/summary`);

    expect([done.status, await done.json()]).toEqual([200, compaction]);
    expect([none.status, await none.text()]).toEqual([204, ""]);
  });
});
