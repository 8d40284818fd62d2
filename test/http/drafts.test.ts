/** A draft over HTTP: the calls to its session, the caller that they name, and the wording of the responses. */
import { describe, expect, it } from "vitest";
import type { DraftApi } from "../../src/app/draft-api";
import type { CompactionView } from "../../src/contract/compaction";
import { err, ok } from "../../src/lib/result";
import { makeId, principal, readProblem, SESSION, world } from "./support";

const compaction: CompactionView = {
  id: makeId("cmp"),
  seq: 12,
  trigger: "manual",
  status: "drafted",
  did_compact: false,
  requested_at: 77,
  finished_at: null,
  attempts: 1,
  failure: null,
  epoch: null,
  range: { from: 1, to: 4 },
  keep_recent: null,
  up_to: null,
  instructions: null,
  rebuild: false,
  model: null,
  policy: null,
  draft: { edits: 1, edited_by: principal().key, edited_at: 80 },
  ops: [],
  summary: "They spoke.",
  receipt: null,
  cache: null,
  reverted: null,
};
const path = `/v1/sessions/${SESSION}/compactions/${compaction.id}`;

function drafting(answer: Partial<DraftApi> = {}) {
  const seen: object[] = [];
  const noting =
    <T>(value: T) =>
    async (_: unknown, input: object | string) => {
      seen.push(typeof input === "string" ? { input } : input);
      return ok(value);
    };
  const api: DraftApi = {
    editDraft: noting(compaction),
    commitDraft: noting({ compaction, replayed: true }),
    discardDraft: noting(null),
    compareSummaries: async () => err({ code: "session_not_found" }),
  };
  return { ...world({ session: { ...api, ...answer } }), seen };
}

describe("an edit", () => {
  it("is handed on in the name of the key that the credential proved, whatever the body says", async () => {
    const { call, seen } = drafting();

    const response = await call("PATCH", path, { body: { summary: "They spoke.", edits: 0 } });

    expect([response.status, await response.json()]).toEqual([200, compaction]);
    expect(seen).toEqual([{ compaction: compaction.id, summary: "They spoke.", edits: 0, by: principal().key }]);
    const signed = await call("PATCH", path, { body: { summary: "They spoke.", edits: 0, by: makeId("key", 9) } });
    expect((await readProblem(signed)).errors?.map(({ field }) => field)).toEqual(["by"]);
  });

  it.each([
    [{ edits: 0 }, "summary"],
    [{ summary: " ", edits: 0 }, "summary"],
    [{ summary: "x".repeat(400_001), edits: 0 }, "summary"],
    [{ summary: "They spoke." }, "edits"],
    [{ summary: "They spoke.", edits: -1 }, "edits"],
    [{ summary: "They spoke.", edits: "1" }, "edits"],
  ])("%# is refused by the field's name", async (body, field) => {
    const { call, seen } = drafting();

    const response = await call("PATCH", path, { body });

    expect(response.status).toBe(400);
    expect((await readProblem(response)).errors?.map((each) => each.field)).toEqual([field]);
    expect(seen).toEqual([]);
  });

  it("of a text that another edited since is 409 and says how often it was", async () => {
    const { call } = drafting({ editDraft: async () => err({ code: "draft_edited", edits: 2 }) });

    const response = await call("PATCH", path, { body: { summary: "They spoke.", edits: 1 } });

    expect(response.status).toBe(409);
    expect(await readProblem(response)).toMatchObject({ edits: 2, errors: [{ field: "edits" }] });
  });
});

describe("a commit", () => {
  it("needs no body, may name the text that was read, and says that a key had been seen", async () => {
    const { call, seen } = drafting();

    const response = await call("POST", `${path}/commit`, { headers: { "idempotency-key": "k-1" } });
    await call("POST", `${path}/commit`, { body: { edits: 3 } });

    expect(response.headers.get("idempotent-replayed")).toBe("true");
    expect(seen).toMatchObject([
      { edits: null, idempotency: { key: "k-1" } },
      { edits: 3, idempotency: null },
    ]);
  });

  it("that makes nothing smaller is 422 with both figures", async () => {
    const { call } = drafting({ commitDraft: async () => err({ code: "not_smaller", tokens_before: 900, tokens_after: 950 }) });

    const response = await call("POST", `${path}/commit`);

    expect(response.status).toBe(422);
    expect(await readProblem(response)).toMatchObject({ tokens_before: 900, tokens_after: 950 });
  });
});

it("a discard is 204", async () => {
  const { call, seen } = drafting();

  expect((await call("DELETE", path)).status).toBe(204);
  expect(seen).toEqual([{ input: compaction.id }]);
});
