/** Generation settings over HTTP: what a body may hold, what reaches the session, and what is refused by which name. */
import { describe, expect, it } from "vitest";
import type { OpenInput, PatchInput, SessionApi } from "../../src/app/session-api";
import { err, ok } from "../../src/lib/result";
import { accepted, description, makeId, readProblem, SESSION, turn, world } from "./support";

const base = `/v1/sessions/${SESSION}`;
const message = `${base}/messages/${makeId("msg")}`;
const own = { generation: { seed: 7, temperature: null }, model: "gpt-4o" };
/** What a turn alone may be asked with. */
const ofTurn = { system: "Be brief.", note: '{"a":1}' };

/** A session that notes what it is asked. */
function noting() {
  const seen: Record<string, unknown>[] = [];
  const note = async (_: unknown, input: object) => {
    seen.push({ ...input });
    return ok(accepted());
  };
  const session: Partial<SessionApi> & Record<string, unknown> = {
    open: async (_, input: OpenInput) => {
      seen.push({ ...input });
      return ok(description());
    },
    patch: async (_, input: PatchInput) => {
      seen.push({ ...input });
      return ok(description());
    },
    ...{ submit: note, retry: note, editMessage: note, regenerate: note, waitForTurn: async () => ok(turn()) },
  };
  return { ...world({ session }), seen };
}

const requests = [
  ["POST", `${base}/messages`, { content: "hi" }],
  ["POST", `${message}/edit`, { content: "hi" }],
  ["POST", `${message}/regenerate`, {}],
  ["POST", `${base}/retry`, {}],
  ["POST", "/v1/sessions", {}],
  ["PATCH", base, {}],
] as const;

describe("generation settings", () => {
  it.each(requests)("reach the session with %s %s", async (method, path, body) => {
    const { call, seen } = noting();
    await call(method, path, { body: { ...body, ...own } });
    expect(seen).toMatchObject([own]);
  });

  it.each(requests.slice(0, 4))("come with a system prompt and a note of the turn in %s %s", async (method, path, body) => {
    const { call, seen } = noting();
    for (const given of [ofTurn, { system: "", note: "" }, { system: null, note: null }]) {
      await call(method, path, { body: { ...body, ...given } });
      expect(seen.at(-1)).toMatchObject(given);
    }
  });

  it.each(requests.slice(0, 4))("are absent where %s %s names none", async (method, path, body) => {
    const { call, seen } = noting();
    await call(method, path, { body });
    expect(seen.map((input) => Object.keys({ ...own, ...ofTurn }).filter((name) => name in input))).toEqual([[]]);
  });

  it.each(requests.slice(0, 4))("are refused with a note that is too long or no text: %s %s", async (method, path, body) => {
    const { call, seen } = noting();
    for (const given of [{ note: "x".repeat(65_537) }, { note: { a: 1 } }, { system: ["a"] }]) {
      const refused = await call(method, path, { body: { ...body, ...given } });
      expect([refused.status, (await readProblem(refused)).errors?.map(({ field }) => field)]).toEqual([400, Object.keys(given)]);
    }
    expect(seen).toEqual([]);
  });

  const faults = [
    ["temperature", 2.1],
    ["top_p", -0.1],
    ["max_output_tokens", 0],
    ["stop", []],
    ["stop.0", [""]],
    ["seed", 1.5],
    ["tool_choice", "always"],
    ["parallel_tool_calls", "no"],
    ["response_format.type", { type: "xml" }],
    ["response_format.name", { type: "json_schema", name: "a b", schema: {} }],
    ["response_format.schema", { type: "json_schema", name: "a", schema: { description: "界".repeat(200_000) } }],
    ["reasoning.effort", { effort: "some" }],
    ["speed", 3],
  ] as const;

  it.each(faults)("are refused by name: %s", async (field, value) => {
    const name = field.split(".")[0] ?? "";
    for (const [method, path, body] of requests) {
      const { call, seen } = noting();
      const refused = await call(method, path, { body: { ...body, generation: { [name]: value } } });
      expect([refused.status, seen]).toEqual([400, []]);
      expect(JSON.stringify((await readProblem(refused)).errors)).toContain(`"generation.${field}`);
    }
  });

  it("are refused on a message that is only appended", async () => {
    const { call, seen } = noting();
    for (const [field, value] of Object.entries({ ...own, ...ofTurn })) {
      const refused = await call("POST", `${base}/messages`, { body: { content: "hi", run: false, [field]: value } });
      expect([refused.status, (await readProblem(refused)).errors?.map((each) => each.field)]).toEqual([400, [field]]);
    }
    expect(seen).toEqual([]);
  });

  it("name the session's model as gone, and the message's own as unknown", async () => {
    const submit: SessionApi["submit"] = async () => err({ code: "unknown_model", model: "gpt-4o" });
    const { call } = world({ session: { submit } });
    const [named, inherited] = [
      await call("POST", `${base}/messages`, { body: { content: "hi", model: "gpt-4o" } }),
      await call("POST", `${base}/messages`, { body: { content: "hi", generation: { seed: 1 } } }),
    ];
    expect([named.status, (await readProblem(named)).errors?.map(({ field }) => field)]).toEqual([400, ["model"]]);
    expect((await readProblem(inherited)).type).toBe("urn:longhand:problem:model_gone");
  });

  it("that the session refuses are named as the client wrote them", async () => {
    const submit: SessionApi["submit"] = async () => err({ code: "invalid", field: "generation.seed", detail: "no seed" });
    const refused = await world({ session: { submit } }).call("POST", `${base}/messages`, { body: { content: "hi", ...own } });
    expect([refused.status, (await readProblem(refused)).errors]).toEqual([400, [{ field: "generation.seed", detail: "no seed" }]]);
  });
});
