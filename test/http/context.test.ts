/** The context over HTTP: the chosen call of the session's object, and invalid requests. */
import { describe, expect, it } from "vitest";
import type { PastApi } from "../../src/app/past-api";
import type { SessionApi } from "../../src/app/session-api";
import { err } from "../../src/lib/result";
import { makeId, readProblem, SESSION, world } from "./support";

const path = `/v1/sessions/${SESSION}/context`;
const [turn, other] = [makeId("trn"), makeId("trn", 2)];

/** A session that records its calls and has no content. */
function asking() {
  const seen: unknown[] = [];
  const gone = err({ code: "turn_not_found", turn } as const);
  const context: SessionApi["context"] = async (_, input) => {
    seen.push({ next: input });
    return gone;
  };
  const contextAt: PastApi["contextAt"] = async (_, input) => {
    seen.push({ past: input });
    return gone;
  };
  const contextDiff: PastApi["contextDiff"] = async (_, input) => {
    seen.push({ diff: input });
    return gone;
  };
  return { ...world({ session: { context, contextAt, contextDiff } }), seen };
}

describe("GET …/context", () => {
  it.each([
    ["", { next: { content: null } }],
    ["?content=hello", { next: { content: [{ type: "text", text: "hello" }] } }],
    [`?at=${turn}`, { past: { turn, call: null } }],
    [`?at=${turn}&call=2`, { past: { turn, call: 2 } }],
    [`/diff?from=${turn}&to=now`, { diff: { from: { turn, call: null }, to: { turn: null, call: null } } }],
    [`/diff?from=${turn}&from_call=1&to=${other}&to_call=3`, { diff: { from: { turn, call: 1 }, to: { turn: other, call: 3 } } }],
  ])("%s asks the session for it", async (query, asked) => {
    const { call, seen } = asking();

    const response = await call("GET", path + query);

    expect(seen).toEqual([asked]);
    expect([response.status, (await readProblem(response)).type]).toEqual([404, "urn:longhand:problem:turn_not_found"]);
  });

  it.each([
    [`?content=hello&at=${turn}`, "content"],
    ["?call=1", "call"],
    [`?at=${turn}&call=0`, "call"],
    [`?at=${turn}&call=1.5`, "call"],
    ["?at=yesterday", "at"],
    [`?at=${makeId("msg")}`, "at"],
    ["?content=%20", "content"],
    [`/diff?from=${turn}`, "to"],
    [`/diff?from=then&to=now`, "from"],
    [`/diff?from=now&from_call=1&to=${turn}`, "from_call"],
    [`/diff?from=${turn}&to=now&to_call=1`, "to_call"],
    [`/diff?from=${turn}&to=now&content=x`, "content"],
  ])("%s is refused by the parameter's name", async (query, field) => {
    const { call, seen } = asking();

    const response = await call("GET", path + query);

    expect(response.status).toBe(400);
    expect((await readProblem(response)).errors?.map((each) => each.field)).toEqual([field]);
    expect(seen).toEqual([]);
  });

  it("says how often the turn has asked, where it has not asked so often", async () => {
    const contextAt: PastApi["contextAt"] = async () => err({ code: "request_not_found", turn, call: 3, calls: 2 });
    const { call } = world({ session: { contextAt } });

    const response = await call("GET", `${path}?at=${turn}&call=3`);

    expect(await readProblem(response)).toMatchObject({ status: 404, calls: 2, detail: "call: the turn has 2, and no request 3." });
  });
});
