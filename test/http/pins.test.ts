import { describe, expect, it } from "vitest";
import type { PinInput, PinsState } from "../../src/app/control-api";
import { err, ok } from "../../src/lib/result";
import { makeId, readProblem, SESSION, world } from "./support";

const path = `/v1/sessions/${SESSION}/pins`;
const ETAG = '"0123456789abcdef"';
const MESSAGE = makeId("msg");
const shown: PinsState = {
  pins: [
    { text: "Answer in French.", message_id: null, position: null },
    { text: "Message 3, user: My dog is called Rex.", message_id: MESSAGE, position: 3 },
  ],
  etag: ETAG,
};

function noting() {
  const seen: (readonly PinInput[])[] = [];
  const conditions: unknown[] = [];
  const session = {
    pins: async () => ok(shown),
    setPins: async (_: unknown, pins: readonly PinInput[], condition?: unknown) => {
      seen.push(pins);
      conditions.push(condition);
      return ok(shown);
    },
  };
  return { seen, conditions, given: { session } };
}

describe("pins", () => {
  it("are read with their etag", async () => {
    const response = await world(noting().given).call("GET", path);

    expect([response.status, response.headers.get("etag")]).toEqual([200, ETAG]);
    expect(await response.json()).toEqual({ pins: shown.pins });
  });

  it("are handed on in their order, and answered as they are then", async () => {
    const { seen, given } = noting();
    const pins = ["b", { text: "a" }, { message_id: MESSAGE }, { position: 3 }];

    const response = await world(given).call("PUT", path, { body: { pins } });

    expect(seen).toEqual([pins]);
    expect(response.headers.get("etag")).toBe(ETAG);
    expect(await response.json()).toEqual({ pins: shown.pins });
  });

  it("can be set to what was read, under its etag", async () => {
    const { seen, conditions, given } = noting();
    const read = await world(given).call("GET", path);

    const response = await world(given).call("PUT", path, { body: await read.json(), headers: { "If-Match": ETAG } });

    expect(response.status).toBe(200);
    expect(seen).toEqual([shown.pins]);
    expect(conditions).toEqual([{ match: [ETAG], none_match: null }]);
  });

  it("under an etag that does not hold stay as they are", async () => {
    const setPins = async () => err({ code: "precondition_failed", etag: ETAG } as const);
    const response = await world({ session: { setPins } }).call("PUT", path, { body: { pins: [] }, headers: { "If-Match": '"x"' } });

    expect([response.status, response.headers.get("etag")]).toEqual([412, ETAG]);
  });

  it.each([
    [{}, "pins"],
    [{ pins: "x" }, "pins"],
    [{ pins: [""] }, "pins.0"],
    [{ pins: ["ok", " \n"] }, "pins.1"],
    [{ pins: ["x".repeat(4_001)] }, "pins.0"],
    [{ pins: Array.from({ length: 33 }, () => "x") }, "pins"],
    [{ pins: [7] }, "pins.0"],
    [{ pins: [null] }, "pins.0"],
    [{ pins: [{}] }, "pins.0.text"],
    [{ pins: [{ text: " " }] }, "pins.0.text"],
    [{ pins: [{ text: "x".repeat(4_001) }] }, "pins.0.text"],
    [{ pins: [{ text: null, message_id: MESSAGE }] }, "pins.0.text"],
    [{ pins: [{ message_id: null, position: null }] }, "pins.0.text"],
    [{ pins: [{ message_id: "msg_1" }] }, "pins.0.message_id"],
    [{ pins: [{ position: 0 }] }, "pins.0.position"],
    [{ pins: [{ position: 1.5 }] }, "pins.0.position"],
    [{ pins: ["ok", { position: 1, postion: 2 }] }, "pins.1.postion"],
  ])("such as %j are refused by the field's name", async (body, field) => {
    const { seen, given } = noting();
    const response = await world(given).call("PUT", path, { body });

    expect(response.status).toBe(400);
    expect((await readProblem(response)).errors?.map((each) => each.field)).toEqual([field]);
    expect(seen).toEqual([]);
  });
});
