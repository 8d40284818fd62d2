import { describe, expect, it } from "vitest";
import type { RecallInput } from "../../src/app/session-api";
import { err, ok } from "../../src/lib/result";
import { makeId, readProblem, SESSION, world } from "./support";

const base = `/v1/sessions/${SESSION}/recall`;
const nothing = { data: [], text: "Nothing was found.", tokens: { tokens: 4, source: "estimated", error_bound: 9 } as const, next: null };

describe("looking something up", () => {
  it.each([
    ["q=locker%20code", { query: "locker code" }],
    ["q=locker&from=3&to=9&limit=5", { query: "locker", from: 3, to: 9, limit: 5 }],
    [`execution_id=${makeId("exe")}&offset=2000`, { execution: makeId("exe"), offset: 2_000 }],
    ["from=3", { from: 3 }],
  ])("%s asks the session for that and nothing else", async (query, wanted) => {
    const asked: RecallInput[] = [];
    const recall = async (_: unknown, input: RecallInput) => {
      asked.push(input);
      return ok(nothing);
    };

    const response = await world({ session: { recall } }).call("GET", `${base}?${query}`);

    expect(response.status).toBe(200);
    expect(await response.json()).toEqual(nothing);
    expect(asked).toEqual([{ query: null, execution: null, from: null, to: null, offset: 0, limit: 60, ...wanted }]);
  });

  it.each([
    [{ q: "locker code" }, { query: "locker code" }],
    // As the model's own tool calls it.
    [{ query: "locker code" }, { query: "locker code" }],
    [
      { q: "locker", from: 3, to: 9, limit: 5 },
      { query: "locker", from: 3, to: 9, limit: 5 },
    ],
    [
      { execution_id: makeId("exe"), offset: 2_000 },
      { execution: makeId("exe"), offset: 2_000 },
    ],
  ])("in a body, %j asks the same, and no URL has the words", async (body, wanted) => {
    const asked: RecallInput[] = [];
    const recall = async (_: unknown, input: RecallInput) => {
      asked.push(input);
      return ok(nothing);
    };

    const response = await world({ session: { recall } }).call("POST", base, { body });

    expect(await response.json()).toEqual(nothing);
    expect(asked).toEqual([{ query: null, execution: null, from: null, to: null, offset: 0, limit: 60, ...wanted }]);
  });

  it.each([
    [{ q: " " }, "q"],
    [{ q: "a", limit: 61 }, "limit"],
    [{ from: -1 }, "from"],
    [{ q: "a", query: "b" }, "query"],
    [{ query: 7 }, "query"],
  ])("in a body, %j is refused by the name of its field", async (body, field) => {
    const response = await world().call("POST", base, { body });

    expect(response.status).toBe(400);
    expect((await readProblem(response)).errors?.map((error) => error.field)).toEqual([field]);
  });

  it.each([
    ["q=", "q"],
    ["q=%20", "q"],
    ["q=a&limit=0", "limit"],
    ["q=a&limit=61", "limit"],
    ["execution_id=exe_1", "execution_id"],
    ["from=-1", "from"],
    ["from=1&offset=x", "offset"],
    ["query=a", "query"],
  ])("%s is refused by the name of its parameter, and the session is not called", async (query, field) => {
    const { call, asked } = world();

    const response = await call("GET", `${base}?${query}`);

    expect(response.status).toBe(400);
    expect((await readProblem(response)).errors?.map((error) => error.field)).toEqual([field]);
    expect(asked.sessions).toEqual([]);
  });

  it("words that contradict each other are refused as the session words it", async () => {
    const recall = async () => err({ code: "invalid", field: "to", detail: "must not be less than from" } as const);

    const response = await world({ session: { recall } }).call("GET", `${base}?from=9&to=3`);

    expect(response.status).toBe(400);
    expect((await readProblem(response)).errors).toEqual([{ field: "to", detail: "must not be less than from" }]);
  });
});
